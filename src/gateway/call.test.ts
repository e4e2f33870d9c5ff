/**
 * A call's attempts: failed ones keep their time, and the answering one counts until it is
 * reported. All calls' bodies share one room.
 */
import { expect, test } from 'bun:test'
import { BodyRoom, beginAttempt, toOutcome } from './call.ts'

test('bodies are held up to the last byte of their room, and one that ends makes room for others', () => {
  const room = new BodyRoom(100)
  const first = room.open()
  const second = room.open()
  first.take(60)
  second.take(40)
  expect(() => second.take(1)).toThrow('as many bytes of requests as it may')
  expect(room.heldBytes).toBe(100)
  first.giveBack()
  first.giveBack()
  second.take(60)
  expect(room.heldBytes).toBe(100)
})

test('a call that gave its room back takes no more, however much of its body still comes', () => {
  const room = new BodyRoom(100)
  const share = room.open()
  share.take(10)
  share.giveBack()
  expect(() => share.take(20)).toThrow('The call is over.')
  expect(room.heldBytes).toBe(0)
})

test('a failed attempt has its own duration, one that goes on has lasted until now', () => {
  const at = (elapsedMs: number) => ({ elapsed: () => elapsedMs })
  const failed = beginAttempt(at(100), 'a/m')
  failed.status = 503
  failed.failedAt = failed.askedAt + 12.4
  const answering = { ...beginAttempt(at(120), 'b/n'), status: 200 }
  const silent = beginAttempt(at(700), 'c/o')
  const told = toOutcome(at(1_120), { begunAt: 619.6, attempts: [failed, answering, silent] })
  expect(told.latencyMs).toBe(500)
  expect(told.attempts).toEqual([
    { target: 'a/m', status: 503, ms: 12 },
    { target: 'b/n', status: 200, ms: 1_000 },
    { target: 'c/o', status: null, ms: 420 },
  ])
})
