import { expect, test } from 'bun:test'
import { ScriptedClock } from '../../test/support/scripted-clock.ts'
import { AnswerProgress, StreamedAnswer } from '../gateway/streamed-answer.ts'
import { Connections } from './connections.ts'

const IDLE_S = 75
const STALL_MS = 60_000

function open() {
  const clock = new ScriptedClock()
  const said: number[] = []
  const server = { timeout: (_: Request, seconds: number) => void said.push(seconds) }
  const connections = new Connections(server, { idleMs: IDLE_S * 1000, stallMs: STALL_MS }, clock)
  const request = new Request('http://gateway.test/')
  connections.begin(request)
  return { clock, said, connections, request }
}

async function* pieces(progress: AnswerProgress, count: number): AsyncGenerator<Uint8Array> {
  try {
    for (let index = 0; index < count; index += 1) yield Buffer.from('x')
  } finally {
    progress.end()
  }
}

function streamed(count: number) {
  const progress = new AnswerProgress()
  const body = pieces(progress, count)
  // Read as a server does: a reader of the web's kind would ask for everything ahead.
  const answer = new StreamedAnswer(body, { headers: {}, progress })
  return { answer, progress, body, read: async () => (await body.next()).value }
}

test('a request has no limit but the gateway’s own, and its connection rests with a whole answer', () => {
  const { said, connections, request } = open()
  expect(said).toEqual([0])
  connections.answered(request, new Response('x'))
  expect(said).toEqual([0, IDLE_S])
})

test('the connection of a stream rests when that is over, and not before', async () => {
  const { clock, said, connections, request } = open()
  const { answer, read } = streamed(2)
  connections.answered(request, answer)
  await clock.advance(STALL_MS / 2)
  expect(await read()).toBeDefined()
  await clock.advance(STALL_MS / 2)
  expect(await read()).toBeDefined()
  expect(said).toEqual([0])
  expect(await read()).toBeUndefined()
  expect(said).toEqual([0, IDLE_S])
  await clock.advance(2 * STALL_MS)
  expect({ said, pending: clock.pending }).toEqual({ said: [0, IDLE_S], pending: 0 })
})

test('a client that takes nothing loses its connection, and one that takes a little does not', async () => {
  const { clock, said, connections, request } = open()
  const slow = streamed(1_000)
  connections.answered(request, slow.answer)
  for (let index = 0; index < 10; index += 1) {
    await clock.advance(STALL_MS - 10_000)
    await slow.read()
  }
  expect(said).toEqual([0])
  await clock.advance(STALL_MS + 10_000)
  expect(said).toEqual([0, 1])
  expect(clock.pending).toBe(0)
})

test('a stream whose client left before its first piece is over', async () => {
  const { said, connections, request } = open()
  const { answer, progress, body } = streamed(3)
  connections.answered(request, answer)
  await body.return(undefined)
  expect(said).toEqual([0, IDLE_S])
  let isTold = false
  progress.whenOver(() => {
    isTold = true
  })
  expect(isTold).toBeTrue()
})
