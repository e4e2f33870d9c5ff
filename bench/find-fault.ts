/**
 * Checks a contender's answer before the measurements, because fast wrong answers would count as a
 * result.
 */
import type { RunningContender } from './contender.ts'

/** @returns the fault of the answer; undefined when the answer is right */
export async function findFault(
  running: RunningContender,
  stream: boolean,
): Promise<string | undefined> {
  const headers = { 'content-type': 'application/json', ...running.headers }
  const messages = [{ role: 'user', content: 'Hi' }]
  const body = JSON.stringify({ model: running.model, messages, stream })
  const response = await fetch(running.url, { method: 'POST', headers, body })
  const text = await response.text()
  const isRight =
    response.status === 200 && text.includes(stream ? '[DONE]' : 'Hello from the fixed upstream')
  return isRight ? undefined : `${running.url} answered ${response.status}: ${text.slice(0, 300)}`
}
