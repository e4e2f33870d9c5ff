/**
 * The time from the start of the process, with an empty data folder, to the first answered chat
 * completion.
 */
import type { Contender, StartOptions } from '../contender.ts'
import type { Note, Plan } from '../plan.ts'

export async function measureColdStarts(
  plan: Plan,
  contender: Contender,
  upstream: StartOptions,
  note: Note,
): Promise<void> {
  for (let start = 0; start < plan.coldStarts; start += 1) {
    const startedAt = performance.now()
    const running = await contender.start(upstream)
    if (running === undefined) return
    try {
      if (running.process === undefined) return
      const headers = { 'content-type': 'application/json', ...running.headers }
      const messages = [{ role: 'user', content: 'Hi' }]
      const body = JSON.stringify({ model: running.model, messages })
      await (await fetch(running.url, { method: 'POST', headers, body })).arrayBuffer()
      note('start to first call answered, ms', performance.now() - startedAt)
    } finally {
      await running.stop()
    }
  }
}
