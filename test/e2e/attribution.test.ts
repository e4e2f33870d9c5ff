/**
 * Attribution with the real program: members, teams, tags and sessions in the log, their names in
 * the store, and no trace of end users while an account has not switched them on.
 */
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Browser } from '../support/browser.ts'
import { controlPlaneCall, createKey, waitForLogRow } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { runCli } from '../support/run-cli.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

setDefaultTimeout(180_000)

const SECRET_USER = 'planted-end-user-4711'
const password = 'correct horse battery staple'

let server: Gatehouse
/** The first owns the data folder. */
const started: Gatehouse[] = []
async function start(options: { readonly key?: string; readonly dataFolder?: string } = {}) {
  server = await startGatehouse({ ...options, sandbox: true })
  started.push(server)
}
beforeEach(async () => {
  await start()
  await send('PATCH', '/v1/account/attribution', { peopleFigures: 'administrators' })
})
afterEach(async () => {
  for (const one of started.splice(0).reverse()) await one.remove()
})

type Row = Readonly<Record<'user' | 'session' | 'agent' | 'tags', string | null>>

/** Makes a call, and returns its row of the log. */
async function call(
  headers: Record<string, string> = {},
  { key = server.key, body = {} }: { readonly key?: string; readonly body?: object } = {},
): Promise<Row> {
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'hi' }], ...body }),
  })
  expect(response.status).toBe(200)
  await response.arrayBuffer()
  const id = response.headers.get('x-request-id') ?? ''
  return (await waitForLogRow(server, id)) as unknown as Row
}

async function send<Body>(method: string, path: string, body?: object): Promise<Body> {
  const response = await controlPlaneCall(server, method, path, body)
  expect(response.ok).toBe(true)
  return (await response.json()) as Body
}

/** The stored names, after the server wrote them as it ended. */
async function namesAfterStop(): Promise<readonly (readonly string[])[]> {
  expect(await server.stop()).toBe(0)
  const database = new Database(join(server.dataFolder, 'gatehouse.db'), { readonly: true })
  const rows = database
    .query<{ kind: string; hash: string; name: string }, []>(
      'SELECT kind, hash, name FROM caller_names ORDER BY kind, name',
    )
    .all()
  database.close()
  return rows.map(({ kind, hash, name }) => [kind, hash, name])
}

function filesThatHold(text: string): readonly string[] {
  return readdirSync(server.dataFolder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text))
}

test('a member, the member’s team, tags and a session are in the log, and their names in the store', async () => {
  const browser = new Browser(server.url)
  const joined = (await browser.json('/v1/auth/sign-up', 201, {
    method: 'POST',
    body: { email: 'ann@example.test', name: 'Ann', password },
    headers: { authorization: `Bearer ${server.key}` },
  })) as { user: { id: string } }
  const ann = joined.user.id
  const team = await send<{ id: string }>('POST', '/v1/tags', { name: 'team-a', members: [ann] })
  await send('POST', '/v1/tags', { name: 'repo' })
  const key = await createKey(server, 'ci')
  await send('PATCH', `/v1/keys/${key.id}`, { user: ann, tags: ['repo:gatehouse'] })

  const headers = { 'x-gatehouse-session': 's1', 'x-gatehouse-tags': 'repo:other' }
  const row = await call(headers, { key: key.key })
  expect(row.user).toBe(ann)
  expect(row.session).toMatch(/^[0-9a-f]{16}$/)
  const [fixed, teams, sent] = row.tags?.split(' ') ?? []
  // The same session of another key is another session.
  expect((await call(headers)).session).not.toBe(row.session)

  await send('PATCH', `/v1/tags/${team.id}`, { members: [] })
  const later = await call(headers, { key: key.key })
  expect(later).toMatchObject({ user: ann, session: row.session, tags: `${fixed} ${sent}` })
  expect(await namesAfterStop()).toEqual([
    ['tag', fixed ?? '', 'repo:gatehouse'],
    ['tag', sent ?? '', 'repo:other'],
    ['tag', teams ?? '', 'team-a'],
    ['user', ann, 'Ann'],
  ])
})

test('the playground counts for the member who uses it', async () => {
  const browser = new Browser(server.url)
  const { user } = (await browser.json('/v1/auth/sign-up', 201, {
    method: 'POST',
    body: { email: 'ann@example.test', name: 'Ann', password },
    headers: { authorization: `Bearer ${server.key}` },
  })) as { user: { id: string } }
  const answer = await browser.send('/v1/playground', {
    method: 'POST',
    body: { gateId: 'demo', stream: false, messages: [{ role: 'user', content: 'hi' }] },
  })
  const id = answer.headers.get('x-request-id') ?? ''
  expect([answer.status, id]).toEqual([200, expect.stringMatching(/^req_/)])
  await answer.body?.cancel()
  expect((await waitForLogRow(server, id)) as unknown as Row).toMatchObject({ user: user.id })
})

test('an end user leaves no trace while end users are off, and a hash with a name once they are on', async () => {
  const headers = { 'x-gatehouse-user': SECRET_USER }
  const body = { user: SECRET_USER, safety_identifier: SECRET_USER }
  expect((await call(headers, { body })).user).toBeNull()
  expect(await namesAfterStop()).toEqual([])
  expect(server.output()).not.toContain(SECRET_USER)
  expect(filesThatHold(SECRET_USER)).toEqual([])

  const { key, dataFolder } = server
  await start({ key, dataFolder })
  const switched = await runCli(['account', 'attribution', '--end-users', 'on'], {
    environment: { GATEHOUSE_URL: server.url, GATEHOUSE_API_KEY: key },
  })
  expect(switched.stdout).toMatch(/^end users +on$/m)
  const { user } = await call(headers)
  expect(user).toMatch(/^end:[0-9a-f]{16}$/)
  expect((await call({}, { body })).user).toBe(user)
  expect(await namesAfterStop()).toEqual([['user', user ?? '', SECRET_USER]])
  expect(server.output()).not.toContain(SECRET_USER)
})

test('an end user is exported and erased by name, and all are by a new hash key', async () => {
  const run = (...words: string[]) =>
    runCli(words, { environment: { GATEHOUSE_URL: server.url, GATEHOUSE_API_KEY: server.key } })
  await run('account', 'attribution', '--end-users', 'on', '--people-figures', 'administrators')
  const name = `${SECRET_USER}/ä`
  const sent = Buffer.from(name).toString('latin1')
  const { user } = await call({ 'x-gatehouse-user': sent, 'x-gatehouse-session': 's1' })
  // The name is written some seconds after the call.
  const exported = await pollUntil('the name in the export', async () => {
    const answer = await run('end-users', 'export', name)
    return answer.stdout.includes(`"name":"${name}"`) ? answer : undefined
  })
  expect(JSON.parse(exported.stdout)).toMatchObject({
    user,
    calls: [{ user }],
    days: [{ calls: 1 }],
  })

  const erased = await run('end-users', 'erase', name, '--yes')
  expect(erased.stdout).toBe('Erased. Moved to (erased): calls 1, sessions 1, days 1.\n')
  expect(erased.stderr).toContain('Not erased: backups of the database')
  expect((await run('end-users', 'export', name)).exitCode).not.toBe(0)
  expect((await run('usage', '--by', 'user')).stdout).toContain('(erased)')

  for (const dots of ['.', '..']) {
    await call({ 'x-gatehouse-user': dots })
    const ofDots = async () =>
      (await run('end-users', 'export', dots)).stdout.includes('"calls":[{')
    await pollUntil(`the export of ${dots}`, async () => await ofDots())
    expect((await run('end-users', 'erase', dots, '--yes')).stdout).toContain('calls 1')
  }

  const other = await call({ 'x-gatehouse-user': 'customer-2' })
  const unasked = await run('end-users', 'erase-all')
  expect([unasked.exitCode, unasked.stderr]).toEqual([
    2,
    'gatehouse: Nothing was erased. Without a terminal, give --yes to confirm.\n',
  ])
  expect((await call({ 'x-gatehouse-user': 'customer-2' })).user).toBe(other.user)
  expect((await run('end-users', 'erase-all', '--yes')).stdout).toContain('new hash key')
  expect((await call({ 'x-gatehouse-user': 'customer-2' })).user).not.toBe(other.user)
  expect((await namesAfterStop()).map(([, , stored]) => stored)).toEqual(['customer-2'])
  expect(server.output()).not.toContain(SECRET_USER)
})
