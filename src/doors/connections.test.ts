import { expect, test } from 'bun:test'
import { ScriptedClock } from '../../test/support/scripted-clock.ts'
import { StreamedAnswer, sendEach } from '../gateway/relay/streamed-answer.ts'
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

/** To a client that takes a piece each time that the test says so. */
function streamed(count: number) {
  const answer = new StreamedAnswer(sendEach(Array(count).fill(Buffer.from('x'))), { headers: {} })
  let take = () => {}
  const client = {
    write: () =>
      new Promise<number>((resolve) => {
        take = () => resolve(1)
      }),
    flush: () => 0,
    close: () => undefined,
  }
  void answer.source.pull(client)
  const read = async () => {
    take()
    await Bun.sleep(0)
  }
  return { answer, read }
}

test('a request has only the gateway’s own limit, and its connection rests with a whole answer', () => {
  const { said, connections, request } = open()
  expect(said).toEqual([0])
  connections.answered(request, new Response('x'))
  expect(said).toEqual([0, IDLE_S])
})

test('the connection of a stream rests when that is over, and not before', async () => {
  const { clock, said, connections, request } = open()
  const { answer, read } = streamed(3)
  connections.answered(request, answer)
  await clock.advance(STALL_MS / 2)
  await read()
  await clock.advance(STALL_MS / 2)
  await read()
  expect(said).toEqual([0])
  await read()
  expect(said).toEqual([0, IDLE_S])
  await clock.advance(2 * STALL_MS)
  expect({ said, pending: clock.pending }).toEqual({ said: [0, IDLE_S], pending: 0 })
})

test('a client that reads nothing loses its connection, and one that reads a little does not', async () => {
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

test('a stream is over if its client left before the first piece', async () => {
  const { said, connections, request } = open()
  const answer = new StreamedAnswer(sendEach([Buffer.from('x')]), { headers: {} })
  connections.answered(request, answer)
  await answer.source.cancel()
  expect(said).toEqual([0, IDLE_S])
  let isTold = false
  answer.progress.whenOver(() => {
    isTold = true
  })
  expect(isTold).toBeTrue()
})
