/**
 * deploy/nginx.conf in front of two real nodes on Postgres and Redis: what compose.yaml promises,
 * without containers.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { startLoad } from '../support/call-load.ts'
import { createGate } from '../support/control-plane.ts'
import { chunk, LAST_CHUNK } from '../support/http-bytes.ts'
import { findNginx, type Nginx, startNginx } from '../support/nginx.ts'
import { pollUntil, within } from '../support/poll-until.ts'
import { createPostgresScene, type PostgresScene, waitForRows } from '../support/postgres-scene.ts'
import { findPostgres } from '../support/postgres-server.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { findRedis, type RedisServer, startRedis } from '../support/redis-server.ts'
import { beginStream, jsonAnswer } from '../support/scripted-answers.ts'
import { describeIf } from '../support/skip-unless.ts'
import {
  createBootstrapKey,
  type Gatehouse,
  PATIENT_WITH_DATABASE,
  PATIENT_WITH_REDIS,
  startGatehouse,
} from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

const isHere = [findNginx(), findPostgres(), findRedis()].every((program) => program !== undefined)
const ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4o',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
}

describeIf(isHere, 'needs nginx, Postgres and redis-server')('nginx in front of two nodes', () => {
  const key = createBootstrapKey()
  let scene: PostgresScene
  let redis: RedisServer
  let folder: TemporaryFolder
  let upstream: RawUpstream
  let nginx: Nginx
  let database: string
  const nodes: Gatehouse[] = []
  /** The address for clients. */
  let front: { url: string; key: string }

  async function startNode(index: number): Promise<void> {
    const port = nodes[index] === undefined ? '0' : new URL(nodes[index].url).port
    nodes[index] = await startGatehouse({
      sandbox: true,
      key,
      dataFolder: join(folder.path, `node-${index}`),
      environment: {
        DATABASE_URL: database,
        ...PATIENT_WITH_DATABASE,
        REDIS_URL: redis.url,
        ...PATIENT_WITH_REDIS,
        GATEHOUSE_PORT: port,
        // Less than compose.yaml has: here a balancer looks all the time.
        GATEHOUSE_DRAIN_DELAY_MS: '1000',
        GATEHOUSE_CLIENT_ADDRESS_HEADER: 'x-forwarded-for',
        OPENAI_API_KEY: 'sk-test',
        OPENAI_BASE_URL: `${upstream.url}/v1`,
      },
    })
  }

  function node(index: number): Gatehouse {
    const found = nodes[index]
    if (found === undefined) throw new Error(`there is no node ${index}`)
    return found
  }

  beforeAll(async () => {
    folder = await createTemporaryFolder()
    scene = await createPostgresScene()
    database = await scene.createDatabase()
    redis = await startRedis()
    upstream = await startRawUpstream()
    upstream.answer(jsonAnswer(200, ANSWER))
    await startNode(0)
    await createGate(node(0), 'assistant', ['openai/gpt-4o'])
    await startNode(1)
    nginx = await startNginx(nodes.map(({ url }) => url))
    front = { url: nginx.url, key }
  })
  afterAll(async () => {
    await nginx?.remove()
    for (const gatehouse of nodes) await gatehouse.remove()
    await upstream?.stop()
    await redis?.remove()
    await scene?.remove()
    await folder?.remove()
  })

  /**
   * @param from how long the log was when the node was there again: an older line says nothing of
   * it
   */
  function isUsedAgain(index: number, from: number): boolean {
    return nginx
      .log()
      .slice(from)
      .includes(` ${new URL(node(index).url).host} `)
  }

  function call(body: object, url = front.url): Promise<Response> {
    return fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  }

  test('an event of a stream arrives before the next one is sent, and the end when it comes', async () => {
    const seen = Promise.withResolvers<void>()
    upstream.answerOnce(async (exchange) => {
      await beginStream(exchange)
      await exchange.write(chunk('data: {"choices":[{"index":0,"delta":{"content":"one"}}]}\n\n'))
      await seen.promise
      await exchange.write(
        chunk('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'),
      )
      await exchange.write(chunk('data: [DONE]\n\n') + LAST_CHUNK)
    })
    const response = await call({ model: 'assistant', stream: true, messages: MESSAGES })
    let text = ''
    const decoder = new TextDecoder()
    const read = (async () => {
      for await (const bytes of response.body ?? []) {
        text += decoder.decode(bytes, { stream: true })
        if (text.includes('"one"')) seen.resolve()
      }
    })()
    await within(30_000, 'end of the stream', read)
    expect(text).toEndWith('data: [DONE]\n\n')
  })

  test('a body of 20 MB passes, a larger one is refused in its envelope, and no body is buffered on disk', async () => {
    const large = 'x'.repeat(20_000_000)
    expect(
      (await call({ model: 'assistant', messages: [{ role: 'user', content: large }] })).status,
    ).toBe(200)
    expect(upstream.last().body.byteLength).toBeGreaterThan(20_000_000)
    const refused = await call({
      model: 'assistant',
      messages: [{ role: 'user', content: 'x'.repeat(70_000_000) }],
    })
    expect(refused.status).toBe(413)
    expect(((await refused.json()) as { error: { message: string } }).error.message).toBeString()
    expect(
      readdirSync(nginx.folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => name),
    ).toEqual(['nginx.pid'])
    expect(nginx.log()).not.toContain('hello')
  })

  test('the connection upstream is closed when the client leaves', async () => {
    const left = Promise.withResolvers<Promise<number>>()
    upstream.answerOnce(async (exchange) => {
      await beginStream(exchange)
      await exchange.write(chunk('data: {"choices":[{"index":0,"delta":{"content":"one"}}]}\n\n'))
      left.resolve(exchange.whenClosed)
    })
    const response = await call({ model: 'assistant', stream: true, messages: MESSAGES })
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    await within(
      30_000,
      'end of the connection upstream',
      left.promise.then((closed) => closed),
    )
  })

  test('the metrics are out of its reach', async () => {
    expect((await fetch(`${front.url}/metrics`)).status).toBe(404)
  })

  test('a killed node is skipped: every call is answered', async () => {
    await node(0).kill()
    const statuses = await Promise.all(
      Array.from({ length: 40 }, () => statusOf(call({ model: 'demo', messages: MESSAGES }))),
    )
    expect(statuses).toEqual(Array.from({ length: 40 }, () => 200))
    await startNode(0)
    await pollUntil('calls on the first node again', async () => {
      await statusOf(call({ model: 'demo', messages: MESSAGES }))
      return nginx
        .log()
        .trimEnd()
        .split('\n')
        .at(-1)
        ?.includes(new URL(node(0).url).host)
    })
  })

  test('nodes restarted in turn under load fail no call, and each answer has its row', async () => {
    const complete = new Set<string>()
    const load = startLoad(front, { clients: 8, complete, pauseMs: 100 })
    for (const index of [0, 1]) {
      const before = complete.size
      await pollUntil('answers', () => complete.size > before + 50)
      expect(await node(index).stop()).toBe(0)
      await startNode(index)
      // As an operator does: a node that nginx found gone is no help for that long, though a call
      // that was waiting for it may have reached it.
      await Bun.sleep(NGINX_FORGIVES_AFTER_MS)
      const from = nginx.log().length
      await pollUntil('calls on it again', () => isUsedAgain(index, from))
    }
    await load.stop()
    expect(linesOfFailures(nginx.log())).toEqual([])
    await waitForRows(node(0), complete)
  })
})

/** `fail_timeout` in deploy/nginx.conf, which nginx counts in whole seconds. */
const NGINX_FORGIVES_AFTER_MS = 3_000
const MESSAGES = [{ role: 'user', content: 'hello' }]

function linesOfFailures(log: string): string[] {
  return log.split('\n').filter((line) => / 50\d \d+ \d/.test(line))
}

async function statusOf(answer: Promise<Response>): Promise<number> {
  const response = await answer
  await response.text()
  return response.status
}
