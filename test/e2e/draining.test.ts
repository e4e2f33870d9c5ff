/**
 * How a server leaves its place behind a balancer: it says so, and whatever was sent to it is
 * answered.
 */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { connect } from 'node:net'
import OpenAI from 'openai'
import { listLogRows } from '../support/control-plane.ts'
import { CHAT_STREAM } from '../support/dialect-samples.ts'
import { chunk, composeRequest, LAST_CHUNK } from '../support/http-bytes.ts'
import { pollUntil, within } from '../support/poll-until.ts'
import { connectRaw, finishedAnswer, type RawConnection } from '../support/raw-client.ts'
import { CHAT, openRawScene, type RawScene } from '../support/raw-scene.ts'
import type { Exchange } from '../support/raw-upstream.ts'
import { beginStream } from '../support/scripted-answers.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

setDefaultTimeout(180_000)

const READY = 'GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n'
const HEALTH = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'

function callOf({ key }: Pick<Gatehouse, 'key'>, model: string, stream: boolean): Buffer {
  return Buffer.from(
    composeRequest({
      path: CHAT,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'hello' }] }),
    }),
  )
}

/** The status lines that came, and whether each answer told its client to close. */
function answersOn(connection: RawConnection): { status: number; closes: boolean }[] {
  return connection
    .received()
    .toString('latin1')
    .split('HTTP/1.1 ')
    .slice(1)
    .map((answer) => ({
      status: Number(answer.slice(0, 3)),
      closes: /\r\nconnection: close\r\n/i.test(answer),
    }))
}

async function openKeptAlive(url: string): Promise<RawConnection> {
  const connection = await connectRaw(url)
  connection.send(HEALTH)
  await finishedAnswer(connection)
  return connection
}

function isRefused(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) })
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', () => resolve(true))
  })
}

describe('on SIGTERM', () => {
  let scene: RawScene
  let upstreamSide: Exchange
  let stream: RawConnection
  /** A stream that is open keeps the server from its end for as long as a test likes. */
  const open = async (environment: Readonly<Record<string, string>>) => {
    scene = await openRawScene({ gates: { chat: 'openai/gpt-4o' }, sandbox: true, environment })
    const exchange = Promise.withResolvers<Exchange>()
    scene.upstream.answer(async (side) => {
      await beginStream(side)
      await side.write(chunk(CHAT_STREAM[0] ?? ''))
      exchange.resolve(side)
    })
    stream = await connectRaw(scene.gatehouse.url)
    stream.send(callOf(scene.gatehouse, 'chat', true))
    upstreamSide = await exchange.promise
    await pollUntil('the first event', () => stream.received().includes('chatcmpl-1'))
  }
  const finish = async () => {
    for (const event of CHAT_STREAM.slice(1)) await upstreamSide.write(chunk(event))
    await upstreamSide.write(LAST_CHUNK)
  }
  afterEach(() => scene.close())

  test('the gateway is not ready at once, and accepts calls until GATEHOUSE_DRAIN_DELAY_MS is over', async () => {
    await open({ GATEHOUSE_DRAIN_DELAY_MS: '1500' })
    const { gatehouse } = scene
    gatehouse.signal('SIGTERM')
    const ready = await pollUntil('the draining', async () => {
      const answer = await fetch(`${gatehouse.url}/readyz`)
      return answer.status === 503 ? answer : undefined
    })
    expect(await ready.json()).toMatchObject({
      status: 'draining',
      checks: { ledger: { status: 'ok' } },
    })
    // A separate connection: no other has an answer yet.
    const call = await connectRaw(gatehouse.url)
    call.send(callOf(gatehouse, 'demo', false))
    expect(await finishedAnswer(call)).toMatchObject({ status: 200, complete: true })
    expect(answersOn(call)).toEqual([{ status: 200, closes: true }])
    // Running calls are not to be killed.
    expect((await fetch(`${gatehouse.url}/healthz`)).status).toBe(200)
    await pollUntil('the end of accepting', () => isRefused(gatehouse.url))
    await finish()
    expect((await finishedAnswer(stream)).complete).toBeTrue()
    expect(await within(45_000, 'exit', gatehouse.exited)).toBe(0)
  })

  test('calls on kept-alive connections are answered, and no new connection is accepted', async () => {
    await open({})
    const { gatehouse } = scene
    const kept = await Promise.all(Array.from({ length: 20 }, () => openKeptAlive(gatehouse.url)))
    gatehouse.signal('SIGTERM')
    // In the same moment.
    for (const connection of kept.slice(0, 10)) connection.send(callOf(gatehouse, 'demo', false))
    await pollUntil('the end of accepting', () => isRefused(gatehouse.url))
    for (const connection of kept.slice(10)) connection.send(callOf(gatehouse, 'demo', false))
    for (const connection of kept)
      await pollUntil('the answer', () => answersOn(connection).length === 2 || connection.closed)
    // The answer to a call of the same moment may have been ready before the signal.
    for (const connection of kept)
      expect(answersOn(connection)[1]).toEqual({ status: 200, closes: expect.any(Boolean) })
    for (const connection of kept.slice(10)) {
      expect(answersOn(connection)[1]?.closes).toBeTrue()
      await pollUntil('the close', () => connection.closed)
    }
    await finish()
    expect((await finishedAnswer(stream)).complete).toBeTrue()
    expect(await within(45_000, 'exit', gatehouse.exited)).toBe(0)
  })

  test('a readiness check on a kept-alive connection gets "not ready"', async () => {
    await open({})
    const kept = await openKeptAlive(scene.gatehouse.url)
    scene.gatehouse.signal('SIGTERM')
    await pollUntil('the end of accepting', () => isRefused(scene.gatehouse.url))
    kept.send(READY)
    await pollUntil('the answer', () => answersOn(kept).length === 2)
    expect(answersOn(kept)[1]).toEqual({ status: 503, closes: true })
    await finish()
    expect(await within(45_000, 'exit', scene.gatehouse.exited)).toBe(0)
  })

  test('a second signal ends the gateway at once, whatever the delay', async () => {
    await open({ GATEHOUSE_DRAIN_DELAY_MS: '3600000' })
    scene.gatehouse.signal('SIGTERM')
    await pollUntil(
      'the draining',
      async () => (await fetch(`${scene.gatehouse.url}/readyz`)).status === 503,
    )
    scene.gatehouse.signal('SIGTERM')
    expect(await within(45_000, 'exit', scene.gatehouse.exited)).toBe(1)
  })
})

describe('under load', () => {
  let gatehouse: Gatehouse
  beforeEach(async () => {
    gatehouse = await startGatehouse({ sandbox: true })
  })
  afterEach(() => gatehouse.remove())

  const CLIENTS = 12

  test('an unmodified SDK sees no failed call except refused connections', async () => {
    const client = new OpenAI({
      apiKey: gatehouse.key,
      baseURL: `${gatehouse.url}/v1`,
      maxRetries: 0,
    })
    const failed: string[] = []
    const seen = new Set<string>()
    const work = async (number: number) => {
      for (let call = number; ; call += 1) {
        try {
          const { data, response } = await ask(client, call % 2 === 0)
          if (data !== 'Sandbox echo: hello') failed.push(`the answer was ${data}`)
          seen.add(response.headers.get('x-request-id') ?? '')
        } catch (error) {
          const text = describeFailure(error)
          if (!/ConnectionRefused|ECONNREFUSED/.test(text)) failed.push(text)
          return
        }
      }
    }
    const clients = Array.from({ length: CLIENTS }, (_, number) => work(number))
    await pollUntil('some load', () => seen.size > 100)
    gatehouse.signal('SIGTERM')
    await Promise.all(clients)
    expect(failed).toEqual([])
    expect(await within(45_000, 'exit', gatehouse.exited)).toBe(0)

    const again = await startGatehouse({ dataFolder: gatehouse.dataFolder, key: gatehouse.key })
    try {
      const rows = (await listLogRows(again)).map(({ id }) => id)
      expect(rows.filter((id) => seen.has(id)).sort()).toEqual([...seen].sort())
      expect(rows).toHaveLength(seen.size)
    } finally {
      await again.kill()
    }
  })

  test('an open connection is answered or was refused, and never reset', async () => {
    const ends = new Map<string, number>()
    let answered = 0
    const work = async () => {
      for (;;) {
        const end = await callOnce(gatehouse)
        ends.set(end, (ends.get(end) ?? 0) + 1)
        if (end !== 'answered') return
        answered += 1
      }
    }
    const clients = Array.from({ length: CLIENTS * 4 }, work)
    await pollUntil('some load', () => answered > 200)
    gatehouse.signal('SIGTERM')
    await Promise.all(clients)
    expect([...ends.keys()].sort()).toEqual(['ECONNREFUSED', 'answered'])
    expect(await within(45_000, 'exit', gatehouse.exited)).toBe(0)
  })

  /** Asks on a separate connection. @returns how it ended */
  function callOnce({ url, key }: Gatehouse): Promise<string> {
    const { hostname, port } = new URL(url)
    return new Promise((resolve) => {
      const parts: Buffer[] = []
      const socket = connect({ host: hostname, port: Number(port), noDelay: true })
      socket.once('connect', () => socket.write(callOf({ key }, 'demo', false)))
      socket.on('data', (data) => {
        parts.push(data as Buffer)
        if (!Buffer.concat(parts).includes('Sandbox echo: hello')) return
        socket.destroy()
        resolve('answered')
      })
      socket.once('error', (error) => resolve('code' in error ? String(error.code) : error.message))
      socket.once('close', () => resolve('closed'))
    })
  }

  async function ask(client: OpenAI, isStream: boolean) {
    const question = { model: 'demo', messages: [{ role: 'user' as const, content: 'hello' }] }
    if (!isStream) {
      const { data, response } = await client.chat.completions.create(question).withResponse()
      return { data: data.choices[0]?.message.content, response }
    }
    const { data, response } = await client.chat.completions
      .create({ ...question, stream: true })
      .withResponse()
    let text = ''
    for await (const event of data) text += event.choices[0]?.delta.content ?? ''
    return { data: text, response }
  }

  function describeFailure(error: unknown): string {
    if (!(error instanceof Error)) return String(error)
    const code = 'code' in error ? String(error.code) : ''
    return `${error.name} ${error.message} ${code} ${error.cause === undefined ? '' : describeFailure(error.cause)}`
  }
})
