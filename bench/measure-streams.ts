/**
 * Streams: the cost of an event, the time to the first event, and the memory of a thousand open
 * streams.
 */
import type { RunningContender } from './contender.ts'
import { promptOfPace } from './pace.ts'

export interface Streams {
  /** The contender's processor time per relayed event. */
  readonly cpuMicrosPerEvent: number
  readonly medianFirstEventMs: number
  /** Resident memory while all streams were open. */
  readonly residentBytes: number
  readonly failed: number
}

export async function measureStreams(
  contender: RunningContender,
  load: { readonly streams: number; readonly events: number; readonly everyMs: number },
): Promise<Streams> {
  const body = JSON.stringify({
    model: contender.model,
    stream: true,
    messages: [{ role: 'user', content: promptOfPace(load.events, load.everyMs) }],
  })
  const headers = { 'content-type': 'application/json', ...contender.headers }
  const firstEvents: number[] = []
  let failed = 0
  const open = async () => {
    const startedAt = performance.now()
    const response = await fetch(contender.url, { method: 'POST', headers, body })
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) {
      if (text === '') firstEvents.push(performance.now() - startedAt)
      text = (text + decoder.decode(chunk, { stream: true })).slice(-64)
    }
    if (!text.includes('[DONE]')) failed += 1
  }
  const cpuBefore = contender.process?.cpuMicros() ?? 0
  const streams = Promise.all(Array.from({ length: load.streams }, open))
  await Bun.sleep((load.events * load.everyMs) / 2)
  const residentBytes = contender.process?.residentBytes() ?? 0
  await streams
  const cpuMicros = (contender.process?.cpuMicros() ?? 0) - cpuBefore
  firstEvents.sort((a, b) => a - b)
  return {
    cpuMicrosPerEvent: cpuMicros / (load.streams * load.events),
    medianFirstEventMs: firstEvents[firstEvents.length >> 1] ?? Number.NaN,
    residentBytes,
    failed,
  }
}
