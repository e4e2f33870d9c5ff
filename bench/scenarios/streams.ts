/** Streams: the first byte, what an event costs, what a thousand open ones weigh, and clients that leave. */
import type { RunningContender } from '../contender.ts'
import { measureAborts } from '../measure-aborts.ts'
import { measureStreams } from '../measure-streams.ts'
import type { Note, Plan } from '../plan.ts'

/** One after the other, so that none waits for another's. */
const SINGLE_STREAMS = 60

export async function measureStreamScenarios(
  plan: Plan,
  upstreamUrl: string,
  contender: RunningContender,
  note: Note,
): Promise<void> {
  await measureStreams(contender, { streams: 50, events: 200, everyMs: 1 })
  const firstBytes: number[] = []
  for (let index = 0; index < SINGLE_STREAMS; index += 1) {
    const single = await measureStreams(contender, { streams: 1, events: 1, everyMs: 1 })
    firstBytes.push(single.medianFirstByteMs)
  }
  firstBytes.sort((left, right) => left - right)
  note('streams: first byte, one at a time, ms', firstBytes[firstBytes.length >> 1] ?? Number.NaN)
  const short = await measureStreams(contender, { streams: 50, events: 100, everyMs: 1 })
  note('streams: first byte, 50 begun at once, ms', short.medianFirstByteMs)
  const few = await measureStreams(contender, { streams: 50, events: 1000, everyMs: 1 })
  const many = await measureStreams(contender, { streams: plan.openStreams, events: 50, everyMs: 100 })
  if (short.failed + few.failed + many.failed > 0) throw new Error('streams ended early')
  const aborts = await measureAborts(contender, upstreamUrl, plan.aborts)
  if (contender.process === undefined) return
  note('streams of 100 events: CPU µs an event', short.cpuMicrosPerEvent)
  note('streams of 1,000 events: CPU µs an event', few.cpuMicrosPerEvent)
  note(`${plan.openStreams} open streams: memory, MB`, many.residentBytes / 1e6)
  note('client leaves after the first event: CPU µs', aborts.cpuMicrosPerAbort)
  note('client leaves: ms until the upstream is let go, all of them', aborts.releasedAfterMs)
  note('memory: after streams and aborts, MB', contender.process.residentBytes() / 1e6)
}
