/** `gatehouse usage sessions` and `gatehouse usage export`, whose options `usage` has too. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { runCliInProcess } from '../../test/support/run-cli-in-process.ts'
import { createTemporaryFolder } from '../../test/support/temporary-folder.ts'
import { createCallRecord } from '../ledger/call-record.fixture.ts'
import { openStore } from '../store/open-store.ts'

setDefaultTimeout(60_000)

const AN_HOUR_AGO = Date.now() - 3_600_000
const DAY_MS = 86_400_000
let folder: Awaited<ReturnType<typeof createTemporaryFolder>>

beforeAll(async () => {
  folder = await createTemporaryFolder()
  const store = await openStore({ path: join(folder.path, 'gatehouse.db') })
  await store.calls.insertMany(
    Array.from({ length: 8 }, (_, index) =>
      createCallRecord({
        startedAt: AN_HOUR_AGO - index * DAY_MS,
        session: `${index}`.repeat(16),
        user: `user_${index % 2}`,
        ...(index === 6 && { target: null, outcome: 'failed', status: 404 }),
        cost: { nanoUsd: 1_000_000 * (index % 4), status: 'exact', source: 'reported' },
      }),
    ),
  )
  await store.usage.noteCallsDeletedBefore(Date.now() - 30 * DAY_MS)
  await store.close()
})
afterAll(() => folder.remove())

async function run(...words: readonly string[]) {
  return await runCliInProcess(words, { environment: { GATEHOUSE_DATA_DIR: folder.path } })
}

test('people are hidden until the account says otherwise', async () => {
  const refused = await run('usage', '--by', 'user')
  expect([refused.exitCode, refused.stderr]).toEqual([
    3,
    expect.stringContaining('peopleFigures of /v1/account/attribution is "hidden"'),
  ])
  const wrong = await run('account', 'attribution', '--people-figures', 'all')
  expect([wrong.exitCode, wrong.stderr]).toEqual([
    2,
    expect.stringContaining('hidden, owner, administrators'),
  ])
  const { stdout } = await run('account', 'attribution', '--people-figures', 'administrators')
  expect(stdout).toMatch(/^people figures +administrators$/m)
  expect((await run('usage', '--by', 'user')).stdout).toContain('user_1')
})

test('people are searched; other groups have no search', async () => {
  const { stdout } = await run('usage', '--by', 'user', '--search', 'user_1')
  expect([stdout.includes('user_1'), stdout.includes('user_0')]).toEqual([true, false])
  expect(await run('usage', '--by', 'gate', '--search', 'x')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('--search needs --by user or --by tag'),
  })
})

const idsOf = ({ stdout }: { readonly stdout: string }) =>
  (JSON.parse(stdout) as { id: string }[]).map(({ id }) => id[0])

test('sessions are ranked, limited and filtered', async () => {
  expect(idsOf(await run('usage', 'sessions', '--json'))).toEqual([...'01234567'])
  const dearest = await run('usage', 'sessions', '--order', 'cost', '--limit', '2', '--json')
  expect(idsOf(dearest)).toEqual(['7', '3'])
  const from = new Date(AN_HOUR_AGO - 3 * DAY_MS - 1).toISOString()
  const some = await run('usage', 'sessions', '--user', 'user_1', '--from', from, '--json')
  expect(idsOf(some)).toEqual(['1', '3'])
  const ofMember = await run('usage', 'sessions', '--user', 'user_1', '--json')
  expect(idsOf(ofMember)).toEqual([...'1357'])
  const first = (await run('usage', 'sessions', '--limit', '1')).stdout
  expect([first.includes('0000000000000000'), first.includes('REFUSED')]).toEqual([true, false])
  const { stdout } = await run('usage', 'sessions')
  expect(stdout).toMatch(/CALLS +ERRORS +REFUSED/)
  expect(stdout).toMatch(/ 1 +0 +1 .*6666666666666666/)
  expect(await run('usage', 'sessions', '--order', 'errors')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('--order must be one of last, cost, calls, tokens'),
  })
  expect((await run('usage', '--by', 'key', '--order', 'last')).stderr).toContain('sessions')
})

test('thirty days by session are shown although older calls were deleted a moment ago', async () => {
  const { stdout, exitCode } = await run('usage', '--by', 'session')
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('7777777777777777')])
  const from = new Date(Date.now() - 40 * DAY_MS).toISOString()
  const { stderr } = await run('usage', '--by', 'session', '--from', from)
  const earliest = /must be (\S+) or later/.exec(stderr)?.[1] ?? ''
  expect((await run('usage', '--by', 'session', '--from', earliest)).exitCode).toBe(0)
})

test('charges are exported for a range', async () => {
  const from = new Date(AN_HOUR_AGO - 3 * DAY_MS - 3_600_000).toISOString()
  const { stdout, exitCode } = await run('usage', 'export', '--focus', '--from', from)
  expect(exitCode).toBe(0)
  const [head, ...rows] = stdout.trimEnd().split('\r\n')
  expect(head).toStartWith('BilledCost,BillingAccountId,')
  expect(rows.map((row) => row.split(',')[0]).sort()).toEqual([
    '0.000000000',
    '0.000000000',
    '0.000000000',
    '0.001000000',
    '0.002000000',
    '0.003000000',
  ])
  expect((await run('usage', 'export')).stderr).toContain('give --focus')
})
