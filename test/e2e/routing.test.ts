/** Routing seen from outside: shares, breakers, hedges, and targets whose credential is refused. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { waitForLogRow } from '../support/control-plane.ts'
import { CHAT, openRawScene } from '../support/raw-scene.ts'
import type { Script } from '../support/raw-upstream.ts'
import { jsonAnswer, silence } from '../support/scripted-answers.ts'

const ANSWER = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [],
  usage: { prompt_tokens: 1, completion_tokens: 2 },
}

/** The first time that a target is left alone for. */
const REST_MS = 5_000

let scene: Awaited<ReturnType<typeof openRawScene>>
beforeAll(async () => {
  scene = await openRawScene({ gates: {} })
})
afterEach(() => scene.upstream.reset())
afterAll(() => scene.close())

async function createRoutedGate(id: string, settings: object): Promise<void> {
  const response = await fetch(`${scene.gatehouse.url}/v1/gates`, {
    method: 'POST',
    headers: { authorization: `Bearer ${scene.gatehouse.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ id, ...settings }),
  })
  if (response.status !== 201) throw new Error(await response.text())
}

const call = (gate: string) => scene.post(CHAT, `{"model":"${gate}","messages":[]}`)
const modelOf = (text: string) => String((JSON.parse(text) as { model: unknown }).model)

/** The upstream's behaviour depends on the requested model. */
function byModel(scripts: Readonly<Record<string, Script>>): Script {
  return (exchange) =>
    (scripts[modelOf(exchange.request.text)] ?? jsonAnswer(200, ANSWER))(exchange)
}

test('calls are spread over the targets exactly by their weights', async () => {
  await createRoutedGate('shares', {
    strategy: 'weighted',
    targets: [
      { model: 'openai/heavy', weight: 3 },
      { model: 'openai/light', weight: 1 },
      { model: 'openai/reserve', weight: 0 },
    ],
  })
  scene.upstream.answer(jsonAnswer(200, ANSWER))
  await Promise.all(Array.from({ length: 40 }, () => call('shares')))
  const asked = scene.upstream.requests.map((request) => modelOf(request.text))
  expect(asked.filter((model) => model === 'heavy')).toHaveLength(30)
  expect(asked.filter((model) => model === 'light')).toHaveLength(10)
})

test('a target that fails five times in a row rests, and the other one answers every caller', async () => {
  // A target rests for five seconds. A busy machine may not have asked seven times by then: it
  // tries with another one.
  for (let tried = 0; tried < 10; tried += 1) {
    scene.upstream.reset()
    const sick = `sick-${tried}`
    await createRoutedGate(sick, {
      targets: [{ model: `openai/${sick}` }, { model: 'openai/sound' }],
    })
    scene.upstream.answer(byModel({ [sick]: jsonAnswer(500, { error: { message: 'boom' } }) }))
    let lastFailureMs = 0
    for (let index = 0; index < 5; index += 1) {
      lastFailureMs = performance.now()
      expect((await call(sick)).status).toBe(200)
    }
    for (let index = 0; index < 7; index += 1) expect((await call(sick)).status).toBe(200)
    if (performance.now() - lastFailureMs > REST_MS) continue
    const asked = scene.upstream.requests.map((request) => modelOf(request.text))
    expect(asked.filter((model) => model === sick)).toHaveLength(5)
    expect(asked.filter((model) => model === 'sound')).toHaveLength(12)
    return
  }
  throw new Error('this machine never asked twelve times within the time that a target rests')
})

test('a refused credential moves on to the next target; without one it is shown as such', async () => {
  await createRoutedGate('refused-first', {
    targets: [{ model: 'openai/locked' }, { model: 'openai/open' }],
  })
  scene.upstream.answer(byModel({ locked: jsonAnswer(401, { error: { message: 'bad key' } }) }))
  const answer = await call('refused-first')
  expect(answer.status).toBe(200)
  expect(answer.headers).toMatchObject({
    'x-gatehouse-target': 'openai/open',
    'x-gatehouse-attempts': '2',
  })
})

test('the next target answers for a late first one, which is cancelled, and one call is recorded', async () => {
  await createRoutedGate('hedged', {
    hedgeAfterMs: 50,
    targets: [{ model: 'openai/late' }, { model: 'openai/prompt' }],
  })
  let lateClosedAt: Promise<number> | undefined
  scene.upstream.answer(
    byModel({
      late: (exchange) => {
        lateClosedAt = exchange.whenClosed
        return silence(exchange)
      },
    }),
  )
  const answer = await call('hedged')
  expect(answer.status).toBe(200)
  expect(answer.headers).toMatchObject({
    'x-gatehouse-target': 'openai/prompt',
    'x-gatehouse-attempts': '2',
  })
  await lateClosedAt
  expect(await waitForLogRow(scene.gatehouse, answer.headers['x-request-id'])).toMatchObject({
    target: 'openai/prompt',
    attempts: 2,
    outcome: 'succeeded',
    // The late one had the request too, whose 32 bytes are estimated as 8 tokens.
    usage: { inputTokens: 1 + 8, outputTokens: 2 },
  })
})

test('a first target that answers in time is not hedged', async () => {
  await createRoutedGate('in-time', {
    hedgeAfterMs: 5_000,
    targets: [{ model: 'openai/first' }, { model: 'openai/second' }],
  })
  scene.upstream.answer(jsonAnswer(200, ANSWER))
  expect((await call('in-time')).headers).toMatchObject({
    'x-gatehouse-target': 'openai/first',
    'x-gatehouse-attempts': '1',
  })
})

test('the third target is tried when both the late one and its hedge fail', async () => {
  await createRoutedGate('three', {
    hedgeAfterMs: 30,
    targets: [
      { model: 'openai/late-500' },
      { model: 'openai/quick-503' },
      { model: 'openai/third' },
    ],
  })
  scene.upstream.answer(
    byModel({
      'late-500': async (exchange) => {
        await Bun.sleep(120)
        await jsonAnswer(500, { error: { message: 'late boom' } })(exchange)
      },
      'quick-503': jsonAnswer(503, { error: { message: 'boom' } }),
    }),
  )
  const answer = await call('three')
  expect(answer.headers).toMatchObject({
    'x-gatehouse-target': 'openai/third',
    'x-gatehouse-attempts': '3',
  })
})

test('a client that leaves while a hedge is running cancels both', async () => {
  await createRoutedGate('left', {
    hedgeAfterMs: 20,
    targets: [{ model: 'openai/silent-1' }, { model: 'openai/silent-2' }],
  })
  const closed: Promise<number>[] = []
  scene.upstream.answer((exchange) => {
    closed.push(exchange.whenClosed)
  })
  const leaving = new AbortController()
  const asked = fetch(`${scene.gatehouse.url}${CHAT}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${scene.gatehouse.key}`, 'content-type': 'application/json' },
    body: '{"model":"left","messages":[]}',
    signal: leaving.signal,
  }).catch(() => undefined)
  while (closed.length < 2) await Bun.sleep(5)
  leaving.abort()
  await Promise.all([asked, ...closed])
})
