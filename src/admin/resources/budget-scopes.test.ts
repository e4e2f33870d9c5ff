/** Whom a budget limits, as `/v1/budgets` reads and shows it. */
import { beforeEach, describe, expect, test } from 'bun:test'
import { createUserId, DEFAULT_ACCOUNT } from '../../core/ids.ts'
import { strangerKey, useControlPlane } from '../control-plane.fixture.ts'

const plane = useControlPlane()
const { sendForJson, current } = plane
const ANN = createUserId()
const LIMIT = { limitTokens: 1000, period: 'day' }
const NO_MEMBER =
  'is not the id, name or e-mail address of a member of this account. List the members with GET /v1/members'
const NOBODY = { keyId: null, gateId: null, member: null, endUser: null, tag: null }

beforeEach(async () => {
  const user = { id: ANN, name: 'Ann', email: 'ann@example.test', passwordHash: 'x' }
  const joining = { type: 'first', accountId: DEFAULT_ACCOUNT } as const
  expect(await current().store.users.create(user, joining, 1)).toBeUndefined()
  await sendForJson({ method: 'POST', url: '/v1/tags', body: { name: 'team' } })
  await current().attribution.change(DEFAULT_ACCOUNT, { endUsers: true })
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

test.each(['a', 'a'.repeat(255)])('an end user with a name of allowed length', async (endUser) => {
  expect(await create({ endUser })).toMatchObject({ scope: 'user', endUser })
})

describe('a budget that would count no call', () => {
  const NOTHING = { endUsers: false, membersAndTags: false }
  test.each([
    [{ endUser: 'bob' }, 'endUser', 'end users', 'endUsers', { endUsers: true }],
    [{ tag: 'team' }, 'tag', 'members and tags', 'membersAndTags', { membersAndTags: true }],
    [{ member: ANN }, 'member', 'members and tags', 'membersAndTags', { membersAndTags: true }],
    [
      ...[{ scope: 'each-user' }, 'scope', 'members and tags and end users'],
      ...['membersAndTags` or `endUsers', { endUsers: true }],
    ],
  ] as const)('of %j is refused with the switch', async (given, field, who, name, on) => {
    await current().attribution.change(DEFAULT_ACCOUNT, NOTHING)
    expect(await create(given)).toMatchObject({
      error: 'invalid_request',
      message:
        `${field}: would count no call, because the account does not record ${who}. First switch ` +
        `on \`${name}\` under Settings → Account, or with PATCH /v1/account/attribution`,
    })
    await current().attribution.change(DEFAULT_ACCOUNT, on)
    expect(await create(given)).toMatchObject({ id: expect.stringContaining('bud_') })
  })

  test('is still changed and shown if the switch is turned off later', async () => {
    const { id } = await create({ endUser: 'bob' })
    await current().attribution.change(DEFAULT_ACCOUNT, NOTHING)
    const url = `/v1/budgets/${id}`
    const body = { limitTokens: 7 }
    expect(await sendForJson({ method: 'PATCH', url, body })).toMatchObject({ limitTokens: 7 })
    expect(await sendForJson({ url })).toMatchObject({ endUser: 'bob' })
  })

  test.each([{ scope: 'account' }, { scope: 'each-key' }, { gateId: 'demo' }])(
    'is none of %j',
    async (given) => {
      await current().attribution.change(DEFAULT_ACCOUNT, NOTHING)
      expect(await create(given)).toMatchObject({ id: expect.stringContaining('bud_') })
    },
  )
})

describe('is refused', () => {
  test.each([
    [
      {},
      'scope: is missing. Give account, each-user or each-key, or give one of keyId, gateId, member, endUser, tag',
    ],
    [
      { scope: 'account', gateId: 'demo' },
      'gateId: does not fit the scope account: remove it, or remove the scope',
    ],
    [
      { scope: 'each-user', member: ANN },
      'member: does not fit the scope each-user: remove it, or remove the scope',
    ],
    [
      { scope: 'user', gateId: 'demo' },
      'gateId: does not fit the scope user: give member or endUser instead, or remove the scope',
    ],
    [{ scope: 'tag' }, 'tag: is missing. The scope tag needs tag'],
    [{ scope: 'user' }, 'member: is missing. The scope user needs member or endUser'],
    [
      { member: ANN, endUser: 'bob' },
      'endUser: cannot be given together with member: a budget has one scope. Remove one',
    ],
    [
      { scope: 'account', limitTokens: undefined },
      'limitUsd: is missing. Give either limitUsd or limitTokens',
    ],
    [
      { scope: 'account', limitUsd: 1 },
      'limitUsd: cannot be given together with limitTokens: a budget has one limit. Remove one',
    ],
    [{ scope: 'team', tag: 'team' }, 'scope: must be "account" or "key"'],
    [{ keyId: 'key_none' }, 'keyId: is not the id of a key of this account. List the keys with'],
    [{ member: createUserId() }, `member: ${NO_MEMBER}`],
    [{ member: 'nobody@example.test' }, `member: ${NO_MEMBER}`],
    [
      { tag: 'taem' },
      "tag: there is no tag 'taem' in this account. Did you mean 'team'? List the tags with",
    ],
    [{ tag: 'team:' }, "tag: the value after ':' must have 1 to 64 characters"],
    [{ endUser: '' }, 'endUser: must have at least 1 character'],
    ...['a\nb', 'a\u0085b', 'a\ud800', `end:${'0'.repeat(16)}`, '(erased)'].map(
      (endUser) => [{ endUser }, 'endUser: must not hold control characters'] as const,
    ),
    [{ endUser: 'a'.repeat(256) }, 'endUser: must have at most 255 characters'],
  ])('%j', async (given, message) => {
    expect(await create(given)).toMatchObject({ message: expect.stringContaining(message) })
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
    expect(JSON.stringify(refused)).toContain(`member: ${NO_MEMBER}`)
  })
})
