/** Calls with an access token: which gates, addresses, targets and headers it may use. */
import { describe, expect, test } from 'bun:test'
import { NO_RULES, type TokenRules } from '../../src/core/access-token.ts'
import type { GateId } from '../../src/core/ids.ts'
import { type ClientRequest, InProcessGateway } from '../support/in-process-gateway.ts'
import { CHAT_ANSWER, chatBody, GATE, runRow, runRows, TARGET } from '../support/stage-rows.ts'

const OTHER = 'openai/gpt-4o-mini'

function token(rules: Partial<TokenRules> = {}): TokenRules {
  return { ...NO_RULES, ...rules }
}

const onlyOther = token({ gates: ['another' as GateId] })
const isOk = { seen: { status: 200 }, settled: {}, upstream: [CHAT_ANSWER], sent: [{}] }

describe('gates', () => {
  runRows([
    { name: 'all of the account, without a list', gateway: { token: token() }, ...isOk },
    {
      name: 'one of the list',
      gateway: { token: token({ gates: [GATE as GateId] }) },
      ...isOk,
    },
    {
      name: 'another one is not there',
      gateway: { token: onlyOther },
      seen: { status: 404, json: { error: { code: 'model_not_found' } } },
      settled: { gateId: '(unknown)' as GateId, status: 404 },
    },
    {
      name: 'a list whose gates were deleted reaches none, and says so',
      gateway: { token: token({ gates: ['deleted' as GateId] }) },
      seen: { status: 404, contains: ['because all of its gates were deleted'] },
      settled: { status: 404 },
    },
  ])

  test('others are not listed, in any form', async () => {
    const gateway = new InProcessGateway({
      gates: { [GATE]: [TARGET], another: [TARGET] },
      token: onlyOther,
    })
    for (const [path, headers] of [
      ['/v1/models', {}],
      ['/v1/models', { 'anthropic-version': '2023-06-01' }],
      ['/alt/v1/models', {}],
    ] as const) {
      const { text } = await gateway.ask({ path, method: 'GET', headers })
      expect(text).toContain('another')
      expect(text).not.toContain(GATE)
    }
    const { status, text } = await gateway.ask({ path: `/v1/models/${GATE}`, method: 'GET' })
    expect([status, text.includes('another')]).toEqual([404, false])
  })

  test('a list whose gates were deleted lists none', async () => {
    const gateway = new InProcessGateway({
      gates: { [GATE]: [TARGET] },
      token: token({ gates: ['deleted' as GateId] }),
    })
    const ask = (path: string) => gateway.ask({ path, method: 'GET' })
    expect(JSON.parse((await ask('/v1/models')).text)).toMatchObject({ data: [] })
    expect(await ask(`/v1/models/${GATE}`)).toMatchObject({
      status: 404,
      text: expect.stringContaining('because all of its gates were deleted'),
    })
  })
})

describe('addresses', () => {
  const inside = { token: token({ ipRanges: ['10.0.0.0/8', 'fd00::/8'] }) }
  const refused = { seen: { status: 403, contains: ['from your address'] }, settled: null }
  runRows([
    { name: 'inside a range', gateway: { ...inside, clientAddress: '10.1.2.3' }, ...isOk },
    { name: 'inside another range', gateway: { ...inside, clientAddress: 'fd00::1' }, ...isOk },
    { name: 'outside', gateway: { ...inside, clientAddress: '192.0.2.1' }, ...refused },
    { name: 'unknown', gateway: inside, ...refused },
  ])
})

describe('another target than the gate’s', () => {
  const asking = { body: { ...chatBody(), gate_id: GATE, model: OTHER } }
  const gates = { [GATE]: { targets: [{ model: TARGET }], overrides: 'allow' as const } }
  runRows([
    {
      name: 'is ignored though the gate allows it',
      gateway: { gates, token: token() },
      request: asking,
      upstream: [CHAT_ANSWER],
      sent: [{ json: { model: 'gpt-4o' } }],
      seen: { status: 200, headers: { 'x-gatehouse-ignored': 'model' } },
      settled: { target: TARGET },
    },
    {
      name: 'is asked where the token says so',
      gateway: { gates, token: token({ overrides: true }) },
      request: asking,
      upstream: [CHAT_ANSWER],
      sent: [{ json: { model: 'gpt-4o-mini' } }],
      seen: { status: 200 },
      settled: { target: OTHER },
    },
  ])
})

describe("the provider's account is the company's, not the caller's", () => {
  const withFile: Partial<ClientRequest> = {
    body: chatBody({
      messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-abc' } }] }],
    }),
  }
  const own = { credentials: { openai: 'account' as const }, token: token({ overrides: true }) }
  const payers = { 'anthropic-user-profile-id': 'uprof_1' }
  const passing = { request: Object.keys(payers), answer: [] }
  const messages = {
    request: { path: '/v1/messages', headers: payers, body: chatBody({ max_tokens: 9 }) },
    gates: { [GATE]: ['anthropic/claude-opus-5'] },
  }

  test('its ids are refused, also with the account’s own key there', () =>
    runRow({
      gateway: own,
      request: withFile,
      seen: { status: 400, contains: ['file_id', 'access token'] },
      settled: { status: 400 },
    }))

  test.each([
    ['never pass with a token', { token: token({ overrides: true }) }, null],
    ['pass with a key, where the operator lists them', {}, 'uprof_1'],
  ])('headers that choose who pays %s', async (_, gateway, profile) => {
    const inProcess = new InProcessGateway({
      gates: messages.gates,
      addedHeaders: passing,
      upstream: [CHAT_ANSWER],
      ...gateway,
    })
    await inProcess.ask(messages.request)
    expect(inProcess.upstream.sent[0]?.headers['anthropic-user-profile-id'] ?? null).toBe(profile)
  })
})
