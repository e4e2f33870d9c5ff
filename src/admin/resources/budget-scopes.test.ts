/** Whom a budget limits, as `/v1/budgets` reads and shows it. */
import { beforeEach, describe, expect, test } from 'bun:test'
import { createUserId, DEFAULT_ACCOUNT } from '../../core/ids.ts'
import { strangerKey, useControlPlane } from '../control-plane.fixture.ts'

const plane = useControlPlane()
const { sendForJson, current } = plane
const ANN = createUserId()
const LIMIT = { limitTokens: 1000, period: 'day' }
const NOBODY = { keyId: null, gateId: null, member: null, endUser: null, tag: null }

beforeEach(async () => {
  const user = { id: ANN, name: 'Ann', email: 'ann@example.test', passwordHash: 'x' }
  const joining = { type: 'first', accountId: DEFAULT_ACCOUNT } as const
  expect(await current().store.users.create(user, joining, 1)).toBeUndefined()
  await sendForJson({ method: 'POST', url: '/v1/tags', body: { name: 'team' } })
})

const create = (body: object) =>
  sendForJson({ method: 'POST', url: '/v1/budgets', body: { ...LIMIT, ...body } })

test.each([
  [{ scope: 'account' }, { scope: 'account', name: 'account' }],
  [{ gateId: 'demo' }, { scope: 'gate', gateId: 'demo', name: 'demo' }],
  [
    { scope: 'gate', gateId: 'demo' },
    { scope: 'gate', gateId: 'demo', name: 'demo' },
  ],
  [{ member: ANN }, { scope: 'user', member: ANN, name: 'Ann' }],
  [{ member: 'ANN@example.test' }, { scope: 'user', member: ANN, name: 'Ann' }],
  [
    { scope: 'user', endUser: 'bob' },
    { scope: 'user', endUser: 'bob', name: 'bob' },
  ],
  [{ scope: 'each-user' }, { scope: 'each-user', used: null, reserved: null, isExhausted: false }],
  [{ scope: 'each-key' }, { scope: 'each-key', used: null, name: 'each-key' }],
  [{ tag: 'team:a' }, { scope: 'tag', tag: 'team:a', name: 'team:a' }],
])('%j is created, stored and shown', async (given, shown) => {
  const { id, ...made } = await create(given)
  expect(made).toMatchObject({ ...NOBODY, ...shown })
  expect(await sendForJson({ url: `/v1/budgets/${id}` })).toMatchObject({ ...NOBODY, ...shown })
  const [stored] = await current().store.budgets.loadAll()
  expect(stored?.id).toBe(String(id))
})

test('an end user and a tag are stored with the hashes that the ledger has', async () => {
  await create({ endUser: 'bob' })
  await create({ tag: 'team' })
  const scopes = (await current().store.budgets.loadAll()).map(({ scope }) => scope)
  const { attribution } = current()
  expect(scopes).toContainEqual({
    ...{ type: 'user', endUser: 'bob' },
    userId: `end:${attribution.hash(DEFAULT_ACCOUNT, 'user', 'bob')}`,
  })
  expect(scopes).toContainEqual({
    ...{ type: 'tag', tag: 'team' },
    tagId: String(attribution.hash(DEFAULT_ACCOUNT, 'tag', 'team')),
  })
})

describe('is refused', () => {
  test.each([
    [{ scope: 'account', gateId: 'demo' }, 'the scope account needs no other member'],
    [{ scope: 'user', gateId: 'demo' }, 'the scope user needs member or endUser'],
    [{ scope: 'each-user', member: ANN }, 'the scope each-user needs no other member'],
    [{ scope: 'tag' }, 'the scope tag needs tag'],
    [{ member: ANN, endUser: 'bob' }, 'give one of keyId, gateId, member, endUser, tag'],
    [{ scope: 'team', tag: 'team' }, 'scope: '],
    [{ member: createUserId() }, 'member: is no member'],
    [{ member: 'nobody@example.test' }, 'member: is no member'],
    [{ tag: 'other' }, "there is no tag 'other'"],
    [{ tag: 'team:' }, 'the value after'],
    [{ endUser: '' }, 'endUser: '],
  ])('%j', async (given, message) => {
    expect(JSON.stringify(await create(given))).toContain(message)
  })

  test('a change of the scope', async () => {
    const { id } = await create({ tag: 'team' })
    const changed = { method: 'PATCH', url: `/v1/budgets/${id}`, body: { tag: 'team:a' } }
    expect(JSON.stringify(await sendForJson(changed))).toContain('tag: cannot be changed')
  })

  test('a member of another account', async () => {
    const body = { ...LIMIT, member: ANN }
    const headers = { authorization: `Bearer ${strangerKey}` }
    const refused = await sendForJson({ method: 'POST', url: '/v1/budgets', headers, body })
    expect(JSON.stringify(refused)).toContain('member: is no member')
  })
})
