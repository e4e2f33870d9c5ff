/** `gatehouse usage` with more groups than one answer holds. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { runCliInProcess } from '../../test/support/run-cli-in-process.ts'
import { seedCallerNames, seedKeys, seedPlannedCalls } from '../../test/support/seed-calls.ts'
import { createTemporaryFolder } from '../../test/support/temporary-folder.ts'
import { createCallRecord } from '../ledger/call-record.fixture.ts'
import { openStore } from '../store/open-store.ts'

setDefaultTimeout(120_000)

const KEYS = 5_000
const keyOf = (index: number) => `key_${String(index).padStart(4, '0')}`
const nameOf = (index: number) => `Team ${index}`

test('a chargeback has every one of 5,000 keys with its name, the dearest first', async () => {
  const folder = await createTemporaryFolder()
  const startedAt = Date.now() - 86_400_000
  const indexes = Array.from({ length: KEYS }, (_, index) => index)
  // The first keys have names in the store; the others were deleted.
  await seedKeys(
    folder.path,
    new Map(indexes.slice(0, 1_500).map((index) => [keyOf(index), nameOf(index)])),
  )
  await seedPlannedCalls(
    folder.path,
    indexes.map((index) => ({
      startedAt,
      gate: 'demo',
      keyId: keyOf(index),
      costFactor: KEYS - index,
    })),
  )
  const environment = { GATEHOUSE_DATA_DIR: folder.path }
  const words = ['usage', '--by', 'key', '--order', 'cost']
  const all = await runCliInProcess([...words, '--limit', '100000', '--csv'], { environment })
  const few = await runCliInProcess([...words, '--limit', '2'], { environment })
  const json = await runCliInProcess([...words, '--limit', '1001', '--json'], { environment })
  await folder.remove()

  expect(all).toMatchObject({ exitCode: 0, stderr: '' })
  const lines = all.stdout.trimEnd().split('\r\n')
  expect(lines).toHaveLength(KEYS + 1)
  expect(lines[0]).toStartWith('key,key_id,calls,errors,error_rate,input_tokens,')
  expect(lines[1]).toStartWith(`${nameOf(0)},${keyOf(0)},1,0,0,1200,`)
  expect(lines.slice(1).map((line) => line.split(',')[1])).toEqual(indexes.map(keyOf))

  expect(
    few.stdout
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/ {2,}/)[0]),
  ).toEqual([nameOf(0), nameOf(1), '(the rest)'])
  const { data } = JSON.parse(json.stdout) as {
    data: readonly { isRest: boolean; calls: number }[]
  }
  expect(data).toHaveLength(1_002)
  expect(data.at(-1)).toMatchObject({ isRest: true, calls: KEYS - 1_001 })
})

test('a bill has every one of 5,000 people, and the models of each', async () => {
  const folder = await createTemporaryFolder()
  const startedAt = Date.now() - 86_400_000
  const indexes = Array.from({ length: KEYS }, (_, index) => index)
  const idOf = (index: number) => `end:${String(index).padStart(16, '0')}`
  await seedCallerNames(
    folder.path,
    'user',
    new Map(indexes.map((index) => [idOf(index), `person-${index}@example.com`])),
  )
  await seedPlannedCalls(
    folder.path,
    indexes.map((index) => ({
      ...{ startedAt, gate: 'demo', costFactor: KEYS - index, caller: { user: idOf(index) } },
      target: index % 2 === 0 ? 'openai/gpt-5' : 'mistral/large',
    })),
  )
  const environment = { GATEHOUSE_DATA_DIR: folder.path }
  const show = ['account', 'attribution', '--people-figures', 'administrators']
  await runCliInProcess(show, { environment })
  const words = ['usage', '--by', 'user', '--order', 'cost', '--limit', '100000', '--csv']
  const people = await runCliInProcess(words, { environment })
  const models = await runCliInProcess([...words, '--then-by', 'model'], { environment })
  await folder.remove()

  expect(people).toMatchObject({ exitCode: 0, stderr: '' })
  const rows = people.stdout.trimEnd().split('\r\n')
  expect(rows[0]).toStartWith('user,user_id,calls,')
  expect(rows.slice(1).map((row) => row.split(',').slice(0, 3))).toEqual(
    indexes.map((index) => [`person-${index}@example.com`, idOf(index), '1']),
  )
  const pairs = models.stdout.trimEnd().split('\r\n')
  expect(pairs[0]).toStartWith('user,user_id,model,model_id,calls,')
  expect(pairs).toHaveLength(KEYS + 1)
  expect(pairs[2]).toStartWith(`person-1@example.com,${idOf(1)},large,large,1,`)
})

describe('the table', () => {
  const USER = `user_${'01'.repeat(16)}`
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>
  beforeAll(async () => {
    folder = await createTemporaryFolder()
    const store = await openStore({ path: join(folder.path, 'gatehouse.db') })
    const call = { startedAt: Date.now() - 3_600_000, user: USER, session: '0'.repeat(16) }
    const failed = { ...call, outcome: 'failed' } as const
    const refused = { ...failed, status: 429, errorKind: 'quota_exceeded', attempts: 0 } as const
    await store.calls.insertMany([
      createCallRecord(call),
      createCallRecord({ ...failed, status: 502, errorKind: 'upstream_error' }),
      ...[1, 2, 3].map(() => createCallRecord({ ...refused, target: null, usage: null })),
    ])
    await store.close()
    await run('account', 'attribution', '--people-figures', 'administrators')
  })
  afterAll(() => folder.remove())

  const run = (...words: readonly string[]) =>
    runCliInProcess(words, { environment: { GATEHOUSE_DATA_DIR: folder.path } })
  const tableOf = async (...words: readonly string[]) => {
    const { stdout } = await run('usage', ...words)
    return stdout.split('\n').map((line) => line.trim().split(/ {2,}/))
  }

  test('has refused calls in a column of their own, as the dashboard counts them', async () => {
    const [heads, row] = await tableOf('--by', 'gate')
    expect(heads).toEqual(expect.arrayContaining(['CALLS', 'ERRORS', 'REFUSED', 'P50']))
    expect(row?.slice(0, 4)).toEqual(['support', '5', '1', '3'])
    const csv = (await run('usage', '--by', 'gate', '--csv')).stdout.split('\r\n')
    expect(csv[1]).toStartWith('support,support,5,1,0.5,')
    expect((await tableOf('--by', 'target'))[2]?.slice(0, 3)).toEqual(['openai/gpt-5', '2', '1'])
  })

  test.each(['user', 'tag', 'session', `model --user ${USER}`, 'user --then-by model'])(
    'has no columns of latencies by %s',
    async (by) => {
      const [heads, row] = await tableOf('--by', ...by.split(' '))
      expect(heads?.some((head) => /P50|P95/.test(head))).toBe(false)
      expect(heads?.slice(-2).join()).toMatch(/COST,ID|OUT,COST/)
      expect(row?.at(-1)).not.toContain('…')
      expect(row?.length).toBeGreaterThan(4)
    },
  )

  test.each(['day', 'month'])('is a file by %s too, with the begin of each step', async (by) => {
    const { stdout } = await run('usage', '--by', by, '--csv')
    const [heads = '', row = '', ...rest] = stdout.trimEnd().split('\r\n')
    expect(heads).toStartWith(`${by},calls,errors,error_rate,`)
    expect(row).toMatch(by === 'day' ? /^\d{4}-\d\d-\d\d,5,1,0.5,/ : /^\d{4}-\d\d-01,5,1,0.5,/)
    expect(rest).toEqual([])
  })

  test('keeps the columns of the file, with empty latencies where none are known', async () => {
    const heads = async (by: string) =>
      (await run('usage', '--by', by, '--csv')).stdout.split('\r\n')[0]?.split(',').slice(2)
    expect(await heads('user')).toEqual((await heads('gate')) ?? [])
    expect(await heads('user')).toContain('duration_p50_ms')
  })
})

test('a second dimension needs a first one', async () => {
  expect(await runCliInProcess(['usage', '--then-by', 'model'], { environment: {} })).toMatchObject(
    { exitCode: 2, stderr: expect.stringContaining('--then-by needs --by') },
  )
})
