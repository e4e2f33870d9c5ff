/**
 * What telemetry costs a call, in microseconds from its arrival to its settlement:
 * `bun bench/telemetry-cost.ts`. The stage that settles is the real one, with a journal that keeps
 * nothing, so that what is left is telemetry's.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TelemetrySettings } from '../src/config/telemetry-settings.ts'
import { systemClock } from '../src/core/clock.ts'
import type { Gate } from '../src/core/gate.ts'
import { createCallId, DEFAULT_ACCOUNT, type GateId, type KeyId } from '../src/core/ids.ts'
import { type AdmittedCall, BodyBudget, beginAttempt } from '../src/gateway/call.ts'
import type { CallObserver } from '../src/gateway/call-observer.ts'
import { settle } from '../src/gateway/settle/settle.ts'
import { AccessLog } from '../src/telemetry/access-log.ts'
import { startTelemetry } from '../src/telemetry/start-telemetry.ts'
import { scanJsonObject } from '../src/wire/json-splice.ts'
import { openaiChat } from '../src/wire/openai-chat/index.ts'

/**
 * In all rounds. So few that what waits at the end of one can still be sent: an exporter has 30
 * batches of 512 spans under way at most.
 */
const CALLS = 49_000
const ROUNDS = 7
/** Between pauses for what runs beside calls: batches, writes. */
const CALLS_A_TURN = 100

const HEADERS = new Headers({ 'content-type': 'application/json', authorization: 'Bearer x' })
const SIGNAL = new AbortController().signal
const GATE = { id: 'bench' } as Gate
const BODIES = new BodyBudget(Number.POSITIVE_INFINITY)
const ledger = { record: () => Promise.resolve(), assertWritable() {} }
const REQUEST = {
  body: scanJsonObject(new TextEncoder().encode('{"model":"bench"}')),
  gateId: 'bench',
  stream: false,
  ignored: [],
}

const OTLP: NonNullable<TelemetrySettings['otlp']> = {
  hasTraces: true,
  hasMetrics: false,
  serviceName: 'bench',
  sampler: 'parentbased_always_on',
  samplerRatio: 1,
  spanDelayMs: 5_000,
  // None is dropped: the cost of sending belongs to what is measured, and of receiving too, which
  // happens here as well.
  spanQueueSize: 1_000_000,
  metricIntervalMs: 60_000,
}
const OFF: TelemetrySettings = { metrics: undefined, hasAccessLog: false, otlp: undefined }
const METRICS: TelemetrySettings = {
  ...OFF,
  metrics: { port: 0, host: '127.0.0.1', token: undefined },
}

const collector = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json({}) })
process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${collector.port}`
const folder = mkdtempSync(join(tmpdir(), 'telemetry-cost-'))

const start = async (settings: TelemetrySettings) =>
  await startTelemetry(settings, {
    log: { info() {}, warn() {}, error() {} },
    version: 'bench',
    providerNames: new Map([['openai', 'openai']]),
    sources: {
      journal: () => ({
        writable: true,
        unshippedBytes: 0,
        segments: 0,
        backlog: 0,
        dropped: 0,
        damagedLines: 0,
        newerSegments: 0,
      }),
      shipperLag: () => 0,
      connections: () => new Map(),
      installation: () => ({ isRight: true, setBacks: 0 }),
      openBreakers: () => [],
    },
  })

interface Opened {
  readonly observer: CallObserver | undefined
  /** Sends and writes what is left: its time counts too. */
  close(): Promise<void> | void
}

const withOtlp = (settings: Partial<typeof OTLP>) => () =>
  start({ ...OFF, otlp: { ...OTLP, ...settings } })
const variants: readonly (readonly [string, () => Opened | Promise<Opened>])[] = [
  ['everything off', () => start(OFF)],
  ['metrics', () => start(METRICS)],
  ['traces, none sampled', withOtlp({ sampler: 'always_off' })],
  ['traces, 1 in 100 sampled', withOtlp({ sampler: 'traceidratio', samplerRatio: 0.01 })],
  ['traces, all sampled', withOtlp({})],
  ['OTLP metrics', withOtlp({ hasTraces: false, hasMetrics: true })],
  [
    'access log',
    () => {
      const observer = new AccessLog(join(folder, 'access.log'))
      return { observer, close: () => observer.close() }
    },
  ],
]

const best = new Map<string, number>()
for (let round = 0; round < ROUNDS; round += 1) {
  // In turns, so that a busy moment of the machine hits all alike.
  for (const [name, open] of variants) {
    const cost = await measure(await open())
    best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, cost))
  }
}
const base = best.get('everything off') ?? 0
console.log('CPU of the process per call, best of', ROUNDS)
for (const [name, cost] of best)
  console.log(`${name.padEnd(26)} ${cost.toFixed(2)} µs   +${(cost - base).toFixed(2)} µs`)

await measureScrape()
collector.stop(true)
rmSync(folder, { recursive: true })
process.exit(0)

/**
 * CPU of the whole process in microseconds: what threads do in the background is paid for as well.
 */
async function measure({ observer, close }: Opened): Promise<number> {
  const before = process.cpuUsage()
  for (let done = 0; done < CALLS / ROUNDS; done += CALLS_A_TURN) {
    for (let index = 0; index < CALLS_A_TURN; index += 1) settleOne(observer)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await close()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / (CALLS / ROUNDS)
}

function settleOne(observer: CallObserver | undefined): void {
  const trace = observer?.begin(HEADERS)
  const attempt = beginAttempt(systemClock, 'openai/gpt-4o', trace?.beginAttempt())
  attempt.status = 200
  const startedAt = systemClock.now()
  const begunAt = systemClock.elapsed()
  const call: AdmittedCall = {
    id: createCallId(),
    startedAt,
    begunAt,
    dialect: openaiChat,
    caller: {
      accountId: DEFAULT_ACCOUNT,
      keyId: 'key_bench' as KeyId,
      limits: { requestsPerMinute: 1, tokensPerMinute: 1, concurrentCalls: 1 },
    },
    request: { headers: HEADERS, signal: SIGNAL },
    accepted: REQUEST,
    headers: {},
    body: BODIES.open(),
    gate: GATE,
    admission: {
      ticket: { headers: {}, reserveQuota: () => undefined, settle() {} },
      inputTokens: 100,
      outputCap: undefined,
      teaches: undefined,
      tools: [],
      otherPrices: [],
    },
    attempts: {
      list: [attempt],
      target: 'openai/gpt-4o',
      credential: 'platform',
      firstByteAt: begunAt + 5,
      skipped: [],
    },
    settled: undefined,
    trace,
  }
  const usage = { inputTokens: 100, outputTokens: 50, cachedInputTokens: 10, reasoningTokens: 5 }
  const ports = { ledger, clock: systemClock, observer }
  void settle(ports, call, { outcome: 'succeeded', status: 200, usage })
}

/** The page at its largest, which is made on the event loop. */
async function measureScrape(): Promise<void> {
  const metrics = await start(METRICS)
  for (let index = 0; index < 3_000; index += 1) {
    const attempt = { ...beginAttempt(systemClock, `openai/model-${index}`), status: 200 }
    metrics.observer?.begin(HEADERS)
    metrics.observer?.finish(
      {
        id: createCallId(),
        accountId: DEFAULT_ACCOUNT,
        keyId: 'key_bench' as KeyId,
        gateId: `gate-${index}` as GateId,
        dialect: 'openai-chat',
        stream: false,
        target: `openai/model-${index}`,
        attempts: 1,
        outcome: 'succeeded',
        status: 200,
        errorKind: null,
        startedAt: 0,
        firstByteMs: 5,
        durationMs: 9,
        usage: { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 },
        credential: 'platform',
      },
      [attempt],
      undefined,
    )
  }
  let bestMs = Number.POSITIVE_INFINITY
  let bytes = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = performance.now()
    bytes = (await (await metrics.metrics?.(new Request('http://x/metrics')))?.text())?.length ?? 0
    bestMs = Math.min(bestMs, performance.now() - before)
  }
  console.log(`largest scrape: ${(bytes / 1e6).toFixed(2)} MB in ${bestMs.toFixed(0)} ms`)
}
