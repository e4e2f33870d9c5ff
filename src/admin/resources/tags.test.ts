/** `/v1/tags`, request by request. */
import { describe, expect, test } from 'bun:test'
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

test('members of a tag are changed as a whole, and each stands once', async () => {
  const members = ['user_ann', 'user_bob']
  const { id } = (await (await create({ name: 'team', members })).json()) as { id: string }
  const its = `${url}/${id}`
  expect(await plane.sendForJson({ url: its })).toMatchObject({ members })
  const change = (body: object) => plane.sendForJson({ method: 'PATCH', url: its, body })
  expect(await change({ description: 'x' })).toMatchObject({ members })
  expect(await change({ members: ['user_bob'] })).toMatchObject({ members: ['user_bob'] })
  expect(await change({ members: ['a', 'a'] })).toMatchObject({ error: 'invalid_request' })
  expect(await change({ members: [] })).toMatchObject({ members: [] })
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
