/**
 * `gatehouse users` as an operator uses it: with and without a server on the data folder, and
 * against a server far away.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { Browser } from '../support/browser.ts'
import { runCli } from '../support/run-cli.ts'
import { runCliInProcess } from '../support/run-cli-in-process.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

const password = 'correct horse battery staple'
let server: Gatehouse
let local: Record<string, string>

beforeAll(async () => {
  server = await startGatehouse()
  local = { GATEHOUSE_DATA_DIR: server.dataFolder }
})
afterAll(() => server.remove())

const run = (words: readonly string[], environment: Record<string, string>, input = '') =>
  runCliInProcess(['users', ...words], { environment, input })

test('the first user is invited, listed and given a new password that ends sessions, beside a server', async () => {
  const invited = await runCli(['users', 'invite', 'Owner@example.test'], { environment: local })
  expect(invited).toMatchObject({ exitCode: 0 })
  const [, invitation = ''] = /^(?:http:\S+)#invitation=(\S+)\n$/.exec(invited.stdout) ?? []
  // The page that names the account: at the same address as in the link that the interface answers.
  expect(invited.stdout).toStartWith(`${server.url}/dashboard/sign-up#`)

  const browser = new Browser(server.url)
  const body = { email: 'owner@example.test', name: 'Owner', password, invitation }
  const session = await browser.json('/v1/auth/sign-up', 201, { method: 'POST', body })
  expect(session).toMatchObject({ role: 'owner', account: { id: 'acct_default' } })

  const listed = await run(['list', '--json'], local)
  expect(JSON.parse(listed.stdout)).toEqual([
    expect.objectContaining({
      email: 'owner@example.test',
      role: 'owner',
      accountId: 'acct_default',
    }),
  ])
  const next = 'quite another passphrase'
  expect(await run(['reset-password', 'owner@example.test'], local, 'short')).toMatchObject({
    exitCode: 2,
  })
  expect(await run(['reset-password', 'who@example.test'], local, next)).toMatchObject({
    exitCode: 4,
  })
  const reset = await runCli(['users', 'reset-password', 'Owner@example.test'], {
    environment: local,
    input: `${next}\n`,
  })
  expect(reset).toMatchObject({ exitCode: 0 })
  expect(reset.stdout + reset.stderr).not.toContain(next)
  expect((await browser.send('/v1/session')).status).toBe(401)
  const signIn = (given: string) =>
    browser.send('/v1/auth/sign-in', {
      method: 'POST',
      body: { email: 'owner@example.test', password: given },
    })
  expect((await signIn(password)).status).toBe(401)
  expect((await signIn(next)).status).toBe(200)
})

test('a remote server’s users are listed and invited with a key, and get no passwords', async () => {
  const remote = { GATEHOUSE_URL: server.url, GATEHOUSE_API_KEY: server.key }
  const invited = await run(['invite', 'guest@example.test', '--json'], remote)
  expect(JSON.parse(invited.stdout)).toMatchObject({ email: 'guest@example.test', status: 'open' })
  expect((await run(['list'], remote)).stdout).toContain('owner@example.test')
  expect(await run(['reset-password', 'owner@example.test'], remote, password)).toMatchObject({
    exitCode: 2,
  })
})

test('a member is stopped and started by the email address, the owner is not', async () => {
  const remote = { GATEHOUSE_URL: server.url, GATEHOUSE_API_KEY: server.key }
  const email = 'jane@example.test'
  const invitation = (await run(['invite', email], remote)).stdout.trim().split('=')[1]
  const jane = new Browser(server.url)
  const body = { email, name: 'Jane', password, invitation }
  const { user } = (await jane.json('/v1/auth/sign-up', 201, { method: 'POST', body })) as {
    user: { id: string }
  }
  expect(await run(['stop', 'Jane@example.test', '--reason', 'On leave.'], remote)).toMatchObject({
    ...{ exitCode: 0, stdout: `Stopped ${user.id}.\n` },
  })
  const refused = await jane.send('/v1/session')
  expect([refused.status, await refused.text()]).toEqual([
    403,
    expect.stringContaining('stopped by an administrator. Reason: On leave.'),
  ])
  expect(await run(['start', email], remote)).toMatchObject({ exitCode: 0 })
  expect((await jane.send('/v1/session')).status).toBe(200)
  expect((await run(['stop', 'owner@example.test'], remote)).exitCode).toBe(5)
  expect((await run(['stop', 'who@example.test'], remote)).exitCode).toBe(4)
  expect((await run(['stop', 'user_none'], remote)).exitCode).toBe(4)
})

test('a token and a key get their member by the email address or the name', async () => {
  const environment = { GATEHOUSE_URL: server.url, GATEHOUSE_API_KEY: server.key }
  const ofMember = async (...words: readonly string[]) => {
    const made = await runCliInProcess([...words, '--json'], { environment })
    return made.exitCode === 0 ? JSON.parse(made.stdout) : made.exitCode
  }
  const token = await ofMember('tokens', 'create', 'a', '--owner-member', 'Jane@example.test')
  const jane = { type: 'member', id: expect.stringMatching(/^user_/) }
  expect(token.owner).toEqual(jane)
  const update = ['tokens', 'update', token.id, '--owner-member']
  expect((await ofMember(...update, 'Jane')).owner).toEqual(jane)
  expect(await ofMember(...update, 'Nobody')).toBe(4)
  expect((await ofMember('keys', 'create', 'b', '--user', 'Jane')).user).toBe(token.owner.id)
  const team = await ofMember('tags', 'create', 'team', '--members', 'jane@example.test')
  expect(team.members).toEqual([token.owner.id])
  const shown = (words: readonly string[]) => runCliInProcess(words, { environment })
  expect((await shown(['tags', 'show', 'team'])).stdout).toMatch(/^members +jane@example\.test$/m)
  expect((await shown(['tags', 'list'])).stdout).toMatch(/^tag_\w+ +1 +team$/m)
  expect((await shown(['tokens', 'list'])).stdout).toMatch(/ jane@example\.test .* a$/m)
  expect((await shown(['tokens', 'show', token.id])).stdout).toMatch(/^owner +jane@example\.test$/m)
  const unknown = ['tags', 'update', team.id, '--members', 'zoe@example.test']
  expect(await runCliInProcess(unknown, { environment })).toMatchObject({
    ...{
      exitCode: 1,
      stderr: expect.stringContaining("members[0]: 'zoe@example.test' is not the"),
    },
  })
})

test('an invitation without a server creates the missing files', async () => {
  const folder = await createTemporaryFolder()
  try {
    const environment = { GATEHOUSE_DATA_DIR: folder.path }
    const invited = await run(['invite', 'first@example.test'], environment)
    expect(invited.stdout).toMatch(/^inv-[0-9a-f]{64}\n$/)
    expect(JSON.parse((await run(['list', '--json'], environment)).stdout)).toEqual([])
    expect(await run(['invite', 'no address'], environment)).toMatchObject({ exitCode: 2 })
  } finally {
    await folder.remove()
  }
})
