/**
 * What it costs to write calls down and to bring them into the store, without the gateway before
 * it: processor time of this process for each record, and how long the event loop was held. SQLite
 * and Postgres, one account and ten thousand. `bun bench/shipping-cost.ts [RECORDS]`; Postgres as
 * Debian packages it.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CallRecord } from '../src/core/call.ts'
import { type AccountId, createCallId, type GateId, type KeyId } from '../src/core/ids.ts'
import { Secret } from '../src/core/secret.ts'
import { Journal } from '../src/ledger/journal.ts'
import { Shipper } from '../src/ledger/shipper.ts'
import type { StoreLocation } from '../src/store/database/open-database.ts'
import { openStore } from '../src/store/open-store.ts'
import { startPostgres } from '../test/support/postgres-server.ts'
import { threadCpuMicros } from './cpu-clock.ts'

/** A second of one core's calls. */
const RECORDS_PER_PASS = 8_000
/** Those of one turn of the event loop at full load. */
const RECORDS_PER_TURN = 16
const WARM_PASSES = 2

const records = Number(process.argv[2] ?? 96_000)

function createRecord(number: number, accounts: number): CallRecord {
  // Neighbouring calls are of accounts far from each other.
  const account = (number * 7_919) % accounts
  return {
    id: createCallId(),
    accountId: `acct_${String(account).padStart(32, '0')}` as AccountId,
    keyId: `key_${String(account * 10 + (number % 3)).padStart(32, '0')}` as KeyId,
    gateId: `gate-${number % 3}` as GateId,
    dialect: 'openai-chat',
    stream: number % 3 === 0,
    target: `openai/model-${number % 2}`,
    attempts: 1,
    outcome: 'succeeded',
    status: 200,
    errorKind: null,
    startedAt: Date.now(),
    firstByteMs: number % 50,
    durationMs: 50 + (number % 100),
    usage: {
      inputTokens: number % 2_000,
      outputTokens: number % 500,
      cachedInputTokens: 0,
      reasoningTokens: 0,
    },
    credential: 'platform',
    cost: { nanoUsd: 1_000 * (number % 9_000), status: 'exact', source: 'bench@1' },
  }
}

function cpuMicros(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

/**
 * Milliseconds of processor time that this thread had for each turn of the loop: other programs on
 * the machine do not count.
 */
interface Turns {
  longestMs: number
  count: number
  /** Those of more than one millisecond, and of more than two. */
  overOne: number
  overTwo: number
}

/**
 * Counts turns of the loop while `work` runs; it keeps the loop turning, which costs time of its
 * own.
 */
async function watchTurns(turns: Turns, work: () => Promise<void>): Promise<void> {
  let isRunning = true
  let last = threadCpuMs()
  const turn = () => {
    const now = threadCpuMs()
    turns.longestMs = Math.max(turns.longestMs, now - last)
    turns.count += 1
    if (now - last > 1) turns.overOne += 1
    if (now - last > 2) turns.overTwo += 1
    last = now
    if (isRunning) setImmediate(turn)
  }
  setImmediate(turn)
  await work()
  isRunning = false
}

function threadCpuMs(): number {
  return threadCpuMicros() / 1000
}

async function measure(name: string, location: StoreLocation, accounts: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-shipping-bench-'))
  const store = await openStore(location)
  const journal = new Journal(folder)
  const shipper = new Shipper(journal, (batch, between) => store.calls.insertMany(batch, between))
  let number = 0
  const recordMany = async () => {
    const made = Array.from({ length: RECORDS_PER_PASS }, () => createRecord(++number, accounts))
    const before = cpuMicros()
    for (let start = 0; start < made.length; start += RECORDS_PER_TURN) {
      await Promise.all(
        made.slice(start, start + RECORDS_PER_TURN).map((record) => journal.record(record)),
      )
    }
    return cpuMicros() - before
  }
  let [recording, shipping, count] = [0, 0, 0]
  for (let pass = 0; count < records; pass += 1) {
    const ofRecording = await recordMany()
    const before = cpuMicros()
    await shipper.ship()
    if (pass < WARM_PASSES) continue
    recording += ofRecording
    shipping += cpuMicros() - before
    count += RECORDS_PER_PASS
  }
  const turns: Turns = { longestMs: 0, count: 0, overOne: 0, overTwo: 0 }
  for (let pass = 0; pass < 3; pass += 1) {
    await recordMany()
    await watchTurns(turns, () => shipper.ship())
  }
  console.log(
    `${name}, ${accounts} accounts: recording ${(recording / count).toFixed(2)} us, shipping ${(shipping / count).toFixed(2)} us a record; ` +
      `longest turn ${turns.longestMs.toFixed(1)} ms, ${turns.overOne} of ${turns.count} over 1 ms, ${turns.overTwo} over 2 ms`,
  )
  journal.close()
  await store.close()
  rmSync(folder, { recursive: true, force: true })
}

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-shipping-bench-'))
const server = await startPostgres({ isDurable: true })
try {
  for (const accounts of [1, 10_000]) {
    await measure('SQLite', { path: join(folder, `${accounts}.db`) }, accounts)
    await server.run(`CREATE DATABASE shipping_${accounts}`)
    const postgres = {
      url: new Secret(server.urlOf(`shipping_${accounts}`)),
      poolSize: 4,
      connectTimeoutMs: 5_000,
      statementTimeoutMs: 30_000,
    }
    await measure('Postgres', { postgres }, accounts)
  }
} finally {
  await server.remove()
  rmSync(folder, { recursive: true, force: true })
}
