/** `/v1/tags`, request by request. */
import { describe, expect, test } from 'bun:test'
import { createInvitationId, createUserId, DEFAULT_ACCOUNT, type UserId } from '../../core/ids.ts'
import { strangerKey, useControlPlane } from '../control-plane.fixture.ts'

const plane = useControlPlane()
const url = '/v1/tags'
const NAME_PROBLEM = 'name: must be 1 to 64 letters, digits, hyphens, underscores and dots'
const create = (body: object, headers = {}) => plane.send({ method: 'POST', url, body, headers })
const namesOf = ({ data }: Record<string, unknown>) =>
  (data as { name: string }[]).map(({ name }) => name)

describe('the rules of a tag', () => {
  const refused = (name: string, body: object, ...holds: string[]) =>
    [name, `POST ${url}`, body, 400, ...holds] as const
  plane.check([
    [
      'the longest name and description',
      `POST ${url}`,
      { name: 'x'.repeat(64), description: '🌍'.repeat(250) },
      201,
    ],
    ['one character', `POST ${url}`, { name: '.' }, 201, '"description":""'],
    ['every kind of character', `POST ${url}`, { name: 'aZ09-_.' }, 201],
    refused('nothing', {}, 'name: is required'),
    refused('an empty name', { name: '' }, NAME_PROBLEM),
    refused('a name that is too long', { name: 'x'.repeat(65) }, NAME_PROBLEM),
    refused('a line break at the end', { name: 'x\n' }, NAME_PROBLEM),
    refused('a space', { name: 'a b' }, NAME_PROBLEM),
    refused('a slash', { name: 'a/b' }, NAME_PROBLEM),
    refused('another script', { name: 'prodücţion' }, NAME_PROBLEM),
    refused('a number', { name: 5 }, 'name: must be a string'),
    refused('null', { name: null }, 'name: must be a string'),
    refused(
      'a description that is too long',
      { name: 'a', description: 'x'.repeat(501) },
      'description: must have at most 500 characters',
    ),
    refused(
      'NUL in the description',
      { name: 'a', description: 'x\u0000' },
      'description: must not hold control characters',
    ),
    refused(
      'half a surrogate pair',
      { name: 'a', description: '\ud800' },
      'description: must not hold',
    ),
    refused('an id', { name: 'a', id: 'tag_1' }, 'id: is set by the gateway'),
    refused('an unknown member', { name: 'a', colour: 'red' }, 'colour: is not a known field'),
    ['an unknown tag', `GET ${url}/tag_1`, undefined, 404, 'There is no tag with this id.'],
    ['a name of all objects', `GET ${url}/__proto__`, undefined, 404],
  ])
})

test('a tag is created, found, renamed, described and deleted, and the audit log has each change', async () => {
  const made = (await (await create({ name: 'production' })).json()) as { id: string }
  const its = `${url}/${made.id}`
  const createdAt = expect.stringMatching(/^2026-01-02T03:04:05\.\d{3}Z$/)
  expect(made).toEqual({
    id: expect.stringMatching(/^tag_[0-9a-f]{32}$/),
    name: 'production',
    description: '',
    members: [],
    createdAt,
  } as never)
  expect(await plane.sendForJson({ url: its })).toEqual(made)
  const changed = await plane.sendForJson({
    method: 'PATCH',
    url: its,
    body: { description: 'What customers see' },
  })
  expect(changed).toEqual({ ...made, description: 'What customers see' })
  const same = await plane.send({ method: 'PATCH', url: its, body: { name: 'production' } })
  expect(same.status).toBe(200)
  expect(
    await plane.sendForJson({ method: 'PATCH', url: its, body: { name: 'live' } }),
  ).toMatchObject({
    name: 'live',
    description: 'What customers see',
  })
  expect((await plane.send({ method: 'DELETE', url: its })).status).toBe(204)
  expect((await plane.send({ method: 'DELETE', url: its })).status).toBe(404)
  const log = await plane.sendForJson({ url: '/v1/audit-log?resourceType=tag' })
  const changes = log.data as { action: string; before: unknown; after: unknown }[]
  expect(changes.map(({ action }) => action)).toEqual([
    'tag.delete',
    'tag.update',
    'tag.update',
    'tag.update',
    'tag.create',
  ])
  expect(changes[0]).toMatchObject({
    before: { ...made, name: 'live', description: 'What customers see' },
    after: null,
  })
  expect(changes[4]).toMatchObject({ before: null, after: made })
})

async function join(name: string, email = `${name.toLowerCase()}@example.test`): Promise<string> {
  const { invitations, users } = plane.current().store
  const [id, accountId] = [createUserId(), DEFAULT_ACCOUNT]
  const times = { createdAt: 1, expiresAt: 2, acceptedAt: null }
  const by = { id: createInvitationId(), accountId, email, invitedBy: 'key_1', ...times }
  await invitations.insert(by, email)
  const user = { id, name, email, passwordHash: 'x' }
  const joining = { type: 'invitation', tokenSha256: email } as const
  expect(await users.create(user, joining, 1)).toBeUndefined()
  return id
}

test('members of a tag are changed as a whole, and each stands once', async () => {
  const [ann, bob] = [await join('Ann'), await join('Bob')]
  const members = [ann, bob]
  const { id } = (await (await create({ name: 'team', members })).json()) as { id: string }
  const its = `${url}/${id}`
  expect(await plane.sendForJson({ url: its })).toMatchObject({ members })
  const change = (body: object) => plane.sendForJson({ method: 'PATCH', url: its, body })
  expect(await change({ description: 'x' })).toMatchObject({ members })
  expect(await change({ members: [bob] })).toMatchObject({ members: [bob] })
  expect(await change({ members: ['a', 'a'] })).toMatchObject({ error: 'invalid_request' })
  expect(await change({ members: [] })).toMatchObject({ members: [] })
})

test('members are given by id, name or e-mail address, and stored by id', async () => {
  const [ann, oezil] = [await join('Ann'), await join('Özil')]
  const given = { name: 'team', members: ['ANN@example.test', 'Özil'] }
  expect(await (await create(given)).json()).toMatchObject({ members: [ann, oezil] })
  expect(await plane.sendForJson({ url })).toMatchObject({ data: [{ members: [ann, oezil] }] })
})

describe('a member of a tag is refused', () => {
  const refusal = async (members: readonly string[], method = 'POST', its = url) => {
    const body = method === 'POST' ? { name: 'refused', members } : { members }
    const response = await plane.send({ method, url: its, body })
    return [response.status, ((await response.json()) as { message?: string }).message]
  }
  const isNobody = (field: string, text: string) =>
    `${field}: '${text}' is not the id, name or e-mail address of a member of this account. List ` +
    'the members with GET /v1/members'

  test('with its field and value, at the creation and at a change', async () => {
    const ann = await join('Ann')
    const { id } = (await (await create({ name: 'team', members: [ann] })).json()) as { id: string }
    for (const given of [['POST'], ['PATCH', `${url}/${id}`]] as const) {
      const [method, its] = given
      expect(await refusal(['Ann', 'zoe@example.test'], method, its)).toEqual([
        400,
        isNobody('members[1]', 'zoe@example.test'),
      ])
      const gone = createUserId()
      expect(await refusal([gone, 'nobody'], method, its)).toEqual([
        400,
        `${isNobody('members[0]', gone)} (and 1 more)`,
      ])
    }
    expect(await plane.sendForJson({ url })).toMatchObject({ data: [{ members: [ann] }] })
  })

  test('when several have the name, and when two texts name the same', async () => {
    const ann = await join('Ann')
    await join('ann', 'other@example.test')
    expect(await refusal(['Ann'])).toEqual([
      400,
      "members[0]: 'Ann' is the name of several members: give the id of one",
    ])
    expect(await refusal([ann, 'ann@example.test'])).toEqual([
      400,
      "members[1]: 'ann@example.test' is the same member as members[0]",
    ])
  })

  test('when the member belongs to another account', async () => {
    await join('Ann')
    const headers = { authorization: `Bearer ${strangerKey}` }
    expect((await create({ name: 'theirs', members: ['Ann'] }, headers)).status).toBe(400)
  })
})

test('a member who has left stays in a tag until taken out', async () => {
  const [ann, bob] = [await join('Ann'), await join('Bob')]
  const { id } = (await (await create({ name: 'team', members: [bob] })).json()) as { id: string }
  expect(await plane.current().store.members.remove(DEFAULT_ACCOUNT, bob as UserId)).toBe(true)
  const change = (members: readonly string[]) =>
    plane.sendForJson({ method: 'PATCH', url: `${url}/${id}`, body: { members } })
  expect(await change([bob, ann])).toMatchObject({ members: [bob, ann] })
  expect(await change([ann])).toMatchObject({ members: [ann] })
  expect(await change([bob])).toMatchObject({ error: 'invalid_request' })
})

test('pages of tags, newest first, hold each tag once', async () => {
  for (const name of ['a', 'b', 'c']) await create({ name })
  const first = await plane.sendForJson({ url: `${url}?limit=2` })
  const second = await plane.sendForJson({ url: `${url}?limit=2&cursor=${first.nextCursor}` })
  expect([namesOf(first), namesOf(second), second.nextCursor]).toEqual([['c', 'b'], ['a'], null])
})

test('a name is unique: over requests at once, changes, and equal spellings', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => create({ name: 'once' })))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([
    201,
    ...Array.from({ length: 7 }, () => 409),
  ])
  const refusal = answers.find(({ status }) => status === 409)
  expect(await refusal?.json()).toMatchObject({
    error: 'conflict',
    message: 'A tag with this name already exists.',
  })
  expect((await create({ name: 'Once' })).status).toBe(201)
  const { id } = (await (await create({ name: 'twice' })).json()) as { id: string }
  const renamed = await plane.send({ method: 'PATCH', url: `${url}/${id}`, body: { name: 'once' } })
  expect(renamed.status).toBe(409)
  expect(namesOf(await plane.sendForJson({ url }))).toEqual(['twice', 'Once', 'once'])
})

test("another account's tags cannot be seen, changed or deleted, and their names are free", async () => {
  const { id } = (await (await create({ name: 'ours' })).json()) as { id: string }
  const headers = { authorization: `Bearer ${strangerKey}` }
  const its = `${url}/${id}`
  expect(await plane.sendForJson({ url, headers })).toMatchObject({ data: [] })
  expect((await plane.send({ url: its, headers })).status).toBe(404)
  expect(
    (await plane.send({ method: 'PATCH', url: its, headers, body: { name: 'theirs' } })).status,
  ).toBe(404)
  expect((await plane.send({ method: 'DELETE', url: its, headers })).status).toBe(404)
  expect((await create({ name: 'ours' }, headers)).status).toBe(201)
  expect(await plane.sendForJson({ url: its })).toMatchObject({ name: 'ours' })
})
