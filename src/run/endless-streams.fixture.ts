/**
 * Whole gateways in this process, on one store, whose upstream begins to answer and never ends: for
 * tests of running calls that must end.
 */
import { afterEach, beforeEach } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestDatabase } from '../../test/support/databases.ts'
import { readSettings } from '../config/settings.ts'
import { createLog } from '../telemetry/log.ts'
import { composeGatehouse, type Gatehouse } from './compose.ts'

export interface Asked {
  readonly key?: string
  readonly method?: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

/** @param environment of every node */
export function useEndlessStreams(environment: Readonly<Record<string, string>>) {
  let folder: string
  let upstream: ReturnType<typeof startUpstream>
  let left: number
  const nodes: Gatehouse[] = []

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-endless-'))
    left = 0
    upstream = startUpstream(() => {
      left += 1
    })
  })
  afterEach(async () => {
    await closeNodes()
    await upstream.stop(true)
    rmSync(folder, { recursive: true, force: true })
  })

  async function startNode(name: string, { location }: TestDatabase): Promise<Gatehouse> {
    const settings = readSettings({
      GATEHOUSE_DATA_DIR: join(folder, name),
      OPENAI_BASE_URL: `http://127.0.0.1:${upstream.port}/v1`,
      OPENAI_API_KEY: 'planted',
      ...environment,
      ...('postgres' in location ? { DATABASE_URL: location.postgres.url.reveal() } : {}),
    })
    const node = await composeGatehouse({ settings, log: createLog('silent') })
    nodes.push(node)
    return node
  }

  async function closeNodes(): Promise<void> {
    for (const node of nodes.splice(0)) await node.close()
  }

  /** How many exchanges the upstream has seen broken off. */
  return { startNode, closeNodes, left: () => left }
}

function startUpstream(onLeft: () => void) {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      request.signal.addEventListener('abort', onLeft)
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

/**
 * Reads all the time, as a client does, until the end; its end may be an error, which is no fault.
 */
export function follow(response: Response): {
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

export function ask(
  node: Gatehouse,
  path: string,
  { key, method = 'POST', body, headers }: Asked,
): Promise<Response> {
  return node.handle(
    new Request(`http://gatehouse.test${path}`, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        'content-type': 'application/json',
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  )
}

export const CHAT = '/v1/chat/completions'
export const STREAMED = {
  model: 'demo',
  stream: true,
  messages: [{ role: 'user', content: 'hi' }],
}
export const GATE = {
  targets: [{ model: 'openai/m' }],
  description: '',
  timeoutMs: null,
  maxRetries: 0,
}
