/**
 * Streams: the first event, what an event costs, what a thousand open ones weigh, and clients that
 * leave.
 */
import type { RunningContender } from '../contender.ts'
import { measureAborts } from '../measure-aborts.ts'
import { measureStreams, type Streams } from '../measure-streams.ts'
import type { Note, Plan } from '../plan.ts'
import { rest } from './rest.ts'

const AT_ONCE = 50
/** Some thousand calls: compilers work through what each runs once at its hundredth call. */
const WARM_UP_MS = 4_000
const WARM_UP_AT_ONCE = 4

export async function measureStreamScenarios(
  plan: Plan,
  upstreamUrl: string,
  contender: RunningContender,
  note: Note,
): Promise<void> {
  await warmUp(plan, contender)
  const firstEvents: number[] = []
  for (let index = 0; index < plan.singleStreams; index += 1) {
    const single = await measureStreams(contender, { streams: 1, events: 1, everyMs: 1 })
    firstEvents.push(single.medianFirstEventMs)
  }
  firstEvents.sort((left, right) => left - right)
  const at = (share: number) => firstEvents[Math.floor(firstEvents.length * share)] ?? Number.NaN
  note('streams: first event, one at a time, p50, ms', at(0.5))
  note('streams: first event, one at a time, p99, ms', at(0.99))
  const short = await measureStreams(contender, { streams: AT_ONCE, events: 100, everyMs: 1 })
  failIfCut(short)
  note('streams: first event, 50 begun at once, ms', short.medianFirstEventMs)
  if (contender.process !== undefined)
    note('streams of 100 events: CPU µs an event', short.cpuMicrosPerEvent)
  if (plan.eventsOfStream > 0) {
    const load = { streams: AT_ONCE, events: plan.eventsOfStream, everyMs: 1 }
    const long = await measureStreams(contender, load)
    failIfCut(long)
    if (contender.process !== undefined)
      note(
        `streams of ${plan.eventsOfStream.toLocaleString('en-US')} events: CPU µs an event`,
        long.cpuMicrosPerEvent,
      )
  }
  if (contender.process === undefined) return
  if (plan.openStreams > 0) {
    const many = await measureStreams(contender, {
      streams: plan.openStreams,
      events: 50,
      everyMs: 100,
    })
    failIfCut(many)
    note(
      `${plan.openStreams.toLocaleString('en-US')} open streams: memory, MB`,
      many.residentBytes / 1e6,
    )
  }
  if (plan.aborts > 0) {
    const aborts = await measureAborts(contender, upstreamUrl, plan.aborts)
    note('client leaves after the first event: CPU µs', aborts.cpuMicrosPerAbort)
    note('client leaves: ms until the upstream is let go, all of them', aborts.releasedAfterMs)
  }
  note('memory: after streams and aborts, MB', contender.process.residentBytes() / 1e6)
}

/** What a process costs while it is young has rows of its own (young-process.ts). */
async function warmUp(plan: Plan, contender: RunningContender): Promise<void> {
  // Half as long where events are dear.
  const events = plan.eventsOfStream > 0 ? 200 : 100
  await measureStreams(contender, { streams: AT_ONCE, events, everyMs: 1 })
  const until = performance.now() + WARM_UP_MS
  while (performance.now() < until)
    await measureStreams(contender, { streams: WARM_UP_AT_ONCE, events: 1, everyMs: 1 })
  await rest(contender)
}

function failIfCut({ failed }: Streams): void {
  if (failed > 0) throw new Error(`${failed} streams ended early`)
}
