/** Clients of the gate `demo`, and the answers that they have received. */
import type { ControlPlane } from './control-plane.ts'
import { pollUntil } from './poll-until.ts'

export interface Load {
  readonly complete: Set<string>
  /** Removes the pauses; resolves when nearly every client has an open call. */
  hurry(): Promise<void>
  stop(): Promise<void>
}

export interface LoadOptions {
  readonly clients: number
  readonly complete: Set<string>
  readonly pauseMs?: number
}

/** Clients that call until they are stopped or the server ends. */
export function startLoad({ url, key }: ControlPlane, options: LoadOptions): Load {
  const { clients: count, complete } = options
  let pauseMs = options.pauseMs ?? 0
  let stopped = false
  const client = async (number: number): Promise<void> => {
    for (let call = number; !stopped; call++) {
      const stream = call % 2 === 0
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          gate_id: 'demo',
          stream,
          messages: [{ role: 'user', content: `call ${call}` }],
        }),
      }).catch(() => undefined)
      const id = response?.headers.get('x-request-id')
      if (response === undefined || id === null || id === undefined) return
      if (response.status !== 200)
        throw new Error(`the server answered ${response.status}: ${await response.text()}`)
      if (await isSeenComplete(response, stream)) complete.add(id)
      if (pauseMs > 0) await Bun.sleep(pauseMs)
    }
  }
  const clients = Array.from({ length: count }, (_, number) => client(number))
  return {
    complete,
    hurry: async () => {
      pauseMs = 0
      const before = complete.size
      await pollUntil('answers without pauses', () => complete.size > before + count, {
        intervalMs: 2,
      })
    },
    stop: async () => {
      stopped = true
      await Promise.all(clients)
    },
  }
}

/**
 * A stream is complete for its client once `[DONE]` has arrived, whatever happens to the
 * connection.
 */
async function isSeenComplete(response: Response, stream: boolean): Promise<boolean> {
  let text = ''
  try {
    if (!stream) {
      JSON.parse(await response.text())
      return true
    }
    const decoder = new TextDecoder()
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes, { stream: true })
  } catch {
    // The server was killed; what counts is what had arrived.
  }
  return text.includes('data: [DONE]\n\n')
}
