/** Tests that share a database must each find it as a new database. */
import { describe, expect, test } from 'bun:test'
import { databases, type TestDatabase, withTestStore } from './databases.ts'
import { pollUntil } from './poll-until.ts'

describe.each(databases)('on $name', (kind) => {
  test('a reused database equals a new one, whatever was done to it', async () => {
    const fresh = await kind.create({ own: true })
    const expected = await contentsOf(fresh)
    await fresh.remove()
    const used = await kind.create()
    expect(await contentsOf(used)).toEqual(expected)
    await used.run("UPDATE accounts SET name = 'renamed'")
    await used.run("INSERT INTO accounts (id, name, created_at) VALUES ('acct_other', 'other', 1)")
    await used.run(
      "INSERT INTO api_keys (id, account_id, name, sha256, masked_prefix, created_at) VALUES ('key_1', 'acct_other', 'one', 'ab', 'sk', 1)",
    )
    await used.run("DELETE FROM kysely_migration WHERE name LIKE '0001%'")
    await used.remove()
    const again = await kind.create()
    expect(await contentsOf(again)).toEqual(expected)
    await again.remove()
  })

  test('two at once are separate', async () => {
    await withTestStore(kind, async (_, one) => {
      await withTestStore(kind, async (__, other) => {
        await one.run("UPDATE accounts SET name = 'renamed'")
        expect(await other.run('SELECT name FROM accounts')).toEqual([{ name: 'Default account' }])
      })
    })
  })

  test('an own database may be changed in any way', async () => {
    const own = await kind.create({ own: true })
    await own.run('DROP TABLE gates')
    await own.remove()
    const next = await kind.create()
    expect(await next.run('SELECT id FROM gates')).toEqual([])
    await next.remove()
  })

  async function contentsOf(database: TestDatabase): Promise<Record<string, unknown>> {
    const tables = await database.run<{ name: string }>(
      kind.name === 'SQLite'
        ? "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        : "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename",
    )
    const contents: Record<string, unknown> = {}
    for (const { name } of tables) contents[name] = await database.run(`SELECT * FROM ${name}`)
    expect(Object.keys(contents).length).toBeGreaterThan(15)
    return contents
  }
})

describe.each(databases.filter(({ name }) => name === 'Postgres'))('on $name', (kind) => {
  test('a schema change of a shared database fails its test, and the next one finds the original schema', async () => {
    const changed = await kind.create()
    await changed.run('ALTER TABLE gates ADD COLUMN colour text')
    await expect(changed.remove()).rejects.toThrow('create({ own: true })')
    const next = await kind.create()
    expect(
      await next.run("SELECT 1 FROM information_schema.columns WHERE column_name = 'colour'"),
    ).toEqual([])
    await next.remove()
  })

  test('a connection left open, in a transaction too, delays no test and writes nothing later', async () => {
    const left = await kind.create()
    const outcome = left.run("BEGIN; UPDATE accounts SET name = 'left'; SELECT pg_sleep(60)").then(
      () => 'answered',
      () => 'ended',
    )
    await pollUntil('the statement', async () => {
      const running = await left.run(
        "SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'BEGIN; UPDATE%'",
      )
      return running.length > 0
    })
    await left.remove()
    expect(await outcome).toBe('ended')
    const next = await kind.create()
    expect(await next.run('SELECT name FROM accounts')).toEqual([{ name: 'Default account' }])
    await next.remove()
  })
})
