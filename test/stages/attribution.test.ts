/** The stage attribute: who a call counts for, by what its account fixed and its client sent. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { NO_RULES } from '../../src/core/access-token.ts'
import { isEndUserName } from '../../src/core/attribution.ts'
import type { CallRecord } from '../../src/core/call.ts'
import type { AgentCall } from '../record-agents/agent-fixture.ts'
import { SUBAGENT_RUN } from '../record-agents/agents.ts'
import { readAgentFixtures } from '../support/agent-fixtures.ts'
import {
  CHAT_JSON,
  CHAT_STREAM_WITH_USAGE,
  MESSAGES_JSON,
  MESSAGES_STREAM,
  RESPONSES_JSON,
  RESPONSES_STREAM,
} from '../support/dialect-samples.ts'
import { type GatewayScript, InProcessGateway } from '../support/in-process-gateway.ts'
import { type AttributionScript, ScriptedAttributions } from '../support/scripted-attributions.ts'
import { json, type Script, stream } from '../support/scripted-upstream.ts'

const CHAT = '/v1/chat/completions'
const CHAT_BODY = { model: 'one', messages: [{ role: 'user', content: 'hi' }] }
const MESSAGES_BODY = { ...CHAT_BODY, max_tokens: 10 }
const RESPONSES_BODY = { model: 'one', input: 'hi' }

type Names = Pick<CallRecord, 'user' | 'session' | 'agent' | 'parentAgent' | 'tags'>

interface Row {
  readonly name: string
  readonly attributions?: AttributionScript
  readonly script?: Partial<GatewayScript>
  readonly headers?: Readonly<Record<string, string>>
  readonly path?: string
  readonly body?: object
  readonly names: Names
  readonly ignored?: string
}

const session = (name: string) => `session(key_caller/${name})`
const agent = (of: string, name: string) => `agent(${session(of)}/${name})`
const endUsers: AttributionScript = { settings: { endUsers: true } }
const tags = { 'team-a': ['user_ann'], 'team-b': [], repo: [] }
const LONG = 'x'.repeat(256)
const MEMBER = { user: 'user_ann', tags: [] }
const userIdJson = JSON.stringify({ device_id: 'd', account_uuid: '', session_id: 's1' })

const ROWS: readonly Row[] = [
  { name: 'a plain call has no names', names: {} },
  {
    name: 'a fixed member precedes a sent user, and brings teams',
    attributions: { ...endUsers, tags },
    script: { fixed: MEMBER },
    headers: { 'x-gatehouse-user': 'bob' },
    body: { ...CHAT_BODY, user: 'eve' },
    names: { user: 'user_ann', tags: 'tag(team-a)' },
    ignored: 'x-gatehouse-user',
  },
  {
    name: 'a sent user with the form of an id is ignored, so that it is never taken for another',
    attributions: endUsers,
    headers: { 'x-gatehouse-user': 'end:38ddd3fb267b4132' },
    body: { ...CHAT_BODY, user: '(erased)' },
    names: {},
    ignored: 'x-gatehouse-user, user',
  },
  {
    name: 'a sent user is no member, even with the id of a member',
    attributions: endUsers,
    headers: { 'x-gatehouse-user': 'user_ann' },
    names: { user: 'end:user(user_ann)' },
  },
  {
    name: 'a header precedes the body',
    attributions: endUsers,
    headers: { 'x-gatehouse-user': 'ann' },
    body: { ...CHAT_BODY, user: 'eve' },
    names: { user: 'end:user(ann)' },
  },
  {
    name: 'the safety identifier precedes the user of a body',
    attributions: endUsers,
    body: { ...CHAT_BODY, user: 'eve', safety_identifier: 'ann' },
    names: { user: 'end:user(ann)' },
  },
  {
    name: 'sent users do not count while end users are off, and only our own header is named',
    headers: { 'x-gatehouse-user': 'ann' },
    body: { ...CHAT_BODY, user: 'eve' },
    names: {},
    ignored: 'x-gatehouse-user',
  },
  {
    name: 'an access token ignores the header for users',
    attributions: endUsers,
    script: { token: NO_RULES },
    headers: { 'x-gatehouse-user': 'ann' },
    names: {},
    ignored: 'x-gatehouse-user',
  },
  {
    name: 'a name that is too long is absent and named, and the next source counts',
    attributions: endUsers,
    headers: { 'x-gatehouse-user': LONG, 'x-gatehouse-session': LONG },
    body: { ...CHAT_BODY, user: 'eve' },
    names: { user: 'end:user(eve)' },
    ignored: 'x-gatehouse-user, x-gatehouse-session',
  },
  {
    name: 'names with control characters are absent and named, in headers and bodies',
    attributions: { ...endUsers, tags },
    headers: {
      'x-gatehouse-user': Buffer.from('ann\u0085').toString('latin1'),
      'x-gatehouse-session': 's\t1',
      'x-gatehouse-tags': 'repo:a\tb',
    },
    body: { ...CHAT_BODY, user: 'ann\u0000' },
    names: {},
    ignored: 'x-gatehouse-user, user, x-gatehouse-session, x-gatehouse-tags:repo:a%09b',
  },
  {
    name: 'a name with half a surrogate pair is absent and named',
    attributions: endUsers,
    body: { ...CHAT_BODY, user: 'ann\ud83d' },
    names: {},
    ignored: 'user',
  },
  {
    name: 'names without a visible character are absent and named, in headers and bodies',
    attributions: { ...endUsers, tags },
    headers: {
      'x-gatehouse-user': Buffer.from('\u3164').toString('latin1'),
      'x-gatehouse-session': Buffer.from('\u2060\u200f').toString('latin1'),
      'x-gatehouse-tags': Buffer.from('repo:\u200b').toString('latin1'),
    },
    body: { ...CHAT_BODY, user: '   ' },
    names: {},
    ignored: 'x-gatehouse-user, user, x-gatehouse-session, x-gatehouse-tags:repo:%E2%80%8B',
  },
  {
    name: 'a name in UTF-8 is read as such',
    attributions: endUsers,
    headers: { 'x-gatehouse-user': Buffer.from('Jürgen').toString('latin1') },
    names: { user: 'end:user(Jürgen)' },
  },
  {
    name: 'our header names the session, and the client’s the agent',
    headers: {
      'x-gatehouse-session': 'mine',
      'x-claude-code-session-id': 's1',
      'x-claude-code-agent-id': 'a1',
    },
    names: { session: session('mine'), agent: agent('mine', 'a1') },
  },
  {
    name: 'Claude Code: a subagent of a subagent',
    headers: {
      'x-claude-code-session-id': 's1',
      'x-claude-code-agent-id': 'a2',
      'x-claude-code-parent-agent-id': 'a1',
    },
    names: { session: session('s1'), agent: agent('s1', 'a2'), parentAgent: agent('s1', 'a1') },
  },
  {
    name: 'Claude Code: of the JSON text in metadata.user_id only the session counts',
    attributions: endUsers,
    path: '/v1/messages',
    body: { ...MESSAGES_BODY, metadata: { user_id: userIdJson } },
    names: { session: session('s1') },
  },
  {
    name: 'a plain metadata.user_id is an end user',
    attributions: endUsers,
    path: '/v1/messages',
    body: { ...MESSAGES_BODY, metadata: { user_id: 'ann' } },
    names: { user: 'end:user(ann)' },
  },
  {
    name: 'Codex: the main thread is the main agent',
    headers: { 'session-id': 's1', 'thread-id': 's1' },
    names: { session: session('s1') },
  },
  {
    name: 'Codex: another thread is a subagent',
    headers: { 'session-id': 's1', 'thread-id': 't1', 'x-codex-parent-thread-id': 's1' },
    names: { session: session('s1'), agent: agent('s1', 't1') },
  },
  {
    name: 'Codex: the body counts without headers',
    path: '/v1/responses',
    body: { ...RESPONSES_BODY, client_metadata: { session_id: 's1', thread_id: 't1' } },
    names: { session: session('s1'), agent: agent('s1', 't1') },
  },
  {
    name: 'opencode: a session',
    headers: { 'x-session-affinity': 's1', 'x-session-id': 's1' },
    names: { session: session('s1') },
  },
  {
    name: 'opencode: a subagent belongs to the session of its parent',
    headers: { 'x-session-affinity': 's2', 'x-session-id': 's2', 'x-parent-session-id': 's1' },
    names: { session: session('s1'), agent: agent('s1', 's2') },
  },
  {
    name: 'a request id is no session',
    headers: { 'x-client-request-id': 'r1' },
    names: {},
  },
  {
    name: 'sessions that are off do not count',
    attributions: { settings: { sessions: false } },
    headers: { 'x-gatehouse-session': 's', 'x-session-id': 's1' },
    names: {},
    ignored: 'x-gatehouse-session',
  },
  {
    name: 'fixed tags come first, without repetition; unknown and malformed ones are named',
    attributions: { tags },
    script: { fixed: { tags: ['repo:gatehouse', 'gone'], ownerTag: 'tag_team-b' } },
    headers: {
      'x-gatehouse-tags': `team-a, team-b ,what,repo:, repo:${'v'.repeat(65)},repo:other`,
    },
    names: { tags: 'tag(repo:gatehouse) tag(team-b) tag(team-a) tag(repo:other)' },
    ignored: `x-gatehouse-tags:what, x-gatehouse-tags:repo:, x-gatehouse-tags:repo:${'v'.repeat(65)}`,
  },
  {
    name: 'at most eight tags count, the rest is named',
    attributions: { tags },
    script: { fixed: { tags: ['team-a'] } },
    headers: { 'x-gatehouse-tags': [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `repo:${n}`).join() },
    names: {
      tags: ['team-a', ...[1, 2, 3, 4, 5, 6, 7].map((n) => `repo:${n}`)]
        .map((tag) => `tag(${tag})`)
        .join(' '),
    },
    ignored: 'x-gatehouse-tags:repo:8',
  },
  {
    name: 'a tag takes a bounded number of values',
    attributions: { tags, mostTagValues: 1 },
    headers: { 'x-gatehouse-tags': 'repo:a,repo:b' },
    names: { tags: 'tag(repo:a)' },
    ignored: 'x-gatehouse-tags:repo:b',
  },
  {
    name: 'a fixed tag counts when the values that were sent have used up the maximum',
    attributions: { tags, mostTagValues: 0 },
    script: { fixed: { tags: ['repo:gatehouse'] } },
    headers: { 'x-gatehouse-tags': 'repo:a' },
    names: { tags: 'tag(repo:gatehouse)' },
    ignored: 'x-gatehouse-tags:repo:a',
  },
  {
    name: 'members and tags that are off do not count',
    attributions: { settings: { membersAndTags: false }, tags },
    script: { fixed: MEMBER },
    headers: { 'x-gatehouse-tags': 'team-a' },
    names: {},
    ignored: 'x-gatehouse-tags',
  },
]

const ANSWERS: Readonly<Record<string, Script>> = {
  [CHAT]: json(200, CHAT_JSON),
  '/v1/messages': json(200, MESSAGES_JSON),
  '/v1/responses': json(200, RESPONSES_JSON),
}
const STREAMS = {
  [CHAT]: CHAT_STREAM_WITH_USAGE,
  '/v1/messages': MESSAGES_STREAM,
  '/v1/responses': RESPONSES_STREAM,
} as Readonly<Record<string, typeof MESSAGES_STREAM>>
const TARGETS: Readonly<Record<string, string>> = {
  [CHAT]: 'openai/gpt-4o',
  '/v1/messages': 'anthropic/claude-opus-4-5',
  '/v1/responses': 'openai/gpt-5',
}

function open(path: string, row: Pick<Row, 'attributions' | 'script'>, upstream: Script[]) {
  const attributions = new ScriptedAttributions(row.attributions)
  const gateway = new InProcessGateway({
    gates: { one: [TARGETS[path] ?? ''] },
    upstream,
    attributions,
    ...row.script,
  })
  return { gateway, attributions }
}

const namesOf = ({ user, session, agent, parentAgent, tags }: CallRecord): Names =>
  Object.fromEntries(
    Object.entries({ user, session, agent, parentAgent, tags }).filter(
      ([, value]) => value !== undefined,
    ),
  )

test.each(ROWS)('$name', async (row) => {
  const { path = CHAT, headers = {}, body = CHAT_BODY } = row
  const { gateway } = open(path, row, [ANSWERS[path] ?? json(200, {})])
  const seen = await gateway.ask({ path, headers, body })
  expect(seen.status).toBe(200)
  expect(gateway.ledger.records.map(namesOf)).toEqual([row.names])
  expect(seen.headers['x-gatehouse-ignored'] ?? '').toBe(row.ignored ?? '')
  const [sent] = gateway.upstream.sent
  expect(
    Object.keys(sent?.headers ?? {}).filter((name) => name.startsWith('x-gatehouse-')),
  ).toEqual([])
  await gateway.assertNothingIsLeft()
})

test('a strict caller is not refused because of its names', async () => {
  const { gateway } = open(CHAT, {}, [json(200, CHAT_JSON)])
  const headers = { 'x-gatehouse-user': 'ann', 'x-gatehouse-strict': 'true' }
  expect((await gateway.ask({ path: CHAT, headers, body: CHAT_BODY })).status).toBe(200)
})

describe('refused calls', () => {
  test.each([
    ['of an unknown gate', { ...CHAT_BODY, model: 'none', user: 'eve' }, 'end:user(eve)'],
    ['with a damaged body', '{', undefined],
  ] as const)('%s bear the names that are known', async (_, body, user) => {
    const refused: CallRecord[] = []
    const { gateway } = open(
      CHAT,
      { attributions: endUsers, script: { refusals: { note: (call) => void refused.push(call) } } },
      [],
    )
    const headers = { 'x-session-id': 's1', 'content-type': 'application/json' }
    await gateway.ask({ path: CHAT, headers, body })
    const [record] = [...gateway.ledger.records, ...refused]
    expect(record && namesOf(record)).toEqual({
      session: session('s1'),
      ...(user === undefined ? {} : { user }),
    })
  })
})

describe('the published agents', () => {
  const WITH_SESSIONS = ['claude-code', 'codex', 'opencode']
  const calls = readAgentFixtures()
    .filter(({ agent: id }) => WITH_SESSIONS.includes(id))
    .flatMap(({ agent: id, calls }) => calls.map((call) => [id, call] as const))

  test('all have recorded calls', () => {
    expect(new Set(calls.map(([id]) => id))).toEqual(new Set(WITH_SESSIONS))
  })

  const mainCalls = calls.filter(([, { run }]) => run !== SUBAGENT_RUN)
  test.each(mainCalls)('%s names its session without configuration', async (_, call) => {
    const [record, noted] = await recordOf(call)
    expect(record?.session).toStartWith('session(key_caller/')
    expect(record?.agent).toBeUndefined()
    expect(record?.user).toBeUndefined()
    expect(noted).toEqual([])
  })

  test.each(WITH_SESSIONS)('the subagents of %s share the session of their parent', async (id) => {
    const records: (CallRecord | undefined)[] = []
    for (const [agentId, call] of calls)
      if (agentId === id && call.run === SUBAGENT_RUN) records.push((await recordOf(call))[0])
    const [session, ...others] = new Set(records.map((record) => record?.session))
    expect([session, others]).toEqual([expect.stringContaining('session(key_caller/'), []])
    const agents = new Set(records.map((record) => record?.agent))
    expect(agents.has(undefined)).toBe(true)
    expect(agents.size).toBeGreaterThan(1)
    for (const record of records)
      if (record?.parentAgent !== undefined) expect(agents).toContain(record.parentAgent)
    const nested = records.some((record) => record?.parentAgent !== undefined)
    // Claude Code's subagents start subagents.
    expect(nested).toBe(id === 'claude-code')
    expect(records.every((record) => record?.user === undefined)).toBe(true)
  })

  async function recordOf({ path, headers, body }: AgentCall) {
    const { model, stream: isStream = false } = JSON.parse(body) as {
      readonly model: string
      readonly stream?: boolean
    }
    const script = {
      gates: { [model]: [TARGETS[path] ?? ''] },
      bodyLimits: { maxBodyBytes: 1024 * 1024 },
    }
    const answer = isStream ? stream(STREAMS[path] ?? []) : ANSWERS[path]
    const { gateway, attributions } = open(path, { script }, answer === undefined ? [] : [answer])
    expect((await gateway.ask({ path, headers, body })).status).toBe(200)
    return [gateway.ledger.records[0], attributions.noted] as const
  }
})

test('no sent name ever counts for a member or is stored while end users are off', async () => {
  const anyName = fc.oneof(
    fc.string({ minLength: 1, maxLength: 300 }),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 9 }),
  )
  await fc.assert(
    fc.asyncProperty(anyName, fc.boolean(), async (name, isOn) => {
      const members = ['user_ann', name]
      const { gateway, attributions } = open(
        CHAT,
        { attributions: { settings: { endUsers: isOn }, tags: { team: members } } },
        [json(200, CHAT_JSON)],
      )
      await gateway.ask({ path: CHAT, body: { ...CHAT_BODY, user: name } })
      const [record] = gateway.ledger.records
      if (isOn && isEndUserName(name)) expect(record?.user).toBe(`end:user(${name})`)
      else expect(record?.user).toBeUndefined()
      expect(record?.tags).toBeUndefined()
      if (!isOn) expect(attributions.noted).toEqual([])
    }),
    { numRuns: 50 },
  )
})
