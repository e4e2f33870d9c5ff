/** Names that would not be read as they are: whoever reads a list must not take one for another. */
import { describe, expect, test } from 'bun:test'
import { target, useControlPlane } from '../control-plane.fixture.ts'

const { send } = useControlPlane()
const targets = [target]
const prices = { pricingInput: 0, pricingOutput: 0, pricingCachedInput: 0 }
const server = { dialect: 'openai-chat', baseUrl: 'https://a.test/v1', credential: 'c' }
const model = { slug: 'm', upstreamModelId: 'x', ...server, ...prices }

describe.each([
  ['a key', 'POST /v1/keys', 'name', {}],
  ['a gate', 'POST /v1/gates', 'displayName', { targets }],
  ['a budget', 'POST /v1/budgets', 'name', { gateId: 'demo', limitTokens: 9, period: 'day' }],
  ['an owned model', 'POST /v1/owned-models', 'displayName', model],
] as const)('the name of %s', (_what, route, member, body) => {
  const [method = '', url = ''] = route.split(' ')
  const create = (name: string) => send({ method, url, body: { ...body, [member]: name } })

  test.each([
    ['turns the line around', 'invoice\u202egnp'],
    ['isolates a part', 'a\u2066b\u2069'],
    ['ends the line', 'a\u2028b'],
    ['goes on in another line', 'a\nb'],
    ['writes over its own line', 'a\rb'],
    ['goes on in another column', 'a\tb'],
    ['holds a control character of Latin-1', 'a\u009bb'],
  ])('that %s is refused, and the field is named', async (_how, name) => {
    const refused = await create(name)
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain(`${member}: must not hold characters that change`)
  })

  test.each([
    ['spaces', ' \u00a0\u3000'],
    ['joiners and spaces of no width', '\u200b\u200d\u2060\ufeff'],
    ['fillers', '\u3164\u115f\u00ad'],
  ])('of nothing but %s is refused', async (_what, name) => {
    const refused = await create(name)
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain(`${member}: must hold a character that can be seen`)
  })

  test('of right-to-left letters, with their marks and joined signs, is taken', async () => {
    expect((await create('שלום\u200f سلام می\u200cخواهم 👩\u200d💻')).status).toBe(201)
  })
})
