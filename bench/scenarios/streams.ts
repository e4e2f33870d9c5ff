/**
 * Streams: the first event, the cost of an event, the memory of a thousand open streams, and
 * clients that leave.
 */
import type { RunningContender } from '../contender.ts'
import { measureAborts } from '../measure-aborts.ts'
import { measureStreams, type Streams } from '../measure-streams.ts'
import type { Note, Plan } from '../plan.ts'
import { rest } from './rest.ts'

const AT_ONCE = 50
/**
 * Some thousand calls, because compilers work on code at about its hundredth call. In turns, like
 * everything: code that did not run for 15 seconds is discarded.
 */
const WARM_UP_TURNS = 5
const WARM_UP_TURN_MS = 1_000
const WARM_UP_AT_ONCE = 4

export interface StreamStep {
  readonly plan: Plan
  readonly contender: RunningContender
  readonly upstreamUrl: string
  readonly note: Note
}

/** One after the other, each for all contenders in turn. */
export const STREAM_STEPS: readonly ((step: StreamStep) => Promise<void>)[] = [
  warmUpEvents,
  ...Array.from({ length: WARM_UP_TURNS }, () => warmUpBeginnings),
  measureFirstEvents,
  measureShortStreams,
  measureLongStreams,
  measureLeavingClients,
  // Takes five seconds per contender.
  measureOpenStreams,
]

/** The cost of a new process has separate rows (young-process.ts). */
async function warmUpEvents({ plan, contender }: StreamStep): Promise<void> {
  // Half as long for contenders whose events are expensive.
  const events = plan.eventsOfStream > 0 ? 200 : 100
  await measureStreams(contender, { streams: AT_ONCE, events, everyMs: 1 })
}

async function warmUpBeginnings({ contender }: StreamStep): Promise<void> {
  const until = performance.now() + WARM_UP_TURN_MS
  while (performance.now() < until)
    await measureStreams(contender, { streams: WARM_UP_AT_ONCE, events: 1, everyMs: 1 })
  await rest(contender)
}

async function measureFirstEvents({ plan, contender, note }: StreamStep): Promise<void> {
  const firstEvents: number[] = []
  for (let index = 0; index < plan.singleStreams; index += 1) {
    const single = await measureStreams(contender, { streams: 1, events: 1, everyMs: 1 })
    firstEvents.push(single.medianFirstEventMs)
  }
  firstEvents.sort((left, right) => left - right)
  const at = (share: number) => firstEvents[Math.floor(firstEvents.length * share)] ?? Number.NaN
  note('streams: first event, one at a time, p50, ms', at(0.5))
  note('streams: first event, one at a time, p99, ms', at(0.99))
}

async function measureShortStreams({ contender, note }: StreamStep): Promise<void> {
  const short = await measureStreams(contender, { streams: AT_ONCE, events: 100, everyMs: 1 })
  failIfCut(short)
  note('streams: first event, 50 begun at once, ms', short.medianFirstEventMs)
  if (contender.process !== undefined)
    note('streams of 100 events: CPU µs an event', short.cpuMicrosPerEvent)
}

async function measureLongStreams({ plan, contender, note }: StreamStep): Promise<void> {
  const { eventsOfStream: events } = plan
  if (events === 0) return
  const long = await measureStreams(contender, { streams: AT_ONCE, events, everyMs: 1 })
  failIfCut(long)
  if (contender.process !== undefined)
    note(
      `streams of ${events.toLocaleString('en-US')} events: CPU µs an event`,
      long.cpuMicrosPerEvent,
    )
}

async function measureOpenStreams({ plan, contender, note }: StreamStep): Promise<void> {
  const { openStreams: streams } = plan
  if (contender.process === undefined) return
  if (streams > 0) {
    const many = await measureStreams(contender, { streams, events: 50, everyMs: 100 })
    failIfCut(many)
    note(`${streams.toLocaleString('en-US')} open streams: memory, MB`, many.residentBytes / 1e6)
  }
  note('memory: after streams and aborts, MB', contender.process.residentBytes() / 1e6)
}

async function measureLeavingClients(step: StreamStep): Promise<void> {
  const { plan, contender, upstreamUrl, note } = step
  if (contender.process === undefined || plan.aborts === 0) return
  const aborts = await measureAborts(contender, upstreamUrl, plan.aborts)
  note('client leaves after the first event: CPU µs', aborts.cpuMicrosPerAbort)
  note('client leaves: ms until the upstream is let go, all of them', aborts.releasedAfterMs)
}

function failIfCut({ failed }: Streams): void {
  if (failed > 0) throw new Error(`${failed} streams ended early`)
}
