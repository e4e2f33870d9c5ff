/** The log, the analytics and the sessions by user, session, agent and tag. */
import { beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { NO_RULES } from '../../core/access-token.ts'
import { type AccountId, DEFAULT_ACCOUNT, type KeyId } from '../../core/ids.ts'
import { stranger, strangerKey, useControlPlane } from '../control-plane.fixture.ts'
import { loggedCall as call } from './call-log.fixture.ts'

const { check, current, sendForJson, send } = useControlPlane()

const at = (time: string) => Date.parse(`2026-01-${time}Z`)
const MONTH = 'from=2026-01-01&to=2026-02-01&interval=all'

let keyId: KeyId
let hashes: { ann: string; session: string; agent: string; team: string; repo: string }

beforeEach(async () => {
  const { store, keys, attribution } = current()
  await attribution.change(DEFAULT_ACCOUNT, { peopleFigures: 'administrators' })
  const made = await keys.create({ accountId: DEFAULT_ACCOUNT, name: 'Team', expiresAt: null })
  keyId = made.record.id
  const hash = (
    ...asked: Parameters<typeof attribution.hash> extends [unknown, ...infer Rest] ? Rest : never
  ) => attribution.hash(DEFAULT_ACCOUNT, ...asked) ?? ''
  const session = hash('session', 'conversation 1', keyId)
  hashes = {
    ann: `end:${hash('user', 'ann@example.com')}`,
    session,
    agent: hash('agent', 'explore', session),
    team: hash('tag', 'team-a'),
    repo: hash('tag', 'repo:gatehouse'),
  }
  await store.callerNames.write(
    [
      { accountId: DEFAULT_ACCOUNT, kind: 'user', hash: hashes.ann, name: 'ann@example.com' },
      { accountId: DEFAULT_ACCOUNT, kind: 'tag', hash: hashes.team, name: 'team-a' },
    ],
    Date.now(),
  )
  const own = { keyId, user: hashes.ann, session, tags: `${hashes.team} ${hashes.repo}` }
  await store.calls.insertMany([
    call('req_1', { ...own, startedAt: at('01T10:00:00') }),
    call('req_2', {
      ...own,
      startedAt: at('01T10:05:00'),
      agent: hashes.agent,
      target: 'openai/gpt-4',
    }),
    call('req_3', { keyId, startedAt: at('03T10:00:00'), user: 'user_0aa', tags: hashes.repo }),
    call('req_4', { startedAt: at('04T10:00:00') }),
    call('req_5', { ...own, accountId: stranger as AccountId, startedAt: at('01T10:00:00') }),
  ])
})

interface Sum {
  readonly group: string | null
  readonly name: string | null
  readonly calls: number
  readonly lastDay: string | null
}

async function groups(query: string): Promise<unknown[]> {
  const { data } = await sendForJson({ url: `/v1/analytics?${MONTH}&${query}` })
  return (data as Sum[]).map(({ group, name, calls }) => [group, name, calls])
}

test('usage is grouped by user, tag, session, model and provider, with names', async () => {
  expect(await groups('group_by=user')).toEqual([
    [hashes.ann, 'ann@example.com', 2],
    [null, null, 1],
    ['user_0aa', null, 1],
  ])
  expect(await groups('group_by=tag')).toEqual([
    [hashes.repo, null, 3],
    [hashes.team, 'team-a', 2],
    [null, null, 1],
  ])
  expect(await groups('group_by=session')).toEqual([
    [null, null, 2],
    [hashes.session, null, 2],
  ])
  expect(await groups('group_by=model')).toEqual([
    ['gpt-5', null, 3],
    ['gpt-4', null, 1],
  ])
  expect(await groups('group_by=provider&tag=team-a')).toEqual([['openai', null, 2]])
  expect(await groups('group_by=agent&session=conversation%201')).toEqual([
    [null, null, 1],
    [hashes.agent, null, 1],
  ])
})

test('usage is grouped by two dimensions, both with names, the greatest pair first', async () => {
  const pairs = async (query: string) => {
    const answer = await sendForJson({ url: `/v1/analytics?${MONTH}&${query}` })
    const data = answer.data as Record<
      'group' | 'name' | 'thenGroup' | 'thenName' | 'calls',
      unknown
    >[]
    return data.map((sum) => [sum.group, sum.name, sum.thenGroup, sum.thenName, sum.calls])
  }
  expect(await pairs('group_by=user&then_by=model')).toEqual([
    [null, null, 'gpt-5', null, 1],
    [hashes.ann, 'ann@example.com', 'gpt-4', null, 1],
    [hashes.ann, 'ann@example.com', 'gpt-5', null, 1],
    ['user_0aa', null, 'gpt-5', null, 1],
  ])
  expect(await pairs('group_by=key&then_by=tag&user=end:ann@example.com&order=name')).toEqual(
    [
      [keyId, 'Team', hashes.repo, null, 2],
      [keyId, 'Team', hashes.team, 'team-a', 2],
    ].toSorted((one, other) => (String(one[2]) < String(other[2]) ? -1 : 1)),
  )
  const first = await sendForJson({
    url: `/v1/analytics?${MONTH}&group_by=user&then_by=model&limit=1`,
  })
  expect(first).toMatchObject({ groupBy: 'user', thenBy: 'model' })
  expect((first.data as unknown[])[1]).toMatchObject({ isRest: true, group: null, calls: 3 })
  expect(
    await pairs(`group_by=user&then_by=model&limit=1&cursor=${String(first.nextCursor)}`),
  ).toEqual([
    [hashes.ann, 'ann@example.com', 'gpt-4', null, 1],
    [null, null, null, null, 2],
  ])
  for (const [query, message] of [
    ['then_by=model', 'then_by: needs group_by'],
    ['group_by=model&then_by=model', 'then_by: must differ from group_by'],
    ['group_by=user&then_by=agent', 'then_by: needs session or user for agents'],
  ] as const) {
    const refused = await send({ url: `/v1/analytics?${MONTH}&${query}` })
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining(message)])
  }
})

test('sums by user have the last day of each, unless another filter or interval is given', async () => {
  const lastDays = async (query: string) => {
    const { data } = await sendForJson({ url: `/v1/analytics?group_by=user&${query}` })
    return Object.fromEntries((data as Sum[]).map(({ group, lastDay }) => [group, lastDay]))
  }
  await current().store.calls.insertMany([
    call('req_7', { user: hashes.ann, startedAt: at('20T00:00:00') }),
    call('req_8', { user: 'user_0bb', startedAt: at('31T23:59:59') }),
  ])
  expect(await lastDays(MONTH)).toEqual({
    [hashes.ann]: '2026-01-20',
    user_0aa: '2026-01-03',
    user_0bb: '2026-01-31',
    null: null,
  })
  const earlier = 'from=2026-01-01&to=2026-01-20&interval=all'
  expect(await lastDays(`${earlier}&user=${hashes.ann}`)).toEqual({ [hashes.ann]: '2026-01-01' })
  expect(await lastDays(`${MONTH}&key=${keyId}`)).toEqual({ [hashes.ann]: null, user_0aa: null })
  expect(await lastDays('from=2026-01-03&to=2026-01-04')).toEqual({ user_0aa: null })
})

test('users are searched by words of their names and by their ids, in pages', async () => {
  const { store, attribution } = current()
  const people = ['Ärzte Ann 1', 'ann 2', 'Bob 50%', 'Bob 500'].map((name) => ({
    name,
    ...{ accountId: DEFAULT_ACCOUNT, kind: 'user' as const },
    hash: `end:${attribution.hash(DEFAULT_ACCOUNT, 'user', name)}`,
  }))
  await store.callerNames.write(people, Date.now())
  await store.calls.insertMany(
    people.map(({ hash: user }, index) =>
      call(`req_p${index}`, { startedAt: at('02T10:00:00'), user }),
    ),
  )
  const url = `/v1/analytics?${MONTH}&group_by=user`
  const find = async (search: string, more = '') => {
    const answer = await sendForJson({ url: `${url}&search=${encodeURIComponent(search)}${more}` })
    const { data, nextCursor } = answer as { data: Sum[]; nextCursor: string | null }
    return { names: data.map(({ name, group }) => name ?? group), nextCursor }
  }
  const namesOf = async (search: string) => (await find(search)).names.toSorted()
  expect(await namesOf('ANN')).toEqual(['ann 2', 'ann@example.com', 'Ärzte Ann 1'])
  expect(await namesOf('ann ärzte')).toEqual(['Ärzte Ann 1'])
  expect(await namesOf('50%')).toEqual(['Bob 50%'])
  expect(await namesOf(' user_0aa ')).toEqual(['user_0aa'])
  expect(await namesOf('nobody')).toEqual([])
  const first = await find('ann', '&order=calls&limit=1')
  expect(first.names[0]).toBe('ann@example.com')
  const second = await find('ann', `&order=calls&limit=2&cursor=${first.nextCursor}`)
  expect(second.names.toSorted()).toEqual(['ann 2', 'Ärzte Ann 1'])
  expect(second.nextCursor).toBeNull()
  const byStranger = await sendForJson({
    url: `${url}&search=ann`,
    headers: { authorization: `Bearer ${strangerKey}` },
  })
  expect(JSON.stringify(byStranger)).not.toContain('"group":"end:')
  await attribution.change(DEFAULT_ACCOUNT, { peopleFigures: 'hidden' })
  expect((await send({ url: `${url}&search=ann` })).status).toBe(403)
})

test('tags are searched by words of their names, such as the values of one tag', async () => {
  const { store, attribution } = current()
  const hashOf = (name: string) => `${attribution.hash(DEFAULT_ACCOUNT, 'tag', name)}`
  const tags = ['repo:one', 'repo:two', 'team-a']
  await store.callerNames.write(
    tags.map((name) => ({
      ...{ accountId: DEFAULT_ACCOUNT, kind: 'tag' as const, name },
      hash: hashOf(name),
    })),
    Date.now(),
  )
  await store.calls.insertMany([
    call('req_t1', {
      startedAt: at('02T11:00:00'),
      tags: `${hashOf('repo:one')} ${hashOf('team-a')}`,
    }),
    call('req_t2', { startedAt: at('02T11:00:00'), tags: hashOf('repo:two') }),
  ])
  const find = async (search: string) => {
    const url = `/v1/analytics?${MONTH}&group_by=tag&search=${encodeURIComponent(search)}`
    const { data } = (await sendForJson({ url })) as { data: Sum[] }
    return data.map(({ name }) => name).toSorted()
  }
  expect(await find('repo:')).toEqual(['repo:one', 'repo:two'])
  expect(await find('two')).toEqual(['repo:two'])
  const byKey = `/v1/analytics?${MONTH}&group_by=key&search=x`
  expect((await send({ url: byKey })).status).toBe(400)
})

test('filters take names, ids and hashes', async () => {
  const counted = async (query: string) =>
    (await groups(query)).map((group) => (group as unknown[])[2])
  for (const [query, calls] of [
    ['user=end:ann@example.com', [2]],
    [`user=${hashes.ann}`, [2]],
    [`user=${hashes.ann.slice(4)}`, [2]],
    ['user=user_0aa', [1]],
    ['user=end:nobody', []],
    ['tag=team-a', [2]],
    [`tag=${hashes.repo}`, [3]],
    ['session=conversation%201', [2]],
    [`session=conversation%201&key=${keyId}`, [2]],
    ['session=conversation%201&key=key_none', []],
    [`session=${hashes.session}&agent=explore`, [1]],
    ['user=user_0aa&tag=team-a', []],
    ['user=user_0aa&tag=repo:gatehouse', [1]],
  ] as const)
    expect([query, await counted(query)]).toEqual([query, [...calls]])
})

describe('the name of a session without a key', () => {
  const asked = { url: '/v1/logs?session=conversation%202' }

  test('finds the calls of an access token', async () => {
    const { store, keys, attribution } = current()
    const made = await keys.create({ accountId: DEFAULT_ACCOUNT, name: 'ci', token: NO_RULES })
    const { id } = made.record
    const session = attribution.hash(DEFAULT_ACCOUNT, 'session', 'conversation 2', id) ?? ''
    await store.calls.insertMany([
      call('req_6', { keyId: id, session, startedAt: at('05T10:00:00') }),
    ])
    const { data } = await sendForJson(asked)
    expect(data).toMatchObject([{ id: 'req_6' }])
  })

  test('finds the calls in an account with a token for each of 6,000 people', async () => {
    const { keys, attribution } = current()
    const [first] = keys.list(DEFAULT_ACCOUNT, 'key')
    const many = Array.from({ length: 6_000 }, (_, index) => ({
      ...(first as NonNullable<typeof first>),
      id: `key_${index}` as KeyId,
    }))
    const listed = spyOn(keys, 'list').mockReturnValue(many)
    const hash = attribution.hash(DEFAULT_ACCOUNT, 'session', 'conversation 2', 'key_5999') ?? ''
    await current().store.calls.insertMany([
      call('req_6', { keyId: 'key_5999' as KeyId, session: hash, startedAt: at('05T10:00:00') }),
    ])
    const { data } = await sendForJson(asked)
    expect(data).toMatchObject([{ id: 'req_6' }])
    const { data: sums } = await sendForJson({
      url: `/v1/analytics?${MONTH}&group_by=model&session=conversation%202`,
    })
    expect(sums).toMatchObject([{ calls: 1 }])
    const none = { url: '/v1/logs?session=conversation%203' }
    expect(await sendForJson(none)).toMatchObject({ data: [] })
    listed.mockRestore()
  })

  test('is refused in an account with more keys than are tried', async () => {
    const count = spyOn(current().keys, 'countOf').mockReturnValue(50_001)
    const refused = await send(asked)
    count.mockRestore()
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining('or be given with key'),
    ])
  })
})

test('the log is filtered and shows names', async () => {
  const { data } = await sendForJson({
    url: `/v1/logs?user=end:ann@example.com&agent=${hashes.agent}`,
  })
  expect(data).toMatchObject([
    {
      id: 'req_2',
      user: hashes.ann,
      userName: 'ann@example.com',
      session: hashes.session,
      agent: hashes.agent,
      tagNames: `team-a ${hashes.repo}`,
    },
  ])
  const ofSession = await sendForJson({ url: '/v1/logs?session=conversation%201' })
  expect((ofSession.data as { id: string }[]).map(({ id }) => id)).toEqual(['req_2', 'req_1'])
  const file = await send({ url: '/v1/logs/export?format=csv&tag=team-a' })
  const lines = (await file.text()).trimEnd().split('\r\n')
  expect(lines).toHaveLength(3)
  expect(lines[0]).toEndWith(',userName,tagNames,steeredBy')
  expect(lines[1]).toEndWith(`,ann@example.com,team-a ${hashes.repo},`)
})

test('sessions are listed, and one is shown with its agents and its calls', async () => {
  const { data } = await sendForJson({
    url: '/v1/usage/sessions?order=cost&user=end:ann@example.com',
  })
  expect(data).toMatchObject([
    {
      id: hashes.session,
      keyId,
      keyName: 'Team',
      userName: 'ann@example.com',
      firstAt: '2026-01-01T10:00:00.000Z',
      lastAt: '2026-01-01T10:05:00.000Z',
      calls: 2,
      tokens: { input: 2, largestInput: 1 },
    },
  ])
  const url = `/v1/usage/sessions/${hashes.session}?limit=1`
  const first = await sendForJson({ url })
  expect(first).toMatchObject({
    calls: 2,
    agents: [
      { agent: null, calls: 1 },
      { agent: hashes.agent, parentAgent: null, calls: 1 },
    ],
    data: [{ id: 'req_1' }],
  })
  const second = await sendForJson({ url: `${url}&cursor=${first.nextCursor}` })
  expect(second).toMatchObject({ data: [{ id: 'req_2' }], nextCursor: null })
})

test('calls that the gateway refused are told apart in sessions and their agents', async () => {
  const session = '7'.repeat(16)
  const refused = {
    target: null,
    attempts: 0,
    outcome: 'failed',
    status: 404,
    usage: null,
  } as const
  const [one, two] = [
    { session, startedAt: at('05T10:00:00') },
    { session, agent: hashes.agent, startedAt: at('05T10:01:00') },
  ]
  await current().store.calls.insertMany([
    call('req_6', { ...one, ...refused }),
    call('req_7', { ...two, ...refused }),
    call('req_8', { ...two, outcome: 'failed', status: 502 }),
  ])
  expect(await sendForJson({ url: `/v1/usage/sessions/${session}` })).toMatchObject({
    ...{ calls: 3, errors: 3, refused: 2 },
    agents: [
      { agent: null, calls: 1, errors: 1, refused: 1 },
      { agent: hashes.agent, calls: 2, errors: 2, refused: 1 },
    ],
  })
})

test('another account sees no session of this one', async () => {
  const headers = { authorization: `Bearer ${strangerKey}` }
  const other = await send({ url: `/v1/usage/sessions/${hashes.session}`, headers })
  expect(await other.json()).toMatchObject({ calls: 1, data: [{ id: 'req_5' }] })
  await current().store.calls.insertMany([
    call('req_9', { startedAt: at('01T10:00:00'), session: '9'.repeat(16) }),
  ])
  const hidden = await send({ url: `/v1/usage/sessions/${'9'.repeat(16)}`, headers })
  expect(hidden.status).toBe(404)
})

test('pages of sessions do not overlap', async () => {
  const { store } = current()
  await store.calls.insertMany(
    Array.from({ length: 9 }, (_, index) =>
      call(`req_s${index}`, {
        startedAt: at('05T10:00:00') + index * 3_600_000,
        session: `${index}`.repeat(16),
        cost: { nanoUsd: 1_000_000 * (index % 4), status: 'exact', source: 'test@1' },
      }),
    ),
  )
  for (const order of ['last', 'cost', 'calls', 'tokens']) {
    const seen: string[] = []
    let cursor: unknown = ''
    do {
      const page = await sendForJson({
        url: `/v1/usage/sessions?order=${order}&limit=4${cursor === '' ? '' : `&cursor=${cursor}`}`,
      })
      for (const { id } of page.data as { id: string }[]) seen.push(id)
      cursor = page.nextCursor
    } while (cursor !== null)
    expect([order, seen.length, new Set(seen).size]).toEqual([order, 10, 10])
  }
})

describe('what cannot be answered', () => {
  check([
    [
      'an unknown member',
      'GET /v1/analytics?user=ann',
      undefined,
      400,
      'user: is not the id, name or e-mail address of a member of this account. List the members with GET /v1/members, or write an end user as end:NAME',
    ],
    [
      'an agent alone',
      'GET /v1/logs?agent=explore',
      undefined,
      400,
      'must be a hash, or be given with session',
    ],
    [
      'agents of all sessions',
      'GET /v1/analytics?group_by=agent&interval=all',
      undefined,
      400,
      'needs session or user',
    ],
    ['sessions by day', 'GET /v1/analytics?group_by=session', undefined, 400, 'for sessions'],
    [
      'an unknown session',
      `GET /v1/usage/sessions/${'0'.repeat(16)}`,
      undefined,
      404,
      'no session with this id',
    ],
    ['a text as id', 'GET /v1/usage/sessions/x', undefined, 404, 'no session with this id'],
  ])

  test('deleted calls are named, with what is left', async () => {
    await current().store.usage.noteCallsDeletedBefore(at('02T00:30:00'))
    const refused = await sendForJson({ url: `/v1/analytics?${MONTH}&user=user_0aa&gate=demo` })
    expect(JSON.stringify(refused)).toContain('2026-01-02T01:00:00.000Z or later')
    expect(await groups('group_by=user')).toHaveLength(3)
  })
})
