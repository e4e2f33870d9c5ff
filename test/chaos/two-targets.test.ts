/** Two targets of which one fails in every way the sandbox knows, under load: no caller may see what the other could answer. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { controlPlaneCall, type LogRow } from '../support/control-plane.ts'
import { CHAT } from '../support/raw-scene.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

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
const CALLS_PER_FAULT = Math.ceil(10_000 / EARLY_FAULTS.length)
const AT_ONCE = 50

/** Between two dialects: an answer is translated as a whole, so that it may also fail at its very end. */
const TRANSLATED_FAULTS = [...EARLY_FAULTS, 'clean-cut', 'half-event', 'error-mid-stream', 'quota']
const CALLS_PER_TRANSLATED_FAULT = 2 * AT_ONCE
/** The provider that fails, and the one that answers. */
const DIRECTIONS = [
  ['sandbox-anthropic', 'sandbox'],
  ['sandbox', 'sandbox-anthropic'],
  ['sandbox-bedrock', 'sandbox-gemini'],
  ['sandbox-gemini', 'sandbox-cohere'],
  ['sandbox-cohere', 'sandbox-bedrock'],
] as const

interface Scene {
  readonly gate: string
  readonly first: string
  readonly second: string
  readonly calls: number
}

const SCENES: readonly Scene[] = [
  ...EARLY_FAULTS.map((fault) => ({
    gate: `first-${fault}`,
    first: `sandbox/${fault}`,
    second: 'sandbox/echo',
    calls: CALLS_PER_FAULT,
  })),
  ...DIRECTIONS.flatMap(([failing, answering]) =>
    TRANSLATED_FAULTS.map((fault) => ({
      gate: `${failing}-first-${fault}`,
      // Another name than above: a target that has just failed there would be passed over here.
      first: `${failing}/echo+${fault}`,
      second: `${answering}/echo`,
      calls: CALLS_PER_TRANSLATED_FAULT,
    })),
  ),
]

let gatehouse: Gatehouse
beforeAll(async () => {
  gatehouse = await startGatehouse({
    sandbox: true,
    environment: {
      GATEHOUSE_FIRST_BYTE_TIMEOUT_MS: '300',
      GATEHOUSE_IDLE_TIMEOUT_MS: '300',
      GATEHOUSE_CONNECT_TIMEOUT_MS: '300',
    },
  })
  for (const { gate, first, second } of SCENES) {
    const targets = [{ model: first }, { model: second }]
    const response = await controlPlaneCall(gatehouse, 'POST', '/v1/gates', { id: gate, targets })
    if (response.status !== 201) throw new Error(await response.text())
  }
})
afterAll(() => gatehouse.remove())

interface Seen {
  readonly status: number
  readonly requestId: string
  readonly text: string
}

async function call(gate: string, word: string): Promise<Seen> {
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

describe.each(SCENES)('$first first, then $second', ({ gate, calls }) => {
  test(`leaves no trace in ${calls} answers, ${AT_ONCE} at a time: each is whole, its own, and written down once`, async () => {
    const seen: Seen[] = []
    const wrong: string[] = []
    let next = 0
    const client = async () => {
      for (let number = next++; number < calls; number = next++) {
        const word = `${gate}-word-${number}`
        const answer = await call(gate, word)
        seen.push(answer)
        const content = answer.status === 200 ? JSON.parse(answer.text).choices[0].message.content : ''
        if (content !== `Sandbox echo: ${word}`) wrong.push(`${answer.status} ${answer.text.slice(0, 200)}`)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, client))
    expect(wrong.slice(0, 3)).toEqual([])
    expect(new Set(seen.map(({ requestId }) => requestId)).size).toBe(calls)
  })
})

test('the ledger holds every one of the calls once', async () => {
  const ids = new Set<string>()
  const total = SCENES.reduce((sum, { calls }) => sum + calls, 0)
  const deadline = Date.now() + 20_000
  let rows = 0
  while (rows < total && Date.now() < deadline) {
    await Bun.sleep(1_500)
    ids.clear()
    rows = 0
    let cursor: string | null = ''
    while (cursor !== null) {
      const page = await controlPlaneCall(
        gatehouse,
        'GET',
        `/v1/logs?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`,
      )
      const { data, nextCursor } = (await page.json()) as { data: LogRow[]; nextCursor: string | null }
      for (const row of data) ids.add(row.id)
      rows += data.length
      cursor = nextCursor
    }
  }
  expect([rows, ids.size]).toEqual([total, total])
})
