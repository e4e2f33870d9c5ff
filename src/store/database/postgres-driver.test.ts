/**
 * Connections to Postgres that break: whoever holds one is told, the process lives, and the next
 * one is a new one.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'kysely'
import { databases } from '../../../test/support/databases.ts'
import { pollUntil } from '../../../test/support/poll-until.ts'
import { testIf } from '../../../test/support/skip-unless.ts'
import { startTcpProxy } from '../../../test/support/tcp-proxy.ts'
import { Secret } from '../../core/secret.ts'
import { DatabaseUnreachableError } from './database-unreachable-error.ts'
import { openDatabase } from './open-database.ts'
import { isDuplicate } from './sql-differences.ts'

setDefaultTimeout(60_000)

describe.each(databases.filter(({ name }) => name === 'Postgres'))('on $name', (kind) => {
  // node-postgres tells of it as an event beside the failing statements, and an event that nobody
  // hears ends the process.
  test('a connection that breaks within a transaction fails that transaction alone', async () => {
    const { location, run, remove } = await kind.create({ empty: true })
    const database = await openDatabase(location)
    try {
      const failure = await database
        .transaction()
        .execute(async (transaction) => {
          const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(
            transaction,
          )
          const [{ pid = 0 } = {}] = rows
          await run(`select pg_terminate_backend(${pid})`)
          await pollUntil('the end of the session', async () => {
            const there = await run<{ pid: number }>(
              `select pid from pg_stat_activity where pid = ${pid}`,
            )
            return there.length === 0
          })
          // Time for events while no query runs.
          await Bun.sleep(50)
          await sql`select 1`.execute(transaction)
        })
        .then(
          () => undefined,
          (error: unknown) => error,
        )
      expect(failure).toBeInstanceOf(Error)
      const { rows } = await sql<{ one: number }>`select 1 as one`.execute(database)
      expect(rows).toEqual([{ one: 1 }])
    } finally {
      await database.destroy()
      await remove()
    }
  })
})

describe.each(databases.filter(({ name }) => name === 'Postgres'))(
  'rows copied, on $name',
  (kind) => {
    test('fail with what made them fail, leave nothing, and hold up nobody after them', async () => {
      const { location, run, remove } = await kind.create()
      const database = await openDatabase(location)
      try {
        let pid = 0
        const copy = async (rows: () => AsyncGenerator<string>) =>
          await database.transaction().execute(async (transaction) => {
            const { rows: found } = await sql<{
              pid: number
            }>`select pg_backend_pid() as pid`.execute(transaction)
            pid = found[0]?.pid ?? 0
            const text =
              sql`COPY refused_hours (account_id, starts_at, gate_id, key_id, status, error_kind, calls) FROM STDIN`.compile(
                transaction,
              )
            await transaction.executeQuery({ ...text, parameters: [rows()] })
          })
        const noteOf = (id: string) => `acct_1\t0\t${id}\tkey_1\t429\t\t1\n`
        await copy(async function* () {
          yield noteOf('one')
          yield noteOf('two')
        })
        await expect(
          copy(async function* () {
            yield noteOf('three')
            throw new RangeError('no more rows')
          }),
        ).rejects.toThrow(RangeError)
        const twice = copy(async function* () {
          yield noteOf('three')
          yield noteOf('one')
        })
        expect(isDuplicate(await twice.catch((error: unknown) => error))).toBeTrue()
        const cut = copy(async function* () {
          yield noteOf('three')
          await run(`select pg_terminate_backend(${pid})`)
          for (let index = 0; index < 1_000; index += 1) {
            yield noteOf(`more_${index}`)
            await Bun.sleep(1)
          }
        })
        await expect(cut).rejects.toBeInstanceOf(DatabaseUnreachableError)
        const ids = await database
          .selectFrom('refused_hours')
          .select('gate_id as id')
          .orderBy('gate_id')
          .execute()
        expect(ids.map(({ id }) => String(id))).toEqual(['one', 'two'])
      } finally {
        await database.destroy()
        await remove()
      }
    })
  },
)

testIf(databases.length > 1, 'needs Postgres')(
  'a connection that is reset while a statement runs fails the statement, and the next one works',
  async () => {
    const created = await databases[1]?.create()
    if (created === undefined || 'path' in created.location) throw new Error('no Postgres')
    const url = new URL(created.location.postgres.url.reveal())
    const proxy = await startTcpProxy(Number(url.port))
    url.port = String(proxy.port)
    const database = await openDatabase({
      postgres: { ...created.location.postgres, url: new Secret(url.href) },
    })
    try {
      const slow = sql`SELECT pg_sleep(30)`.execute(database).then(
        () => 'answered',
        (error: unknown) => String(error),
      )
      await pollUntil('the statement', async () => {
        const running = await created.run(
          "SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT pg_sleep%'",
        )
        return running.length > 0
      })
      proxy.cut()
      expect(await slow).toContain('ECONNRESET')
      proxy.restore()
      const { rows } = await sql<{ one: number }>`SELECT 1 AS one`.execute(database)
      expect(rows).toEqual([{ one: 1 }])
    } finally {
      await database.destroy()
      await proxy.close()
      await created.remove()
    }
  },
)
