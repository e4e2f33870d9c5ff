/**
 * `gatehouse account`, `budgets` and `webhooks`, as a person or a script uses them on a local
 * folder.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCli } from '../support/run-cli.ts'
import { runCliInProcess } from '../support/run-cli-in-process.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

let folder: TemporaryFolder
beforeAll(async () => {
  folder = await createTemporaryFolder()
})
afterAll(() => folder.remove())

const run = (words: readonly string[], input = '', how: typeof runCli = runCliInProcess) =>
  how(words, { environment: { GATEHOUSE_DATA_DIR: folder.path }, input })

test('account shows the plan and the usage', async () => {
  const { stdout, stderr, exitCode } = await run(['account'], '', runCli)
  expect(exitCode).toBe(0)
  expect(stderr).toContain('Calls that the account pays for itself are not included')
  expect(stdout).toMatch(/^plan +unlimited$/m)
  expect(stdout).toMatch(/^each key +no limits$/m)
  expect(stdout).toMatch(/^tokens +0 used of any number$/m)
  expect(JSON.parse((await run(['account', '--json'])).stdout)).toMatchObject({ plan: 'unlimited' })
})

test('account shows the plan of the configuration file, if there is one', async () => {
  const path = join(folder.path, 'gatehouse.yaml')
  await writeFile(path, 'plans: {accounts: {acct_default: pro}}\n')
  const { stdout } = await run(['account', '--json'])
  await rm(path)
  expect(JSON.parse(stdout)).toMatchObject({ plan: 'pro', limits: { requestsPerMinute: 1000 } })
})

test('a budget for each key says that it sends no alerts', async () => {
  const create = ['budgets', 'create', '--scope', 'each-key', '--usd', '5', '--period', 'day']
  const { stdout } = await run([...create, '--alert-at', '0.5'])
  expect(stdout).toMatch(/^alerts +none: each-key budgets send no alerts$/m)
  const id = /^id +(\S+)$/m.exec(stdout)?.[1] ?? ''
  expect((await run(['budgets', 'delete', id, '--yes'])).exitCode).toBe(0)
})

test('the heads of a budget are listed, or one of them', async () => {
  await run(['gates', 'create', 'counted', '--target', 'sandbox/echo'])
  const create = ['budgets', 'create', '--scope', 'each-key', '--tokens', '1000', '--period', 'day']
  const { id } = JSON.parse((await run([...create, '--json'])).stdout) as { id: string }
  expect((await run(['call', 'counted', 'Hello'])).exitCode).toBe(0)
  const list = async (...words: string[]) => {
    const { stdout } = await run(['budgets', 'heads', id, '--json', ...words])
    return (JSON.parse(stdout) as { id: string }[]).map((head) => head.id)
  }
  const [key = '', ...others] = await list()
  expect(others).toEqual([])
  expect(await list('--key', key)).toEqual([key])
  expect(await list('--key', 'key_0')).toEqual([])
  expect(await run(['budgets', 'heads', id, '--user', 'end:ann'])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('user: is for budgets of the scope each-user'),
  })
  expect((await run(['budgets', 'delete', id, '--yes'])).exitCode).toBe(0)
  await run(['gates', 'delete', 'counted', '--yes'])
})

test('the switches of attribution name the budgets that count no call', async () => {
  const endUsers = ['account', 'attribution', '--end-users']
  const create = ['budgets', 'create', '--end-user', 'bob', '--usd', '5', '--period', 'day']
  expect(await run(create)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('endUser: would count no call'),
  })
  expect((await run([...endUsers, 'on'])).stderr).toBe('')
  const { id } = JSON.parse((await run([...create, '--json'])).stdout) as { id: string }
  const note = `The budget bob (${id}) counts no call, because the account does not record end users.\n`
  expect(await run([...endUsers, 'off'])).toMatchObject({ exitCode: 0, stderr: note })
  expect((await run(['account', 'attribution', '--json'])).stderr).toBe(note)
  await run(['budgets', 'delete', id, '--yes'])
  expect((await run(['account', 'attribution'])).stderr).toBe('')
})

test('a budget is created, used up, shown, raised and deleted', async () => {
  await run(['gates', 'create', 'try', '--target', 'sandbox/echo'])
  const made = await run([
    'budgets',
    'create',
    '--gate',
    'try',
    '--tokens',
    '1',
    '--period',
    'day',
    '--json',
  ])
  const { id } = JSON.parse(made.stdout) as { id: string }
  expect((await run(['call', 'try', 'Hello'])).exitCode).toBe(0)
  const refused = await run(['call', 'try', 'Hello'], '', runCli)
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(id) })
  expect((await run(['budgets', 'show', id])).stdout).toContain('calls are refused')
  expect((await run(['budgets', 'list'])).stdout).toContain('1 tokens')
  expect((await run(['budgets', 'update', id, '--tokens', '100000'])).exitCode).toBe(0)
  expect((await run(['call', 'try', 'Hello'])).exitCode).toBe(0)
  const raise = ['budgets', 'raise', id, '--until', '2100-01-01T00:00:00Z', '--json', '--by']
  const raised = await run([...raise, '20000000'])
  expect(JSON.parse(raised.stdout)).toMatchObject({ raise: { by: 20_000_000 } })
  expect(await run([...raise, '1000000000000'])).toMatchObject({
    ...{ exitCode: 1, stderr: expect.stringContaining('raise.by: must be less') },
  })
  const simulate = ['budgets', 'simulate', '--gate', 'try', '--tokens', '1', '--period', 'total']
  const simulated = await run(simulate)
  expect(simulated.stderr).not.toContain('--from')
  expect(simulated).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining('After a refusal'),
  })
  expect(simulated.stdout).toMatch(/^admitted +1 +\d+ +\$0.000000$/m)
  expect(simulated.stdout).toMatch(/^refused +1 +\d+ +\$0.000000$/m)
  const early = await run([...simulate, '--to', '2020-01-01', '--from', '2019-01-01'])
  expect(early).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^admitted +0 /m),
    stderr: expect.stringContaining(
      'no call that this budget counts in this time. Give another range with --from and --to.',
    ),
  })
  expect(JSON.parse((await run([...simulate, '--json'])).stdout)).toMatchObject({
    refused: { calls: 1 },
    heads: [{ type: 'gate', id: 'try' }],
  })
  expect(await run(['budgets', 'heads', id])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining(`gatehouse budgets show ${id}`),
  })
  expect((await run(['budgets', 'delete', id])).exitCode).toBe(0)
  expect((await run(['budgets', 'show', id])).exitCode).toBe(4)
})

test.each([
  ['a budget without a period', ['budgets', 'create', '--gate', 'try', '--tokens', '1'], 2],
  ['a budget of nothing', ['budgets', 'create', '--period', 'day', '--tokens', '1'], 2],
  ['a simulation without a limit', ['budgets', 'simulate', '--gate', 'try', '--period', 'day'], 2],
  ['a share above all', ['budgets', 'create', '--gate', 'try', '--alert-at', '2'], 2],
  ['an update of nothing', ['budgets', 'update', 'bud_1'], 2],
  ['a webhook without events', ['webhooks', 'create', 'https://hooks.example.com'], 2],
  [
    'a webhook inside',
    ['webhooks', 'create', 'http://localhost/', '--events', 'budget.exhausted'],
    1,
  ],
  ['a webhook update of nothing', ['webhooks', 'update', 'wh_1'], 2],
] as const)('%s is refused', async (_name, words, exitCode) => {
  expect(await run(words)).toMatchObject({ exitCode, stdout: '' })
})

test("a webhook's secret is generated and printed alone, or read from standard input and never shown", async () => {
  const create = [
    'webhooks',
    'create',
    'https://hooks.example.com/a',
    '--events',
    'budget.exhausted',
  ]
  const made = await run(create)
  expect(made.stdout).toMatch(/^whsec_[0-9a-f]{64}\n$/)
  const id = /wh_[0-9a-f]{32}/.exec(made.stderr)?.[0] ?? ''
  const own = await run([...create, '--secret'], 'planted-secret-0123456789\n', runCli)
  expect(own.exitCode).toBe(0)
  expect((await run([...create, '--secret'], 'short\n')).exitCode).toBe(1)
  const listed = await run(['webhooks', 'list', '--json'])
  expect(own.stdout + listed.stdout).not.toContain('planted')
  expect((await run(['webhooks', 'update', id, '--no-active'])).stdout).toMatch(/^active +no$/m)
  expect((await run(['webhooks', 'delete', id])).exitCode).toBe(0)
  expect((await run(['webhooks', 'show', id])).exitCode).toBe(4)
})
