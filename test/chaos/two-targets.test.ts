/**
 * Two targets of which one fails in every way the sandbox knows, under load: no caller may see what
 * the other could answer.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { IS_LONG } from '../support/chaos-form.ts'
import { controlPlaneCall, listLogRows } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { CHAT } from '../support/raw-scene.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

setDefaultTimeout(180_000)

/** Before the first byte is forwarded, so that the other target can still answer. */
const EARLY_FAULTS = [
  '408',
  '409',
  '429',
  '429-1',
  '500',
  '502',
  '503',
  '529',
  'overloaded',
  'slow-400',
  'hang',
  'html',
  'empty',
  'redirect',
  'wrong-type',
  'bad-json',
  'cut-mid-stream',
  'hang-mid-stream',
]
const AT_ONCE = 50
const CALLS_PER_FAULT = IS_LONG ? Math.ceil(10_000 / EARLY_FAULTS.length) : AT_ONCE

/**
 * Between two dialects: an answer is translated as a whole, so that it may also fail at its very
 * end.
 */
const TRANSLATED_FAULTS = [...EARLY_FAULTS, 'clean-cut', 'half-event', 'error-mid-stream', 'quota']
const CALLS_PER_TRANSLATED_FAULT = IS_LONG ? 2 * AT_ONCE : AT_ONCE / 2
/** The provider that fails, and the one that answers. */
const DIRECTIONS = [
  ['sandbox-anthropic', 'sandbox'],
  ['sandbox', 'sandbox-anthropic'],
  ['sandbox-bedrock', 'sandbox-gemini'],
  ['sandbox-gemini', 'sandbox-cohere'],
  ['sandbox-cohere', 'sandbox-bedrock'],
] as const

/**
 * Faults that end with the gateway's own patience; all others may take the time that a busy machine
 * makes them take.
 */
const ENDLESS = ['hang', 'hang-mid-stream']
const CALLS_PER_ENDLESS_FAULT = 8

interface Scene {
  readonly gate: string
  readonly isEndless: boolean
  readonly first: string
  readonly second: string
  readonly calls: number
}

const ALL_SCENES: readonly Scene[] = [
  ...EARLY_FAULTS.map((fault) => ({
    gate: `first-${fault}`,
    isEndless: ENDLESS.includes(fault),
    first: `sandbox/${fault}`,
    second: 'sandbox/echo',
    calls: CALLS_PER_FAULT,
  })),
  ...DIRECTIONS.flatMap(([failing, answering]) =>
    TRANSLATED_FAULTS.map((fault) => ({
      gate: `${failing}-first-${fault}`,
      isEndless: ENDLESS.includes(fault),
      // Another name than above: a target that has just failed there would be passed over here.
      first: `${failing}/echo+${fault}`,
      second: `${answering}/echo`,
      calls: CALLS_PER_TRANSLATED_FAULT,
    })),
  ),
]
const SCENES = ALL_SCENES.map((scene) =>
  scene.isEndless && !IS_LONG ? { ...scene, calls: CALLS_PER_ENDLESS_FAULT } : scene,
)
/** Waiting is all that these do: the short form does it for all of them at once. */
const isTriedBesideOthers = ({ isEndless }: Scene) => isEndless && !IS_LONG

let patient: Gatehouse
let impatient: Gatehouse
beforeAll(async () => {
  patient = await startGatehouse({ sandbox: true })
  impatient = await startGatehouse({
    sandbox: true,
    // The longest time of the other target, with as many calls beside it, on a busy machine.
    environment: {
      GATEHOUSE_CONNECT_TIMEOUT_MS: '3000',
      GATEHOUSE_FIRST_BYTE_TIMEOUT_MS: '3000',
      GATEHOUSE_IDLE_TIMEOUT_MS: '3000',
    },
  })
  for (const scene of SCENES) {
    const targets = [{ model: scene.first }, { model: scene.second }]
    const response = await controlPlaneCall(serverOf(scene), 'POST', '/v1/gates', {
      id: scene.gate,
      targets,
    })
    if (response.status !== 201) throw new Error(await response.text())
  }
})
afterAll(async () => {
  await patient?.remove()
  await impatient?.remove()
})

const serverOf = ({ isEndless }: Scene) => (isEndless ? impatient : patient)

interface Seen {
  readonly status: number
  readonly requestId: string
  readonly text: string
}

async function call(gatehouse: Gatehouse, gate: string, word: string): Promise<Seen> {
  const response = await fetch(gatehouse.url + CHAT, {
    method: 'POST',
    headers: { authorization: `Bearer ${gatehouse.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: gate, messages: [{ role: 'user', content: word }] }),
  })
  return {
    status: response.status,
    requestId: response.headers.get('x-request-id') ?? '',
    text: await response.text(),
  }
}

async function expectNoTrace(scene: Scene): Promise<void> {
  const { gate, calls } = scene
  const seen: Seen[] = []
  const wrong: string[] = []
  let next = 0
  const client = async () => {
    for (let number = next++; number < calls; number = next++) {
      const word = `${gate}-word-${number}`
      const answer = await call(serverOf(scene), gate, word)
      seen.push(answer)
      const content =
        answer.status === 200 ? JSON.parse(answer.text).choices[0].message.content : ''
      if (content !== `Sandbox echo: ${word}`)
        wrong.push(`${answer.status} ${answer.text.slice(0, 200)}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, client))
  expect({ gate, wrong: wrong.slice(0, 3) }).toEqual({ gate, wrong: [] })
  expect(new Set(seen.map(({ requestId }) => requestId)).size).toBe(calls)
}

describe.each(SCENES.filter((scene) => !isTriedBesideOthers(scene)))(
  '$first first, then $second',
  (scene) => {
    test(`leaves no trace in ${scene.calls} answers, ${AT_ONCE} at a time: each is whole, unmixed and recorded once`, async () => {
      await expectNoTrace(scene)
    })
  },
)

const besideOthers = SCENES.filter(isTriedBesideOthers)
if (besideOthers.length > 0)
  test('leaves no trace if the first target never ends, over any dialect', async () => {
    await Promise.all(besideOthers.map(expectNoTrace))
  })

test('the ledger holds every one of the calls once', async () => {
  for (const server of [patient, impatient]) {
    const total = SCENES.filter((scene) => serverOf(scene) === server).reduce(
      (sum, { calls }) => sum + calls,
      0,
    )
    const rows = await pollUntil(
      'every row',
      async () => {
        const found = await listLogRows(server)
        return found.length >= total ? found : undefined
      },
      { timeoutMs: 60_000, intervalMs: 200 },
    )
    expect([rows.length, new Set(rows.map(({ id }) => id)).size]).toEqual([total, total])
  }
})
