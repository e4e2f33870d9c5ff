/**
 * Streams that run while their key is deleted, over whole gateways in this process: by the same
 * node, and by another one.
 */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import { pollUntil } from '../../test/support/poll-until.ts'
import { readSettings } from '../config/settings.ts'
import { DEFAULT_ACCOUNT, type GateId } from '../core/ids.ts'
import { createLog } from '../telemetry/log.ts'
import { composeGatehouse, type Gatehouse } from './compose.ts'

let folder: string
let upstream: ReturnType<typeof startUpstream>
let hasLeft: boolean
const nodes: Gatehouse[] = []

/** Begins to answer, and never ends. */
function startUpstream() {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      request.signal.addEventListener('abort', () => {
        hasLeft = true
      })
      const choices = [{ index: 0, delta: { content: 'hi' }, finish_reason: null }]
      const event = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices }
      const body = new ReadableStream<Uint8Array>({
        start: (controller) =>
          controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`)),
      })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    },
  })
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-revoked-'))
  hasLeft = false
  upstream = startUpstream()
})
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close()
  await upstream.stop(true)
  rmSync(folder, { recursive: true, force: true })
})

async function startNode(name: string, { location }: TestDatabase): Promise<Gatehouse> {
  const settings = readSettings({
    GATEHOUSE_DATA_DIR: join(folder, name),
    GATEHOUSE_REVOKED_CALLS_MS: '50',
    OPENAI_BASE_URL: `http://127.0.0.1:${upstream.port}/v1`,
    OPENAI_API_KEY: 'planted',
    ...('postgres' in location ? { DATABASE_URL: location.postgres.url.reveal() } : {}),
  })
  const node = await composeGatehouse({ settings, log: createLog('silent') })
  nodes.push(node)
  return node
}

/**
 * Reads all the time, as a client does, until the end; its end may be an error, which is no fault.
 */
function follow(response: Response): {
  readonly told: () => string
  readonly ended: Promise<void>
} {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let told = ''
  const read = async () => {
    try {
      for (;;) {
        const next = await reader?.read()
        if (next?.value === undefined) return
        told += decoder.decode(next.value, { stream: true })
      }
    } catch {
      // Cut.
    }
  }
  return { told: () => told, ended: read() }
}

interface Asked {
  readonly key: string
  readonly method?: string
  readonly body?: object
}

function ask(
  node: Gatehouse,
  path: string,
  { key, method = 'POST', body }: Asked,
): Promise<Response> {
  return node.handle(
    new Request(`http://gatehouse.test${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  )
}

test.each(databases.map((kind) => [kind.name, kind] as const))(
  'a running stream gets an error and ends when its key is deleted, on every node: %s',
  async (_, kind) => {
    const database = await kind.create()
    try {
      const here = await startNode('here', database)
      // A file has one process.
      const there = kind.name === 'Postgres' ? await startNode('there', database) : here
      const target = {
        targets: [{ model: 'openai/m' }],
        description: '',
        timeoutMs: null,
        maxRetries: 0,
      }
      await here.gates.create(DEFAULT_ACCOUNT, { ...target, id: 'demo' as GateId })
      const other = await here.keys.create({ accountId: DEFAULT_ACCOUNT, name: 'other' })
      await there.catchUp()
      const body = { model: 'demo', stream: true, messages: [{ role: 'user', content: 'hi' }] }
      const untouched = await ask(there, '/v1/chat/completions', { key: other.key.reveal(), body })
      const spared = untouched.body?.getReader()
      await spared?.read()

      const key = other.key.reveal()
      const made = await here.keys.create({ accountId: DEFAULT_ACCOUNT, name: 'leaked' })
      await there.catchUp()
      const running = follow(
        await ask(there, '/v1/chat/completions', { key: made.key.reveal(), body }),
      )
      await pollUntil('the first event', () => running.told().includes('"hi"'))
      const deleted = await ask(here, `/v1/keys/${made.record.id}`, { key, method: 'DELETE' })
      expect(deleted.status).toBe(204)
      await running.ended
      expect(running.told()).toContain('"code":"invalid_api_key"')
      expect(running.told()).toContain('data: [DONE]')
      await pollUntil('the upstream to be left', () => hasLeft)
      const again = await ask(there, '/v1/chat/completions', { key: made.key.reveal(), body })
      expect(again.status).toBe(401)
      const row = await pollUntil('the row of the call', async () => {
        const logs = (await (await ask(here, '/v1/logs', { key, method: 'GET' })).json()) as {
          data: { keyId: string }[]
        }
        return logs.data.find(({ keyId }) => keyId === made.record.id)
      })
      expect(row).toMatchObject({ outcome: 'failed', errorKind: 'unauthorized' })
      await spared?.cancel()
    } finally {
      for (const node of nodes.splice(0)) await node.close()
      await database.remove()
    }
  },
)
