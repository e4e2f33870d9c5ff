/** What a client has seen complete is in the ledger, even when the process is killed the next instant (design §6). */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type LogRow, listLogRows } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { createBootstrapKey, type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that follows.
setDefaultTimeout(30_000)

const ROUNDS = 20
const CLIENTS = 12

let folder: TemporaryFolder
const key = createBootstrapKey()
beforeAll(async () => {
  folder = await createTemporaryFolder()
})
afterAll(() => folder.remove())

interface Load {
  /** Ids of the calls whose answer a client has seen to its end. */
  readonly complete: Set<string>
  stop(): Promise<void>
}

/** Clients that call as fast as they are answered, JSON and streams, until they are stopped or the server is gone. */
function startLoad(gatehouse: Gatehouse, complete: Set<string>): Load {
  let stopped = false
  const client = async (number: number): Promise<void> => {
    for (let call = number; !stopped; call++) {
      const stream = call % 2 === 0
      const response = await fetch(`${gatehouse.url}/v1/chat/completions`, {
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
    }
  }
  const clients = Array.from({ length: CLIENTS }, (_, number) => client(number))
  return {
    complete,
    stop: async () => {
      stopped = true
      await Promise.all(clients)
    },
  }
}

/** A stream is complete for its client from the moment that `[DONE]` has arrived, whatever becomes of the connection. */
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

test(`SIGKILL under load, ${ROUNDS} times: every answer seen complete has exactly one row`, async () => {
  const complete = new Set<string>()
  for (let round = 0; round < ROUNDS; round++) {
    const gatehouse = await startGatehouse({ sandbox: true, dataFolder: folder.path, key })
    const load = startLoad(gatehouse, complete)
    const before = complete.size
    await pollUntil('the first answers', () => complete.size > before + CLIENTS)
    // Some rounds end before the first shipment, some in the middle of one, some after it.
    await Bun.sleep(Math.random() * 1500)
    await gatehouse.kill()
    await load.stop()
  }

  const gatehouse = await startGatehouse({ sandbox: true, dataFolder: folder.path, key })
  try {
    const rows = await pollUntil(
      'the rows of every complete answer',
      async (): Promise<LogRow[] | undefined> => {
        const found = await listLogRows(gatehouse)
        const ids = new Set(found.map((row) => row.id))
        return [...complete].every((id) => ids.has(id)) ? found : undefined
      },
      { timeoutMs: 30_000, intervalMs: 1000 },
    )
    const counts = new Map<string, number>()
    for (const row of rows) counts.set(row.id, (counts.get(row.id) ?? 0) + 1)
    expect(complete.size).toBeGreaterThan(ROUNDS * CLIENTS)
    expect([...counts.values()].every((count) => count === 1)).toBeTrue()
    for (const row of rows) if (complete.has(row.id)) expect(row.outcome).toBe('succeeded')
  } finally {
    await gatehouse.remove()
  }
}, 150_000)
