/**
 * A connection to Postgres that the server ends while it is in use, between two statements: a
 * failure of its user alone.
 */
import { describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { databases } from '../../../test/support/databases.ts'
import { pollUntil } from '../../../test/support/poll-until.ts'
import { openDatabase } from './open-database.ts'

describe.each(databases.filter(({ name }) => name === 'Postgres'))('on %p', (kind) => {
  test("a broken connection fails its user's next statement, and the next user gets another one", async () => {
    const own = await kind.create({ empty: true })
    const database = await openDatabase(own.location)
    try {
      const broken = database.connection().execute(async (connection) => {
        const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(
          connection,
        )
        const pid = rows[0]?.pid
        await own.run(`SELECT pg_terminate_backend(${pid})`)
        for (;;) {
          await sql`SELECT 1`.execute(connection)
          await Bun.sleep(5)
        }
      })
      await expect(broken).rejects.toThrow()
      const { rows } = await sql`SELECT 1 AS one`.execute(database)
      expect(rows).toEqual([{ one: 1 }])
    } finally {
      await database.destroy()
      await own.remove()
    }
  })

  test('a transaction reports its first failure, and not that of its rollback', async () => {
    const own = await kind.create({ empty: true })
    const database = await openDatabase(own.location)
    try {
      const broken = database.transaction().execute(async (transaction) => {
        const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(
          transaction,
        )
        await own.run(`SELECT pg_terminate_backend(${rows[0]?.pid})`)
        for (;;) {
          await sql`SELECT 1`.execute(transaction)
          await Bun.sleep(5)
        }
      })
      await expect(broken).rejects.toMatchObject({ name: 'DatabaseUnreachableError' })
    } finally {
      await database.destroy()
      await own.remove()
    }
  })

  test('a broken connection does not end the process while its user is busy elsewhere', async () => {
    const own = await kind.create({ empty: true })
    const database = await openDatabase(own.location)
    try {
      await database.connection().execute(async (connection) => {
        const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(
          connection,
        )
        const pid = rows[0]?.pid
        await own.run(`SELECT pg_terminate_backend(${pid})`)
        await pollUntil('the end of the session', async () => {
          const there = await own.run(`SELECT pid FROM pg_stat_activity WHERE pid = ${pid}`)
          return there.length === 0
        })
        // Time for events while no query runs.
        await Bun.sleep(50)
        await expect(sql`SELECT 1`.execute(connection)).rejects.toThrow()
      })
      await sql`SELECT 1`.execute(database)
    } finally {
      await database.destroy()
      await own.remove()
    }
  })
})
