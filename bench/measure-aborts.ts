/** Clients that leave: the cost of each, and the time until the upstream stops its work. */
import type { RunningContender } from './contender.ts'
import { OPEN_STREAMS_PATH, promptOfPace } from './pace.ts'

export interface Aborts {
  readonly cpuMicrosPerAbort: number
  /** Milliseconds from the last client's abort until the upstream has no open stream. */
  readonly releasedAfterMs: number
}

const AT_ONCE = 100
const RELEASE_LIMIT_MS = 10_000

export async function measureAborts(
  contender: RunningContender,
  upstreamUrl: string,
  aborts: number,
): Promise<Aborts> {
  const body = JSON.stringify({
    model: contender.model,
    stream: true,
    messages: [{ role: 'user', content: promptOfPace(10_000, 20) }],
  })
  const headers = { 'content-type': 'application/json', ...contender.headers }
  const leaveAfterFirstEvent = async () => {
    const leaving = new AbortController()
    const response = await fetch(contender.url, {
      method: 'POST',
      headers,
      body,
      signal: leaving.signal,
    })
    await response.body?.getReader().read()
    leaving.abort()
  }
  const cpuBefore = contender.process?.cpuMicros() ?? 0
  for (let done = 0; done < aborts; done += AT_ONCE) {
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, aborts - done) }, leaveAfterFirstEvent),
    )
  }
  const leftAt = performance.now()
  while ((await openStreams(upstreamUrl)) > 0) {
    if (performance.now() - leftAt > RELEASE_LIMIT_MS)
      throw new Error('the upstream still streams although all clients left')
    await Bun.sleep(1)
  }
  const cpuMicros = (contender.process?.cpuMicros() ?? 0) - cpuBefore
  return { cpuMicrosPerAbort: cpuMicros / aborts, releasedAfterMs: performance.now() - leftAt }
}

async function openStreams(upstreamUrl: string): Promise<number> {
  const response = await fetch(upstreamUrl + OPEN_STREAMS_PATH)
  return Number(await response.text())
}
