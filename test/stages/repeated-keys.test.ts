/**
 * A provider that repeats the received key in a failure: no caller may see the key, which may be
 * the platform's.
 */
import { describe, expect, test } from 'bun:test'
import { Secret } from '../../src/core/secret.ts'
import { CHAT_STREAM, MESSAGES_STREAM, RESPONSES_STREAM } from '../support/dialect-samples.ts'
import { InProcessGateway, plantedCredentialOf } from '../support/in-process-gateway.ts'
import { json, type Script, stream } from '../support/scripted-upstream.ts'
import { CHAT, chatBody, GATE } from '../support/stage-rows.ts'

interface Door {
  readonly name: string
  readonly path: string
  readonly body: object
  readonly target: string
  readonly begun: string
  readonly event: (message: string) => string
  readonly answer: (message: string) => object
}

const V3 = { gate_id: GATE, messages: [{ role: 'user', content: 'hi' }] }
const data = (json: object, event?: string) =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(json)}\n\n`
const OPENAI = {
  target: 'openai/m',
  begun: CHAT_STREAM.slice(0, 2).join(''),
  event: (message: string) => data({ error: { message } }),
  answer: (message: string) => ({ choices: [{}], error: { message } }),
}
const ANTHROPIC = {
  target: 'anthropic/m',
  begun: MESSAGES_STREAM.slice(0, 3).join(''),
  event: (message: string) => data({ type: 'error', error: { type: 'x', message } }, 'error'),
  answer: (message: string) => ({ type: 'error', error: { type: 'x', message } }),
}
const DOORS: readonly Door[] = [
  { name: 'Chat', path: CHAT, body: chatBody(), ...OPENAI },
  {
    name: 'v3',
    path: '/v3/chat',
    body: V3,
    ...OPENAI,
    answer: (message) => ({ error: { message } }),
  },
  { name: 'Chat of Anthropic', path: CHAT, body: chatBody(), ...ANTHROPIC },
  { name: 'Messages', path: '/v1/messages', body: chatBody({ max_tokens: 5 }), ...ANTHROPIC },
  {
    name: 'Responses',
    path: '/v1/responses',
    body: { model: GATE, input: 'hi' },
    target: 'openai/m',
    begun: RESPONSES_STREAM[0] ?? '',
    event: (message) => data({ type: 'error', message }, 'error'),
    answer: (message) => ({ object: 'response', status: 'failed', error: { message }, output: [] }),
  },
  {
    name: 'Responses that fail',
    path: '/v1/responses',
    body: { model: GATE, input: 'hi' },
    target: 'openai/m',
    begun: RESPONSES_STREAM[0] ?? '',
    event: (message) =>
      data(
        { type: 'response.failed', response: { status: 'failed', error: { message } } },
        'response.failed',
      ),
    answer: (message) => ({ object: 'response', status: 'failed', error: { message }, output: [] }),
  },
]

describe.each(DOORS.map((door) => [door.name, door] as const))('%s', (_, door) => {
  const key = plantedCredentialOf(door.target.slice(0, door.target.indexOf('/')))
  const message = `Incorrect key ${key}, no ${key}`
  const ask = async (upstream: Script, members: object = {}) => {
    const gateway = new InProcessGateway({ gates: { [GATE]: [door.target] }, upstream: [upstream] })
    const seen = await gateway.ask({ path: door.path, body: { ...door.body, ...members } })
    expect(seen.text).not.toContain(key)
    await gateway.assertNothingIsLeft()
    return seen
  }

  test.each([
    ['in the first event of a stream', [door.event(message)]],
    ['in the middle of a stream', [door.begun, door.event(message)]],
    ['in one piece with what went before', [door.begun + door.event(message)]],
    ['twice in a stream', [door.begun, door.event(message), door.event(message)]],
  ])('is not told a key that its provider repeats %s', async (_name, pieces) => {
    const seen = await ask(stream(pieces), { stream: true })
    expect(seen.text).toContain('Incorrect key [secret], no [secret]')
  })

  test('is not told a key that its provider repeats with a 200', async () => {
    const seen = await ask(json(200, door.answer(message)))
    expect(seen.text).toContain('[secret]')
  })
})

describe('a credential that is no secret leaves the words of a provider as they are', () => {
  const said = 'The maximum of any test is none: see test_empty and dummy, not the secretary.'
  const credentialOf = (text: string) => ({
    openai: { secret: new Secret(text), owner: 'platform' as const },
  })

  test.each(['any', 'test', 'none', 'EMPTY', 'dummy', 'a', 'secret'])('%s', async (credential) => {
    const ask = async (upstream: Script, members: object = {}) => {
      const gateway = new InProcessGateway({
        gates: { [GATE]: ['openai/m'] },
        credentials: credentialOf(credential),
        upstream: [upstream],
      })
      const seen = await gateway.ask({ path: CHAT, body: chatBody(members) })
      await gateway.assertNothingIsLeft()
      return seen.text
    }
    expect(await ask(json(400, { error: { message: said } }))).toContain(said)
    expect(await ask(json(200, OPENAI.answer(said)))).toContain(said)
    const streamed = [OPENAI.begun, OPENAI.event(said)]
    expect(await ask(stream(streamed), { stream: true })).toContain(said)
  })

  test('and one of 6 to 11 characters goes as a whole word alone', async () => {
    const gateway = new InProcessGateway({
      gates: { [GATE]: ['openai/m'] },
      credentials: credentialOf('hunter'),
      upstream: [json(400, { error: { message: 'hunter is no key of a hunters-club' } })],
    })
    const seen = await gateway.ask({ path: CHAT, body: chatBody() })
    expect(seen.text).toContain('[secret] is no key of a hunters-club')
    await gateway.assertNothingIsLeft()
  })
})
