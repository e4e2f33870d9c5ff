/**
 * Asks a contender once before it is measured: a fast wrong answer is no result. Measures nothing.
 */
import type { RunningContender } from './contender.ts'

/** @returns what is wrong with the answer, undefined when it is right */
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
