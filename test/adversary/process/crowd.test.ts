/**
 * Many at once who ask for little and hold much: bodies that are not read, bodies that stop
 * half-way, bodies that are large, heads and bodies byte by byte. Against a real process: it goes
 * on answering others, holds no more memory than it may, and pays no more than twenty times what
 * the same bytes cost when they come as they should.
 */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { IS_LONG, tellProgress } from '../../support/chaos-form.ts'
import { pollUntil } from '../../support/poll-until.ts'
import { mostResidentBytes } from '../../support/process-memory.ts'
import { processorTicks } from '../../support/processor-time.ts'
import { testIf } from '../../support/skip-unless.ts'
import { type Gatehouse, startGatehouse } from '../../support/start-gatehouse.ts'

setDefaultTimeout(IS_LONG ? 1_800_000 : 240_000)

const MOST = 20
const LEAST_TICKS = 2
const MIB = 1024 * 1024
/**
 * Bodies may take 128 MiB together; the rest is the program, and what the kernel has handed over
 * and nobody has read.
 */
const MOST_BYTES = 512 * MIB
const CROWD = IS_LONG ? 400 : 60
const CONCURRENT_CALLS = 5
const isLinux = process.platform === 'linux'
const needsProc = testIf(isLinux, 'needs /proc')

let gatehouse: Gatehouse
beforeAll(async () => {
  gatehouse = await startGatehouse({
    sandbox: true,
    environment: {
      GATEHOUSE_CONCURRENT_CALLS: String(CONCURRENT_CALLS),
      GATEHOUSE_MAX_HELD_BODY_BYTES: String(128 * MIB),
    },
  })
})
afterAll(() => gatehouse.remove())

interface Sender {
  readonly socket: Socket
  text: string
  isClosed: boolean
}

const senders: Sender[] = []
afterEach(() => {
  for (const { socket } of senders.splice(0)) socket.destroy()
})

async function open(): Promise<Sender> {
  const { hostname, port } = new URL(gatehouse.url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  const sender: Sender = { socket, text: '', isClosed: false }
  senders.push(sender)
  socket.on('data', (data) => {
    sender.text += data.toString('latin1')
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    sender.isClosed = true
  })
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  return sender
}

const openCrowd = (size: number) => Promise.all(Array.from({ length: size }, open))
const statusOf = ({ text }: Sender) => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0)
const answered = (crowd: readonly Sender[]) =>
  pollUntil('all answers', () => crowd.every((sender) => statusOf(sender) > 0 || sender.isClosed), {
    timeoutMs: 120_000,
  })

const CHAT = '/v1/chat/completions'
const auth = () => `authorization: Bearer ${gatehouse.key}\r\n`
const page = () => 'origin: http://x\r\nx-gatehouse-csrf: 1\r\n'
const post = (path: string, length: number, headers: string) =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${headers}content-length: ${length}\r\n\r\n`

async function expectWell(): Promise<void> {
  expect((await fetch(`${gatehouse.url}/healthz`)).status).toBe(200)
  expect(await mostResidentBytes(gatehouse.pid)).toBeLessThan(MOST_BYTES)
}

async function ticksOf(work: () => Promise<unknown>): Promise<number> {
  const before = await processorTicks(gatehouse.pid)
  await work()
  return (await processorTicks(gatehouse.pid)) - before
}

function expectFair(name: string, hostile: number, harmless: number): void {
  tellProgress(`${name}: ${hostile} ticks, harmless ${harmless}`)
  expect(hostile).toBeLessThanOrEqual(MOST * Math.max(LEAST_TICKS, harmless))
}

/** Sends as much of a body as the other side accepts, until it has answered. */
async function pour(sender: Sender, bytes: number): Promise<void> {
  const piece = Buffer.alloc(MIB, ' ')
  for (let sent = 0; sent < bytes && !sender.isClosed && statusOf(sender) === 0; sent += MIB) {
    if (sender.socket.write(piece)) continue
    const drained = new Promise<void>((resolve) => sender.socket.once('drain', resolve))
    const over = pollUntil('an answer', () => sender.isClosed || statusOf(sender) > 0, {
      timeoutMs: 120_000,
    })
    await Promise.race([drained, over])
  }
}

needsProc(
  'large bodies on one key: as many are read as it may have calls, and the others are told so',
  async () => {
    // Five of them find room, so that it is the key that has none for more.
    const bytes = 24 * MIB
    const once = async () => {
      const body = `{"model":"demo","messages":[{"role":"user","content":"hi"}]${' '.repeat(bytes)}}`
      await fetch(`${gatehouse.url}${CHAT}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gatehouse.key}` },
        body,
      })
    }
    const harmless = await ticksOf(once)
    const crowd = await openCrowd(24)
    const hostile = await ticksOf(async () => {
      for (const { socket } of crowd) socket.write(post(CHAT, bytes, auth()))
      await Promise.all(crowd.map((sender) => pour(sender, bytes)))
      await answered(crowd)
    })
    const statuses = crowd.map(statusOf)
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(
      24 - 4 * CONCURRENT_CALLS,
    )
    // Those that were read are no JSON, or found no room.
    for (const status of statuses) expect([400, 429, 503, 0]).toContain(status)
    expectFair('large bodies', hostile, harmless * 24)
    await expectWell()
  },
)

needsProc('bodies that nobody reads after a 401 stay where they are', async () => {
  const bytes = 16 * MIB
  const crowd = await openCrowd(CROWD)
  const harmless = await ticksOf(async () => {
    for (let round = 0; round < CROWD; round += 1)
      await fetch(`${gatehouse.url}${CHAT}`, { method: 'POST', body: '{}' })
  })
  const hostile = await ticksOf(async () => {
    for (const { socket } of crowd) socket.write(post(CHAT, bytes, ''))
    await answered(crowd)
    // All that the kernel takes of them, and no more.
    for (const { socket } of crowd)
      for (let sent = 0; sent < 4; sent += 1) socket.write(Buffer.alloc(MIB, ' '))
    await expectWell()
  })
  expect(new Set(crowd.map(statusOf))).toEqual(new Set([401]))
  expectFair('unread bodies', hostile, harmless)
  await expectWell()
})

for (const [name, path, headers] of [
  ['of calls', CHAT, auth],
  ['of sign-ins', '/v1/auth/sign-in', page],
  ['of changes', '/v1/gates', auth],
] as const)
  needsProc(`bodies ${name} that stop half-way hold up nobody else`, async () => {
    const crowd = await openCrowd(CROWD)
    for (const { socket } of crowd) socket.write(`${post(path, 1_000, headers())}{"model":`)
    await expectWell()
    // On both planes: the second is loaded with the first request to it.
    for (const other of ['/v1/models', '/v1/account']) {
      const asked = await fetch(`${gatehouse.url}${other}`, {
        headers: { authorization: `Bearer ${gatehouse.key}` },
      })
      expect(asked.status).toBe(200)
    }
    // They wait for the rest of their bodies, or were told that there are too many of them.
    for (const sender of crowd) expect([0, 429]).toContain(statusOf(sender))
  })

needsProc('requests that come byte by byte cost no more than twenty that come whole', async () => {
  const request = `GET /v1/models HTTP/1.1\r\nhost: x\r\n${auth()}x-padding: ${'x'.repeat(100)}\r\n\r\n`
  const whole = await openCrowd(CROWD)
  const harmless = await ticksOf(async () => {
    for (const { socket } of whole) socket.write(request)
    await answered(whole)
  })
  const slow = await openCrowd(CROWD)
  const hostile = await ticksOf(async () => {
    for (const byte of request) {
      for (const { socket } of slow) socket.write(byte)
      // A turn of the loop, so that each byte is a packet of its own.
      await new Promise((resolve) => setImmediate(resolve))
    }
    await answered(slow)
  })
  expect(new Set([...whole, ...slow].map(statusOf))).toEqual(new Set([200]))
  expectFair('slow heads', hostile, harmless)
  await expectWell()
})

needsProc('a body in chunks of a byte costs no more than twenty of the same size', async () => {
  const text = `{"model":"demo","messages":[{"role":"user","content":"${'h'.repeat(50_000)}"}]}`
  const body = `${[...text].map((letter) => `1\r\n${letter}\r\n`).join('')}0\r\n\r\n`
  const framed = `POST ${CHAT} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${auth()}`
  const rounds = IS_LONG ? 40 : 8
  const ask = async (request: string) => {
    const sender = await open()
    sender.socket.write(request)
    await answered([sender])
    expect(statusOf(sender)).toBe(200)
    sender.socket.destroy()
  }
  const padded = text.replace('hhh', 'h'.repeat(3 + body.length - text.length))
  const harmless = await ticksOf(async () => {
    for (let round = 0; round < rounds; round += 1)
      await ask(`${framed}content-length: ${padded.length}\r\n\r\n${padded}`)
  })
  const hostile = await ticksOf(async () => {
    for (let round = 0; round < rounds; round += 1)
      await ask(`${framed}transfer-encoding: chunked\r\n\r\n${body}`)
  })
  expectFair('chunks of a byte', hostile, harmless)
  await expectWell()
})
