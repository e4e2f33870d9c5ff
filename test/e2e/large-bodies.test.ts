/**
 * Large bodies whose memory is used again: whatever becomes of a call, its upstreams read its own
 * body, or a beginning of it, and not a byte of another one.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createServer, type Socket } from 'node:net'
import { createGate } from '../support/control-plane.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

setDefaultTimeout(120_000)

const ANSWER = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'hi' } }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
})
const CHUNK = {
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { content: 'hi' }, finish_reason: 'stop' }],
}
const EVENT = `data: ${JSON.stringify(CHUNK)}\n\n`
const END = 'data: [DONE]\n\n'
/** Each call fills its body with four characters of its own, of which the first says this. */
const WAYS = {
  a: 'is answered',
  s: 'is answered in a stream',
  b: 'is answered in a stream that begins before it has been read',
  f: 'fails at the first target, and is sent again',
  e: 'is answered before it has been read',
  l: 'its client leaves',
  h: 'is asked a second time beside the first',
} as const
/** The largest is more than the kernel takes at once. */
const SIZES = [70_000, 700_000, 6_000_000]
const TURNS = 4

const faults: string[] = []
let bodiesRead = 0

/** Reads slowly; the next request may follow in the very bytes that end a body. */
function serve(socket: Socket): void {
  let head = ''
  let body: Buffer[] = []
  let left = 0
  let isAnswered = false
  const read = (bytes: Buffer): void => {
    let rest = bytes
    if (left === 0) {
      head += rest.toString('latin1')
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      rest = rest.subarray(rest.byteLength - (head.length - end - 4))
      head = head.slice(0, end)
      left = Number(/content-length: (\d+)/i.exec(head)?.[1])
    }
    const own = rest.subarray(0, left)
    body.push(own)
    left -= own.byteLength
    const isFirst = head.includes(' /first')
    const way = wayOf(Buffer.concat(body.slice(0, 2)))
    if (way === 'e' && isFirst && !isAnswered) {
      // Its rest may come still, or never.
      isAnswered = true
      reply(socket, 413, '{}')
    } else if (way === 'b' && !isAnswered) {
      isAnswered = true
      socket.write(`${headOf(200, EVENT + END, 'text/event-stream')}${EVENT}`)
    }
    if (left === 0) {
      check(Buffer.concat(body))
      bodiesRead += 1
      if (way === 'b') socket.write(END)
      if (isAnswered) isAnswered = false
      else if (way === 'f' && isFirst) reply(socket, 500, '{"error":{"message":"no"}}')
      else if (way === 's') reply(socket, 200, EVENT + END, 'text/event-stream')
      else if (way !== 'h' || !isFirst) reply(socket, 200, ANSWER)
      body = []
      head = ''
    }
    socket.pause()
    setTimeout(
      () => socket.resume(),
      way === 'b' || way === 'l' || (way === 'h' && isFirst) ? 30 : 1,
    )
    if (own.byteLength < rest.byteLength) read(rest.subarray(own.byteLength))
  }
  socket.on('error', () => {})
  socket.on('close', () => check(Buffer.concat(body)))
  socket.on('data', read)
}

function reply(socket: Socket, status: number, body: string, type = 'application/json'): void {
  socket.write(headOf(status, body, type) + body)
}

function headOf(status: number, body: string, type: string): string {
  return `HTTP/1.1 ${status} X\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n`
}

const BEGINNING = '"content":"'

function wayOf(body: Buffer): string {
  const at = body.indexOf(BEGINNING)
  return at < 0 ? '' : String.fromCharCode(body[at + BEGINNING.length] ?? 0)
}

/** A body, or as much of it as came. */
function check(body: Buffer): void {
  const from = body.indexOf(BEGINNING) + BEGINNING.length
  if (from < BEGINNING.length || body.byteLength < from + 4) return
  const mark = body.subarray(from, from + 4)
  const end = body.indexOf('"', from)
  const content = body.subarray(from, end < 0 ? body.byteLength : end)
  const isOwn = content.equals(Buffer.alloc(content.byteLength, mark))
  // Behind its content there is its end, and nothing.
  const rest = end < 0 ? '' : body.toString('latin1', end)
  if (!isOwn || !'"}]}'.startsWith(rest))
    faults.push(`${mark} of ${body.byteLength} bytes: ${rest}`)
}

const server = createServer(serve)
let gatehouse: Gatehouse
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  gatehouse = await startGatehouse({
    environment: {
      OPENAI_BASE_URL: `http://127.0.0.1:${port}/first`,
      OPENAI_API_KEY: 'x',
      MISTRAL_BASE_URL: `http://127.0.0.1:${port}/second`,
      MISTRAL_API_KEY: 'x',
    },
  })
  const targets = ['openai/gpt-4o', 'mistral/mistral-large-latest']
  for (const way of Object.keys(WAYS))
    await createGate(gatehouse, `way-${way}`, targets, way === 'h' ? { hedgeAfterMs: 5 } : {})
})
afterAll(async () => {
  await gatehouse.remove()
  server.close()
})

async function call(way: string, mark: string, size: number): Promise<number> {
  const content = mark.repeat(Math.ceil(size / mark.length))
  const leaving = new AbortController()
  if (way === 'l') setTimeout(() => leaving.abort(), 20)
  try {
    const response = await fetch(`${gatehouse.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gatehouse.key}`, 'content-type': 'application/json' },
      body: `{"model":"way-${way}","stream":${way === 's' || way === 'b'},"messages":[{"role":"user","content":"${content}"}]}`,
      signal: leaving.signal,
    })
    await response.text()
    return response.status
  } catch (thrown) {
    if (leaving.signal.aborted) return 499
    throw thrown
  }
}

test('no upstream reads a byte of another call’s body, whatever becomes of the calls', async () => {
  const statuses = new Set<string>()
  const repeat = async (way: string, size: number, place: number): Promise<void> => {
    // Those that end at once take the memory of the others.
    const turns = way === 'a' ? 5 * TURNS : TURNS
    for (let turn = 0; turn < turns; turn += 1)
      statuses.add(`${way} ${await call(way, `${way}${turn.toString(36)}${place}-`, size)}`)
  }
  await Promise.all(
    Object.keys(WAYS).flatMap((way) => SIZES.map((size, place) => repeat(way, size, place))),
  )
  expect(faults).toEqual([])
  expect([...statuses].sort()).toEqual([
    'a 200',
    'b 200',
    'e 413',
    'f 200',
    'h 200',
    'l 499',
    's 200',
  ])
  expect(bodiesRead).toBeGreaterThan(4 * TURNS * SIZES.length)
})
