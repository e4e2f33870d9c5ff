/**
 * What storing calls costs on SQLite and on Postgres, in batches as the shipper sends them, and what deleting the oldest
 * costs, of one table and of a table in partitions. `bun bench/store-kinds.ts [CALLS]`; Postgres as Debian packages it.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CallRecord } from '../src/core/call.ts'
import { type AccountId, createCallId, DEFAULT_ACCOUNT, type GateId, type KeyId } from '../src/core/ids.ts'
import type { StoreLocation } from '../src/store/open-database.ts'
import { openStore } from '../src/store/open-store.ts'
import { locate } from '../test/support/databases.ts'
import { type PostgresServer, startPostgres } from '../test/support/postgres-server.ts'

const BATCH = 512
const DAYS = 30
const DAY_MS = 86_400_000
/** As the retention asks for them. */
const DELETED_AT_ONCE = 200

const calls = Number(process.argv[2] ?? 200_000)
const begin = Date.UTC(2026, 0, 1)

function createCall(number: number): CallRecord {
  const place = number % 64
  return {
    id: createCallId(),
    accountId: DEFAULT_ACCOUNT,
    keyId: `key_${place % 8}` as KeyId,
    gateId: `gate-${place % 16}` as GateId,
    dialect: 'openai-chat',
    stream: place % 3 === 0,
    target: `openai/model-${place % 5}`,
    attempts: 1,
    outcome: place === 0 ? 'failed' : 'succeeded',
    status: place === 0 ? 502 : 200,
    errorKind: place === 0 ? 'upstream_error' : null,
    startedAt: begin + Math.floor((number / calls) * DAYS * DAY_MS),
    firstByteMs: 100 + place,
    durationMs: 1_000 + place * 10,
    usage: { inputTokens: 1_000 + place, outputTokens: place, cachedInputTokens: 0, reasoningTokens: 0 },
    credential: 'platform',
  }
}

function tell(what: string, figures: Readonly<Record<string, string | number>>): void {
  console.log(
    `${what.padEnd(34)}${Object.entries(figures)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')}`,
  )
}

async function measure(name: string, location: StoreLocation): Promise<void> {
  const store = await openStore(location)
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  for (let start = 0; start < calls; start += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, calls - start) }, (_, index) =>
      createCall(start + index),
    )
    await store.calls.insertMany(batch)
  }
  const elapsedMs = performance.now() - startedAt
  const { user, system } = process.cpuUsage(cpu)
  tell(`${name}: ${calls} calls inserted`, {
    'calls/s': Math.round(calls / (elapsedMs / 1000)),
    'own µs/call': ((user + system) / calls).toFixed(1),
    'ms/batch': ((elapsedMs / calls) * BATCH).toFixed(1),
  })

  const deletedAt = performance.now()
  let deleted = 0
  let longestMs = 0
  let place: AccountId | undefined
  do {
    const before = performance.now()
    const step = await store.calls.deleteBefore(begin + DAY_MS, DELETED_AT_ONCE, place)
    longestMs = Math.max(longestMs, performance.now() - before)
    deleted += step.deleted
    place = step.next
  } while (place !== undefined)
  tell(`${name}: a day deleted`, {
    calls: deleted,
    'µs/call': (((performance.now() - deletedAt) * 1000) / deleted).toFixed(1),
    'longest ms': longestMs.toFixed(1),
  })
  await store.close()
}

/** By hand: our schema has no such table. */
async function measurePartitions(server: PostgresServer): Promise<void> {
  const run = (sql: string) => server.run(sql, 'calls')
  await run(`CREATE TABLE parted (LIKE calls) PARTITION BY RANGE (started_at)`)
  await run('ALTER TABLE parted ADD PRIMARY KEY (id, started_at)')
  for (const columns of [
    'account_id, started_at, id',
    'account_id, gate_id, started_at',
    'account_id, key_id, started_at',
  ])
    await run(`CREATE INDEX ON parted (${columns})`)
  for (let day = -1; day <= DAYS; day += 1)
    await run(
      `CREATE TABLE parted_${day + 1} PARTITION OF parted FOR VALUES FROM (${begin + day * DAY_MS}) TO (${begin + (day + 1) * DAY_MS})`,
    )
  await run('CREATE TABLE whole (LIKE calls INCLUDING ALL)')
  for (const table of ['whole', 'parted']) {
    const startedAt = performance.now()
    await run(`INSERT INTO ${table} SELECT * FROM calls`)
    tell(`Postgres: copied into ${table}`, { ms: Math.round(performance.now() - startedAt) })
  }
  await run('ANALYZE')
  const [{ id } = { id: '' }] = await server.run<{ id: string }>(
    'SELECT id FROM calls LIMIT 1 OFFSET 5000',
    'calls',
  )
  for (const table of ['whole', 'parted']) {
    const [, planned] = (await run(
      `EXPLAIN (ANALYZE, SUMMARY) SELECT * FROM ${table} WHERE id = '${id}'`,
    ).then((rows) => [
      rows,
      rows
        .map((row) => Object.values(row).join())
        .filter((line) => /Time/.test(line))
        .join('; '),
    ])) as [unknown, string]
    tell(`Postgres: a call by its id, ${table}`, { '': planned })
  }
  const startedAt = performance.now()
  await run('DROP TABLE parted_2')
  tell('Postgres: a partition dropped', { ms: (performance.now() - startedAt).toFixed(1) })
}

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-store-bench-'))
const server = await startPostgres({ isDurable: true })
try {
  await measure('SQLite', { path: join(folder, 'gatehouse.db') })
  await server.run('CREATE DATABASE calls')
  await measure('Postgres', locate(server, 'calls'))
  await measurePartitions(server)
} finally {
  await server.remove()
  rmSync(folder, { recursive: true, force: true })
}
process.exit()
