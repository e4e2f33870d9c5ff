/** How the server ends and comes back, and what it says of its health. */
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createGate, listLogRows } from '../support/control-plane.ts'
import { CHAT_STREAM } from '../support/dialect-samples.ts'
import { chunk, composeRequest, LAST_CHUNK } from '../support/http-bytes.ts'
import { pollUntil, within } from '../support/poll-until.ts'
import { connectRaw, finishedAnswer, type RawConnection } from '../support/raw-client.ts'
import { CHAT, openRawScene, type RawScene } from '../support/raw-scene.ts'
import type { Exchange } from '../support/raw-upstream.ts'
import { beginStream } from '../support/scripted-answers.ts'
import { startGatehouse } from '../support/start-gatehouse.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

let scene: RawScene | undefined
afterEach(async () => {
  await scene?.close()
  scene = undefined
})

const BODY = '{"model":"chat","stream":true,"stream_options":{"include_usage":true},"messages":[]}'

async function openStream(
  opened: RawScene,
): Promise<{ connection: RawConnection; upstreamSide: Exchange }> {
  const exchange = Promise.withResolvers<Exchange>()
  opened.upstream.answer(async (upstreamSide) => {
    await beginStream(upstreamSide)
    await upstreamSide.write(chunk(CHAT_STREAM[0] ?? ''))
    exchange.resolve(upstreamSide)
  })
  const connection = await connectRaw(opened.gatehouse.url)
  connection.send(
    composeRequest({
      path: CHAT,
      headers: {
        authorization: `Bearer ${opened.gatehouse.key}`,
        'content-type': 'application/json',
      },
      body: BODY,
    }),
  )
  const upstreamSide = await exchange.promise
  await pollUntil('the first event', () => connection.received().includes('chatcmpl-1'))
  return { connection, upstreamSide }
}

describe('SIGTERM', () => {
  test('lets a running stream finish, takes no new call, writes its row, and exits with 0', async () => {
    scene = await openRawScene({ gates: { chat: 'openai/gpt-4o' } })
    const { gatehouse } = scene
    const { connection, upstreamSide } = await openStream(scene)
    gatehouse.signal('SIGTERM')
    await pollUntil('the server to take no new connection', () =>
      fetch(`${gatehouse.url}/healthz`).then(
        (response) => response.status === 503,
        () => true,
      ),
    )
    for (const event of CHAT_STREAM.slice(1)) await upstreamSide.write(chunk(event))
    await upstreamSide.write(LAST_CHUNK)
    const answer = await finishedAnswer(connection)
    expect(answer.text).toBe(CHAT_STREAM.join(''))
    expect(answer.complete).toBeTrue()
    expect(await within(30_000, 'exit', gatehouse.exited)).toBe(0)

    const again = await startGatehouse({ dataFolder: gatehouse.dataFolder, key: gatehouse.key })
    const rows = await pollUntil('the row', async () => {
      const found = await listLogRows(again)
      return found.length > 0 ? found : undefined
    })
    expect(rows.filter((row) => row.id === answer.headers['x-request-id'])).toHaveLength(1)
    expect(rows.find((row) => row.id === answer.headers['x-request-id'])).toMatchObject({
      outcome: 'succeeded',
    })
    await again.remove()
  })

  test('does not wait for idle connections', async () => {
    scene = await openRawScene({
      gates: { chat: 'openai/gpt-4o' },
      // Longer than the test would wait for the end.
      environment: { GATEHOUSE_SHUTDOWN_TIMEOUT_MS: '3600000' },
    })
    const idle = await connectRaw(scene.gatehouse.url)
    const keptAlive = await connectRaw(scene.gatehouse.url)
    keptAlive.send('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
    await finishedAnswer(keptAlive)
    expect(await scene.gatehouse.stop()).toBe(0)
    idle.destroy()
    keptAlive.destroy()
  })

  test('breaks a stream that outlasts the deadline, uncleanly, and exits with 0', async () => {
    scene = await openRawScene({
      gates: { chat: 'openai/gpt-4o' },
      environment: { GATEHOUSE_SHUTDOWN_TIMEOUT_MS: '1000' },
    })
    const { connection } = await openStream(scene)
    expect(await scene.gatehouse.stop()).toBe(0)
    const answer = await finishedAnswer(connection)
    expect(answer.complete).toBeFalse()
    expect(answer.text).toContain('error')

    const again = await startGatehouse({
      dataFolder: scene.gatehouse.dataFolder,
      key: scene.gatehouse.key,
    })
    const rows = await pollUntil('the row', async () => {
      const found = await listLogRows(again)
      return found.length > 0 ? found : undefined
    })
    expect(rows).toHaveLength(1)
    expect(rows[0]?.outcome).not.toBe('succeeded')
    await again.remove()
  })

  test('SIGINT does the same', async () => {
    scene = await openRawScene({ gates: {} })
    scene.gatehouse.signal('SIGINT')
    expect(await within(30_000, 'exit', scene.gatehouse.exited)).toBe(0)
  })
})

describe('health', () => {
  test('/healthz and /readyz answer without a key', async () => {
    scene = await openRawScene({ gates: {} })
    for (const path of ['/healthz', '/readyz']) {
      const response = await fetch(scene.gatehouse.url + path)
      expect(response.status).toBe(200)
      expect(await response.text()).not.toContain(scene.gatehouse.dataFolder)
    }
  })

  test('a stopped server starts again with its gates', async () => {
    scene = await openRawScene({ gates: { chat: 'openai/gpt-4o' } })
    await createGate(scene.gatehouse, 'second', 'openai/gpt-5')
    expect(await scene.gatehouse.stop()).toBe(0)
    const again = await startGatehouse({
      dataFolder: scene.gatehouse.dataFolder,
      key: scene.gatehouse.key,
    })
    const models = await fetch(`${again.url}/v1/models`, {
      headers: { authorization: `Bearer ${again.key}` },
    })
    const { data } = (await models.json()) as { data: { id: string }[] }
    expect(data.map((model) => model.id).sort()).toEqual(['chat', 'second'])
    await again.remove()
  })

  test('two servers never write one data folder', async () => {
    scene = await openRawScene({ gates: {} })
    const { dataFolder, key } = scene.gatehouse
    const second = await startGatehouse({ dataFolder, key }).catch((error: unknown) =>
      String(error),
    )
    expect(second).toContain('did not start')
    expect((await fetch(`${scene.gatehouse.url}/healthz`)).status).toBe(200)
  })
})
