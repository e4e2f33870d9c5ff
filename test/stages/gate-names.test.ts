/**
 * Calls that name a gate by an alias, and calls without a gate's name, which reach the account's
 * catch-all.
 */
import { describe, expect, test } from 'bun:test'
import { NO_RULES } from '../../src/core/access-token.ts'
import type { GateId } from '../../src/core/ids.ts'
import { DIALECTS } from '../support/dialect-table.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { json } from '../support/scripted-upstream.ts'
import { CHAT_ANSWER, chatBody, GATE, runRow, runRows, TARGET } from '../support/stage-rows.ts'

const ALIAS = 'openai/gpt-4.1'
const UNLISTED = 'qwen3:8b'
const OTHER = 'openai/gpt-4o-mini'
const aliases = [
  { name: ALIAS, isListed: true },
  { name: UNLISTED, isListed: false },
]
const named = (more: object = {}) => ({
  gates: { [GATE]: { targets: [{ model: TARGET }], aliases, ...more } },
})
const caught = (more: object = {}) => ({
  gates: {
    other: [OTHER],
    [GATE]: { targets: [{ model: TARGET }], isCatchAll: true, ...more },
  },
})
const answered = (ignored: string | null, target = TARGET) => ({
  upstream: [CHAT_ANSWER],
  sent: [{}],
  seen: {
    status: 200,
    headers: { 'x-gatehouse-target': target, 'x-gatehouse-ignored': ignored },
  },
  settled: { gateId: GATE as GateId, target, sentGateId: undefined },
})
const notFound = {
  seen: { status: 404, json: { error: { code: 'model_not_found' } } },
  settled: { status: 404 },
}

describe('an alias finds its gate', () => {
  for (const { dialect, path, target, fields, answer } of DIALECTS)
    test(`in ${dialect}, and the log names the gate`, () =>
      runRow({
        gateway: { gates: { [GATE]: { targets: [{ model: target }], aliases } } },
        request: { path, body: { ...fields, model: ALIAS } },
        upstream: [json(200, answer)],
        sent: [{ json: { model: target.slice(target.indexOf('/') + 1) } }],
        seen: { status: 200, headers: { 'x-gatehouse-target': target } },
        settled: { gateId: GATE as GateId },
        check: ({ limits }) => expect(limits.tickets[0]?.call.gateId).toBe(GATE),
      }))

  runRows([
    {
      name: 'that is not listed',
      gateway: named(),
      request: { body: chatBody({ model: UNLISTED }) },
      ...answered(null),
    },
    {
      name: 'in `gate_id`, beside the id of the gate as the model',
      gateway: named({ overrides: 'reject' }),
      request: { body: chatBody({ gate_id: ALIAS, model: GATE }) },
      ...answered(null),
    },
    {
      name: 'as the model beside its own `gate_id`, which is no choice of a target',
      gateway: named({ overrides: 'allow' }),
      request: { body: chatBody({ gate_id: GATE, model: ALIAS }) },
      ...answered(null),
    },
    {
      name: 'only with the same letters',
      gateway: named(),
      request: { body: chatBody({ model: ALIAS.toUpperCase() }) },
      ...notFound,
    },
    {
      name: 'for a token of that gate',
      gateway: { ...named(), token: { ...NO_RULES, gates: [GATE as GateId] } },
      request: { body: chatBody({ model: ALIAS }) },
      ...answered(null),
    },
    {
      name: 'but not for a token of another gate',
      gateway: { ...named(), token: { ...NO_RULES, gates: ['other' as GateId] } },
      request: { body: chatBody({ model: ALIAS }) },
      ...notFound,
    },
    {
      name: 'and a misspelt name is answered with a listed one',
      gateway: named(),
      request: { body: chatBody({ model: 'openai/gpt-4.2' }) },
      seen: { status: 404, contains: [`Did you mean '${ALIAS}'?`] },
      settled: { status: 404 },
    },
  ])
})

describe('the catch-all answers an unknown name', () => {
  runRows([
    {
      name: 'and names the member that had it',
      gateway: caught(),
      request: { body: chatBody({ model: 'gpt-nobody-knows' }) },
      ...answered('model'),
    },
    {
      name: 'in `gate_id` too',
      gateway: caught(),
      request: { body: chatBody({ model: undefined, gate_id: 'nobody' }) },
      ...answered('gate_id'),
    },
    {
      name: 'which chooses no target, even where the gate allows that',
      gateway: caught({ overrides: 'allow' }),
      request: { body: chatBody({ model: OTHER }) },
      ...answered('model'),
    },
    {
      name: 'and is no contradiction, even where the gate refuses those',
      gateway: caught({ overrides: 'reject' }),
      request: { body: chatBody({ model: OTHER }) },
      ...answered('model'),
    },
    {
      name: 'while a known one has its own gate',
      gateway: caught(),
      request: { body: chatBody({ model: 'other' }) },
      ...answered(null, OTHER),
      settled: { gateId: 'other' as GateId, target: OTHER },
    },
    {
      name: 'not for a strict caller',
      gateway: caught(),
      request: {
        headers: { 'x-gatehouse-strict': 'true' },
        body: chatBody({ model: 'gpt-nobody-knows' }),
      },
      ...notFound,
    },
    {
      name: 'for a token of the catch-all',
      gateway: { ...caught(), token: { ...NO_RULES, gates: [GATE as GateId] } },
      request: { body: chatBody({ model: 'gpt-nobody-knows' }) },
      ...answered('model'),
    },
    {
      name: 'not for a token of another gate',
      gateway: { ...caught(), token: { ...NO_RULES, gates: ['other' as GateId] } },
      request: { body: chatBody({ model: 'gpt-nobody-knows' }) },
      ...notFound,
    },
    {
      name: 'and never replaces a gate that the token may not use',
      gateway: { ...caught(), token: { ...NO_RULES, gates: [GATE as GateId] } },
      request: { body: chatBody({ model: 'other' }) },
      ...notFound,
    },
  ])
})

describe('lists of models', () => {
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const { status, text } = await new InProcessGateway(named()).ask({
      path,
      method: 'GET',
      headers,
    })
    return { status, body: JSON.parse(text) }
  }

  test.each([
    ['/v1/models', {}],
    ['/v1/models', { 'anthropic-version': '2023-06-01' }],
    ['/alt/v1/models', {}],
  ])('%s has an entry for each listed alias', async (path, headers) => {
    const { body } = await ask(path, headers)
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([GATE, ALIAS])
  })

  test.each([ALIAS, encodeURIComponent(ALIAS), UNLISTED])('%s can be looked up', async (name) => {
    for (const list of ['/v1/models', '/alt/v1/models']) {
      const { status, body } = await ask(`${list}/${name}`)
      expect([status, body.id]).toEqual([200, decodeURIComponent(name)])
    }
  })

  test('a page may begin after an alias', async () => {
    const { body } = await ask(`/v1/models?after_id=${GATE}&limit=1`, {
      'anthropic-version': '2023-06-01',
    })
    expect(body).toMatchObject({ data: [{ id: ALIAS }], last_id: ALIAS, has_more: false })
  })
})
