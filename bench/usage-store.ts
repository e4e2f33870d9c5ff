/**
 * What the log and the analytics cost with a million calls in the store, and what storing calls
 * costs. Seeds its own data folder through the store's code and asks the control plane itself,
 * without HTTP. `bun bench/usage-store.ts [CALLS]`
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ControlPlaneDependencies } from '../src/admin/control-plane-app.ts'
import { createControlPlane } from '../src/admin/router.ts'
import type { CallRecord } from '../src/core/call.ts'
import { createCallId, DEFAULT_ACCOUNT, type GateId, type KeyId } from '../src/core/ids.ts'
import { openStore, type Store } from '../src/store/open-store.ts'

const DAY_MS = 86_400_000
const RANGE_DAYS = 30
const BATCH = 512
const REPETITIONS = 7

const calls = Number(process.argv[2] ?? 1_000_000)
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-usage-bench-'))
const path = join(folder, 'gatehouse.db')

/** Repeatable, so that two runs ask the same of the store. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

const random = createRandom(7)
const FAILURES = [
  ['upstream_error', 502],
  ['upstream_timeout', 504],
  ['rate_limited', 429],
  ['provider_auth_failed', 502],
] as const

/** A few gates and keys get most of the calls. */
function pick(count: number): number {
  return Math.floor(random() ** 3 * count)
}

function createCall(startedAt: number): CallRecord {
  const gate = pick(20)
  const hasFailed = random() < 0.04
  const [errorKind, status] = FAILURES[pick(FAILURES.length)] ?? FAILURES[0]
  const isCancelled = !hasFailed && random() < 0.01
  const durationMs = Math.round(200 * 2 ** (random() * 7))
  return {
    id: createCallId(),
    accountId: DEFAULT_ACCOUNT,
    keyId: `key_${String(pick(10)).padStart(32, '0')}` as KeyId,
    gateId: `gate-${gate}` as GateId,
    dialect: 'openai-chat',
    stream: gate % 3 !== 0,
    target: `openai/model-${(gate + pick(3)) % 25}`,
    attempts: hasFailed ? 2 : 1,
    outcome: hasFailed ? 'failed' : isCancelled ? 'cancelled' : 'succeeded',
    status: hasFailed ? status : 200,
    errorKind: hasFailed ? errorKind : null,
    startedAt,
    firstByteMs: Math.round(durationMs / 3),
    durationMs,
    credential: 'platform',
    usage: hasFailed
      ? null
      : { inputTokens: 1200, outputTokens: 300, cachedInputTokens: 800, reasoningTokens: 0 },
    cost: hasFailed
      ? { nanoUsd: null, status: 'unknown', source: null }
      : { nanoUsd: 4_100_000, status: 'exact', source: 'bench@1' },
  }
}

async function seed(store: Store, now: number): Promise<void> {
  const stepMs = (RANGE_DAYS * DAY_MS) / calls
  const begunAt = performance.now()
  let next = 0
  while (next < calls) {
    const batch: CallRecord[] = []
    for (; batch.length < BATCH && next < calls; next += 1) {
      batch.push(createCall(Math.floor(now - RANGE_DAYS * DAY_MS + next * stepMs)))
    }
    await store.calls.insertMany(batch)
  }
  const seconds = (performance.now() - begunAt) / 1000
  console.log(
    `seeded ${calls.toLocaleString('en-US')} calls in ${seconds.toFixed(1)} s: ${statSync(path).size / 1e6} MB`,
  )
}

/**
 * At the size it has now, in the shipper's two batch sizes; all calls of one gate, then spread over
 * all of them.
 */
async function measureInserts(store: Store, now: number): Promise<void> {
  for (const size of [32, 512]) {
    for (const spread of ['one gate and key', 'spread'] as const) {
      const batches = Array.from({ length: Math.ceil(8192 / size) }, () =>
        Array.from({ length: size }, () => {
          const call = createCall(now)
          return spread === 'spread'
            ? call
            : {
                ...call,
                gateId: 'gate-1' as GateId,
                keyId: 'key_1' as KeyId,
                target: 'openai/model-1',
                status: 200,
              }
        }),
      )
      const begunAt = process.cpuUsage()
      for (const batch of batches) await store.calls.insertMany(batch)
      await store.usage.rollUpDays(0)
      const { user, system } = process.cpuUsage(begunAt)
      const rows = batches.length * size
      console.log(
        `insert, ${size} at a time, ${spread}: ${((user + system) / rows).toFixed(1)} µs of CPU a call`,
      )
    }
  }
}

async function measureQueries(store: Store, now: number): Promise<void> {
  const controlPlane = createControlPlane({
    // Only what reads usage is asked.
    ...({} as ControlPlaneDependencies),
    keys: { nameOf: () => undefined } as unknown as ControlPlaneDependencies['keys'],
    calls: store.calls,
    usage: store.usage,
    providers: [],
    authenticate: () => ({
      accountId: DEFAULT_ACCOUNT,
      keyId: 'key_1' as KeyId,
      limits: { requestsPerMinute: 1, tokensPerMinute: 1, concurrentCalls: 1 },
    }),
  })
  const day = (daysAgo: number) => new Date(now - daysAgo * DAY_MS).toISOString()
  const key = `key_${'9'.padStart(32, '0')}`
  const busyKey = `key_${'0'.padStart(32, '0')}`
  const filters = [
    '',
    'gate=gate-0',
    'gate=gate-19',
    `gate=gate-19&key=${key}`,
    `gate=gate-0&key=${key}&target=openai/model-2`,
    'gate=gate-0&stream=true',
    'gate=gate-19&target=openai/model-1',
    `key=${busyKey}&stream=false`,
    `key=${busyKey}&target=openai/model-9&gate=gate-7`,
    'stream=false',
    'status=200',
    'status=201',
    'status=504',
    'status=502&errorKind=provider_auth_failed',
    'errorKind=unheard_of',
    'errorKind=provider_auth_failed&gate=gate-19',
    'outcome=cancelled',
    'outcome=succeeded&status=502',
    'outcome=cancelled&gate=gate-19&stream=true',
    `from=${day(29)}&to=${day(28)}`,
    `from=${day(29)}&to=${day(28)}&gate=gate-3&outcome=failed`,
    `to=${day(20)}&status=201&stream=true`,
    'gate=no-such-gate',
    'target=openai/no-such-model&stream=true',
  ]
  const ask = async (path: string) => {
    let slowest = 0
    const times: number[] = []
    let text = ''
    for (let repetition = 0; repetition < REPETITIONS; repetition += 1) {
      const begunAt = performance.now()
      const request = new Request(`http://bench${path}`, {
        headers: { authorization: 'Bearer key' },
      })
      const response = await controlPlane.handle(request, createCallId())
      text = await response.text()
      if (response.status !== 200) throw new Error(text)
      const tookMs = performance.now() - begunAt
      times.push(tookMs)
      slowest = Math.max(slowest, tookMs)
    }
    const median = times.toSorted((left, right) => left - right)[Math.floor(REPETITIONS / 2)] ?? 0
    const { data, nextCursor } = JSON.parse(text) as { data: unknown[]; nextCursor?: string | null }
    const goesOn = typeof nextCursor === 'string' ? ', goes on' : ''
    console.log(
      `${median.toFixed(1).padStart(7)} ms (slowest ${slowest.toFixed(1)})  ${path.slice(0, 140)}: ${data.length} rows${goesOn}`,
    )
    return nextCursor
  }
  console.log('pages of the log')
  for (const filter of filters) {
    const path = `/v1/logs?limit=50${filter === '' ? '' : `&${filter}`}`
    const cursor = await ask(path)
    if (typeof cursor === 'string') await ask(`${path}&cursor=${cursor}`)
  }
  console.log('analytics')
  const analytics = [
    'interval=day',
    'interval=day&group_by=gate',
    'interval=day&group_by=target',
    'interval=day&group_by=key',
    'interval=day&group_by=status',
    'interval=day&group_by=target&gate=gate-0',
    'interval=all&group_by=key',
    'interval=month',
    `interval=hour&from=${day(7)}`,
    `interval=hour&group_by=gate&from=${day(7)}`,
    `interval=hour&group_by=key&from=${day(7)}`,
    `interval=hour&group_by=gate&from=${day(1)}`,
  ]
  for (const query of analytics) await ask(`/v1/analytics?${query}`)
  for (const query of [
    'interval=day',
    'interval=day&gate=gate-0',
    `interval=hour&from=${day(7)}`,
  ]) {
    await ask(`/v1/analytics/latency?${query}`)
  }
}

const store = await openStore({ path })
try {
  const now = Date.now()
  await seed(store, now)
  const begunAt = performance.now()
  const days = await store.usage.rollUpDays(now)
  console.log(`summed ${days} days up in ${(performance.now() - begunAt).toFixed(0)} ms`)
  await measureQueries(store, now)
  await measureInserts(store, now)
} finally {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
}
