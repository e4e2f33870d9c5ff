/**
 * Runs every contender in every scenario, in alternating turns. Decides only the order of the
 * measurements.
 */
import {
  type Contender,
  NotMeasured,
  type RunningContender,
  type StartOptions,
  WARM_UP_SECONDS,
} from './contender.ts'
import { bare, bareSockets } from './contenders/bare.ts'
import { gatehouse, translating } from './contenders/gatehouse.ts'
import { nginx } from './contenders/nginx.ts'
import { findFault } from './find-fault.ts'
import { measureThroughput } from './measure-throughput.ts'
import type { Load, Note, Plan } from './plan.ts'
import { describePace, describeQuietness, type Look, lookAround, measurePace } from './quietness.ts'
import type { Results } from './report.ts'
import { Samples } from './samples.ts'
import { measureColdStarts } from './scenarios/cold-start.ts'
import { measureStored } from './scenarios/stored.ts'
import { STREAM_STEPS } from './scenarios/streams.ts'
import { measureTlsUpstream, warmUpTls } from './scenarios/tls-upstream.ts'
import { measureWorkers } from './scenarios/two-workers.ts'
import { measureAtPace, measureLoad, megabytes } from './scenarios/whole-answers.ts'
import { measureYoungProcess } from './scenarios/young-process.ts'
import { type JsonUpstream, startJsonUpstream, startStreamUpstream } from './upstream.ts'

export const PARTS = ['start', 'whole', 'tls', 'streams', 'young', 'stored', 'workers'] as const
export type Part = (typeof PARTS)[number]

/** Measured before a TLS upstream, to compare the runtime's HTTP client with the gateway's own. */
const BEFORE_TLS: readonly Contender[] = [nginx, bare, bareSockets, gatehouse]
/** Turns of each load in each round. */
const TURNS = 2
/**
 * Warm-up turns for bodies of a new size, because they run code branches that are not compiled yet.
 */
const WARM_UP_TURNS = 2
const WARM_UP: Load = { bodyBytes: 1024, connections: 64 }
const WHEN_YOUNG: readonly Contender[] = [bareSockets, gatehouse]

export interface Bench {
  readonly plan: Plan
  readonly parts: readonly Part[]
  readonly contenders: readonly Contender[]
  readonly folder: string
}

interface Run extends Bench {
  readonly samples: Samples
  readonly notMeasured: Map<string, string>
  readonly looks: Look[]
  readonly paces: number[]
  readonly upstream: JsonUpstream
}

export async function measureAll(
  bench: Bench,
): Promise<Pick<Results, 'figures' | 'looks' | 'paces' | 'notMeasured'>> {
  const notMeasured = new Map<string, string>()
  const contenders = bench.contenders.filter((contender) => {
    try {
      contender.prepare?.()
      return true
    } catch (failure) {
      reportMissing(notMeasured, contender.name, failure)
      return false
    }
  })
  const samples = new Samples()
  const looks: Look[] = [await lookAround()]
  console.log(describeQuietness(looks))
  const paces: number[] = []
  const upstream = await startJsonUpstream(bench.folder)
  try {
    const run: Run = { ...bench, contenders, samples, notMeasured, looks, paces, upstream }
    for (let round = 0; round < bench.plan.rounds; round += 1) {
      await measureRound(run, round)
      looks.push(await lookAround())
    }
    await measureOnce(run)
    if (bench.parts.includes('streams')) await measureStreams(run)
  } finally {
    await upstream.stop()
  }
  looks.push(await lookAround())
  paces.push(measurePace())
  console.log(describeQuietness(looks), describePace(paces))
  const figures = samples.medians()
  return { figures, looks, paces, notMeasured: Object.fromEntries(notMeasured) }
}

async function measureRound(run: Run, round: number): Promise<void> {
  const { parts, folder, upstream, samples } = run
  const plain: StartOptions = { url: upstream.url, folder, streams: false }
  for (const contender of run.contenders) {
    const note = samples.noteFor(contender.name)
    const plan = contender.narrow?.(run.plan) ?? run.plan
    if (!parts.includes('start') || round > 0) continue
    console.log(`starts: ${contender.name}`)
    await reportFailure(run, contender.name, () => measureColdStarts(plan, contender, plain, note))
  }
  if (parts.includes('whole')) await measureWhole(run, round)
  if (!parts.includes('tls')) return
  const secure: StartOptions = { ...plain, url: upstream.secureUrl, authority: upstream.authority }
  console.log(`TLS upstream, round ${round + 1} of ${run.plan.rounds}`)
  await inTurn(
    run,
    BEFORE_TLS.filter((one) => run.contenders.includes(one)),
    {
      upstream: secure,
      begin: async ({ running }) => await warmUpTls(running, folder),
      steps: Array.from({ length: TURNS }, () => async ({ running, note }: ActiveContender) => {
        await measureTlsUpstream(run, running, note)
      }),
    },
  )
}

async function measureWhole(run: Run, round: number): Promise<void> {
  const { folder, upstream, plan, contenders } = run
  console.log(`whole answers, round ${round + 1} of ${plan.rounds}`)
  await inTurn(run, contenders, {
    upstream: { url: upstream.url, folder, streams: false },
    async begin({ running, note }) {
      note('memory: idle, MB', megabytes(running))
      const warmUp = { ...WARM_UP, seconds: WARM_UP_SECONDS, folder }
      await measureThroughput(running, warmUp)
    },
    steps: [
      ...plan.loads.flatMap((load, place) => {
        const turn = (isNoted: boolean) => async (one: ActiveContender) => {
          if (!one.plan.loads.includes(load)) return
          const { seconds } = one.plan
          const note = isNoted ? one.note : () => {}
          await measureLoad(load, { seconds, folder, upstream }, one.running, note)
        }
        const before = plan.loads[place - 1] ?? WARM_UP
        const isSame = load.bodyBytes === before.bodyBytes && load.isAgent === before.isAgent
        const warmUps = isSame ? 0 : WARM_UP_TURNS
        return Array.from({ length: warmUps + TURNS }, (_, index) => turn(index >= warmUps))
      }),
      ...plan.paces
        .filter(({ isEveryday = false }) => round === 0 || !isEveryday)
        .map((pace) => async (one: ActiveContender) => {
          if (one.plan.paces.includes(pace)) await measureAtPace(pace, one.running, one.note)
        }),
      async ({ running, note }) => note('memory: after load, MB', megabytes(running)),
    ],
  })
}

async function measureStreams(run: Run): Promise<void> {
  const { folder, plan } = run
  const others = run.contenders.includes(gatehouse) ? [translating] : []
  const paced = await startStreamUpstream()
  try {
    for (let round = 0; round < plan.rounds; round += 1) {
      console.log(`streams, round ${round + 1} of ${plan.rounds}`)
      await inTurn(run, [...run.contenders, ...others], {
        upstream: { url: paced.url, folder, streams: true },
        begin: async () => {},
        steps: STREAM_STEPS.map((measure) => async ({ plan, running, note }: ActiveContender) => {
          await measure({ plan, contender: running, upstreamUrl: paced.url, note })
        }),
      })
    }
  } finally {
    await paced.stop()
  }
}

async function measureOnce(run: Run): Promise<void> {
  const { parts, plan, folder, upstream, samples } = run
  if (parts.includes('young') && plan.youngSeconds > 0)
    for (const contender of WHEN_YOUNG.filter((one) => run.contenders.includes(one))) {
      console.log(`the first minute: ${contender.name}`)
      await inTurn(run, [contender], {
        upstream: { url: upstream.url, folder, streams: false },
        begin: async () => {},
        steps: [async ({ running, note }) => await measureYoungProcess(plan, running, note)],
      })
    }
  if (!run.contenders.includes(gatehouse)) return
  const note = samples.noteFor(gatehouse.name)
  if (parts.includes('stored') && plan.stored.keys > 0)
    await reportFailure(run, 'a full store', () => measureStored(plan, upstream.url, folder, note))
  if (parts.includes('workers') && plan.hasWorkers) {
    console.log('one process and two workers')
    await reportFailure(run, 'two workers', () => measureWorkers(upstream.url, folder, note))
  }
}

/** A running contender, idle until its turn. */
interface ActiveContender {
  readonly contender: Contender
  readonly plan: Plan
  readonly running: RunningContender
  readonly note: Note
}

interface Turns {
  readonly upstream: StartOptions
  /** Called once for each contender, before the first step. */
  readonly begin: (one: ActiveContender) => Promise<void>
  readonly steps: readonly ((one: ActiveContender) => Promise<void>)[]
}

/**
 * Starts all contenders, and measures them in turn in each step, within seconds of each other, so a
 * machine that slows down affects all of them. The contenders share one core; waiting contenders
 * are idle. Slow contenders have separate turns afterwards.
 */
async function inTurn(run: Run, contenders: readonly Contender[], turns: Turns): Promise<void> {
  const isSlow = (one: Contender) => one.isSlow === true
  await takeTurns(
    run,
    contenders.filter((one) => !isSlow(one)),
    turns,
  )
  await takeTurns(run, contenders.filter(isSlow), turns)
}

async function takeTurns(
  run: Run,
  contenders: readonly Contender[],
  { upstream, begin, steps }: Turns,
): Promise<void> {
  if (contenders.length === 0) return
  const active: ActiveContender[] = []
  try {
    for (const contender of contenders)
      await reportFailure(run, contender.name, async () => {
        const running = await contender.start(upstream)
        if (running === undefined) return
        const fault = await findFault(running, upstream.streams)
        if (fault !== undefined) {
          console.log(`  ${contender.name} is left out: ${fault}`)
          await running.stop()
          return
        }
        const plan = contender.narrow?.(run.plan) ?? run.plan
        const one = { contender, plan, running, note: run.samples.noteFor(contender.name) }
        active.push(one)
        await begin(one)
      })
    for (const [place, step] of steps.entries()) {
      run.paces.push(measurePace())
      for (const one of place % 2 === 0 ? active : active.toReversed())
        await reportFailure(run, one.contender.name, () => step(one))
    }
  } finally {
    for (const { contender, running } of active)
      await reportFailure(run, contender.name, () => running.stop())
  }
}

/** A failed measurement has no figure, and the run continues so that the other figures are kept. */
async function reportFailure(run: Run, name: string, measure: () => Promise<void>): Promise<void> {
  try {
    await measure()
  } catch (failure) {
    reportMissing(run.notMeasured, name, failure)
  }
}

/** A contender that is unavailable here does not fail the run. */
function reportMissing(notMeasured: Map<string, string>, name: string, failure: unknown): void {
  if (failure instanceof NotMeasured) {
    notMeasured.set(name, failure.message)
    console.log(`  ${name} is not measured: ${failure.message}`)
    return
  }
  console.error(`  ${name} failed:`, failure)
  process.exitCode = 1
}
