/** Users and tags that an account fixes for its keys and tokens, and its switches of attribution. */
import { beforeEach, describe, expect, test } from 'bun:test'
import { createUserId, DEFAULT_ACCOUNT } from '../../core/ids.ts'
import { strangerKey, useControlPlane } from '../control-plane.fixture.ts'

const plane = useControlPlane()
const { send, sendForJson, current } = plane
const ANN = createUserId()

beforeEach(async () => {
  const user = { id: ANN, name: 'Ann', email: 'ann@example.test', passwordHash: 'x' }
  const joining = { type: 'first', accountId: DEFAULT_ACCOUNT } as const
  expect(await current().store.users.create(user, joining, 1)).toBeUndefined()
  await post('/v1/tags', { name: 'team' })
})

const post = (url: string, body: object) => sendForJson({ method: 'POST', url, body })
const patch = (url: string, body: object) => sendForJson({ method: 'PATCH', url, body })

describe.each(['/v1/keys', '/v1/access-tokens'])('%s', (url) => {
  test('has tags of the account, which can be changed and taken away', async () => {
    const made = await post(url, { name: 'ci', tags: ['team', 'team:a:b'] })
    expect(made).toMatchObject({ tags: ['team', 'team:a:b'] })
    const its = `${url}/${made.id}`
    expect(await patch(its, { name: 'other' })).toMatchObject({ tags: ['team', 'team:a:b'] })
    expect(await patch(its, { tags: ['team'] })).toMatchObject({ tags: ['team'] })
    expect(await patch(its, { tags: [] })).toMatchObject({ name: 'other', tags: [] })
    expect((await current().store.keys.loadAll()).map(({ tags = [] }) => tags)).toEqual([[]])
  })

  test.each([
    [['other'], "tags[0]: there is no tag 'other'"],
    [['team', 'team:'], 'tags[1]: the value'],
    [[`team:${'x'.repeat(65)}`], 'tags[0]: the value'],
    [['team', 'team'], 'must not name a tag twice'],
  ])('refuses the tags %p', async (tags, message) => {
    expect(JSON.stringify(await post(url, { name: 'ci', tags }))).toContain(message)
    const { id } = await post(url, { name: 'ci' })
    expect(JSON.stringify(await patch(`${url}/${id}`, { tags }))).toContain(message)
  })
})

test('a key has a member as its user, and calls with it count for that member', async () => {
  const { id } = await post('/v1/keys', { name: 'ci', user: ANN })
  expect(await sendForJson({ url: `/v1/keys/${id}` })).toMatchObject({ user: ANN })
  const [stored] = await current().store.keys.loadAll()
  expect(current().keys.find(stored?.sha256 ?? '')?.fixed).toEqual({ user: ANN, tags: [] })
  expect(await patch(`/v1/keys/${id}`, { user: null })).toMatchObject({ user: null })
  expect(current().keys.find(stored?.sha256 ?? '')?.fixed).toBeUndefined()
  const refused = await patch(`/v1/keys/${id}`, { user: createUserId() })
  expect(JSON.stringify(refused)).toContain(
    'user: is not the id of a member of this account. List the members with GET /v1/members',
  )
})

test('an access token takes its user from its owner, and no other', async () => {
  const owner = { type: 'member', id: ANN }
  const made = await post('/v1/access-tokens', { name: 'ann', owner })
  expect(made).not.toHaveProperty('user')
  const [stored] = await current().store.keys.loadAll()
  expect(current().keys.find(stored?.sha256 ?? '')?.fixed).toEqual({ user: ANN, tags: [] })
  const refused = await patch(`/v1/access-tokens/${made.id}`, { user: ANN })
  expect(JSON.stringify(refused)).toContain('user: is not a known field')
})

test('the switches of an account are its own, and need their version if one is named', async () => {
  const url = '/v1/account/attribution'
  const usual = { membersAndTags: true, sessions: true, endUsers: false, peopleFigures: 'hidden' }
  const shown = await send({ url })
  expect(await shown.json()).toEqual(usual)
  expect(await patch(url, {})).toEqual(usual)
  const etag = shown.headers.get('etag') ?? ''
  const change = (endUsers: boolean) =>
    send({ method: 'PATCH', url, body: { endUsers }, headers: { 'if-match': etag } })
  const changed = await change(true)
  expect([changed.status, await changed.json()]).toEqual([200, { ...usual, endUsers: true }])
  expect((await change(false)).status).toBe(412)
  const headers = { authorization: `Bearer ${strangerKey}` }
  expect(await (await send({ url, headers })).json()).toEqual(usual)
})
