/** `gatehouse store adopt`: a data folder of a build from before the first release. */
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createEarlierLine } from '../../src/ledger/call-record.fixture.ts'
import { ADOPTED_STEPS } from '../../src/store/migrations/adopt-database.ts'
import { makeEarlier } from '../../src/store/migrations/earlier-database.fixture.ts'
import { runCliInProcess } from '../support/run-cli-in-process.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

setDefaultTimeout(60_000)

let gatehouse: Gatehouse
beforeAll(async () => {
  gatehouse = await startGatehouse({ sandbox: true })
})
afterAll(() => gatehouse.remove())

const run = (...words: string[]) =>
  runCliInProcess(words, { environment: { GATEHOUSE_DATA_DIR: gatehouse.dataFolder } })

function withFile<Result>(work: (database: Database) => Result): Result {
  const database = new Database(join(gatehouse.dataFolder, 'gatehouse.db'))
  try {
    return work(database)
  } finally {
    database.close()
  }
}

const makeFileEarlier = (steps?: readonly string[]) =>
  makeEarlier(
    {
      location: { path: join(gatehouse.dataFolder, 'gatehouse.db') },
      run: async (sql) => withFile((database) => database.query<never, []>(sql).all()),
    },
    steps,
  )

test('a folder is adopted while its server is stopped, and then serves', async () => {
  await makeFileEarlier()
  const rehearsed = await run('store', 'adopt', '--dry-run')
  expect(rehearsed.stdout).toMatch(
    /^SQLite, .*gatehouse\.db: can be adopted\..*Nothing was changed/,
  )
  const beside = await run('store', 'adopt')
  expect(beside).toMatchObject({ exitCode: 1 })
  expect(beside.stderr).toContain('is in use by the server')
  await gatehouse.stop()

  const refused = await run('gates', 'list')
  expect(refused.exitCode).not.toBe(0)
  expect(refused.stderr).toContain('run `gatehouse store adopt`')
  const examined = await run('doctor', '--json')
  expect(examined.stdout).toContain('A build from before the first release wrote the database')
  const rotated = await run('master-key', 'rotate')
  expect(rotated.stderr).toContain('run `gatehouse store adopt`')

  const segment = join(gatehouse.dataFolder, 'journal', '000000000001.journal')
  await Bun.write(segment, createEarlierLine())
  const unshipped = await run('store', 'adopt')
  expect(unshipped).toMatchObject({ exitCode: 1 })
  expect(unshipped.stderr).toContain(`not in the database yet (${segment}). Nothing was changed.`)
  await unlink(segment)

  expect((await run('store', 'adopt')).stdout).toMatch(/: adopted\. Start the server\.\n$/)
  const again = await run('store', 'adopt', '--json')
  expect(JSON.parse(again.stdout)).toMatchObject({ state: 'already adopted' })
  expect((await run('gates', 'list')).stdout).toContain('demo')
})

test('a folder with other steps is refused, by their names', async () => {
  await gatehouse.stop()
  await makeFileEarlier(ADOPTED_STEPS.slice(0, -1))
  for (const words of [
    ['store', 'adopt'],
    ['store', 'adopt', '--dry-run'],
    ['gates', 'list'],
  ]) {
    const refused = await run(...words)
    expect(refused.exitCode).toBe(1)
    expect(refused.stderr).toContain('lacks the migrations 0044_usage_sums')
  }
})
