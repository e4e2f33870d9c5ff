import { expect, test } from 'bun:test'
import { scanJsonObject } from '../wire/json-splice.ts'
import { BodyBudget, beginAttempt, toOutcome } from './call.ts'

test('bodies are held up to the last byte of their budget, and one that ends leaves its bytes to others', () => {
  const budget = new BodyBudget(100)
  const first = budget.open()
  const second = budget.open()
  first.take(60)
  second.take(40)
  expect(() => second.take(1)).toThrow('memory limit for request bodies')
  expect(budget.heldBytes).toBe(100)
  first.release()
  first.release()
  second.take(60)
  expect(budget.heldBytes).toBe(100)
})

test('a released body takes no more bytes, however many still come', () => {
  const budget = new BodyBudget(100)
  const body = budget.open()
  body.take(10)
  body.release()
  expect(() => body.take(20)).toThrow('The call has ended.')
  expect(budget.heldBytes).toBe(0)
})

test('a released body lets its text go, unless it was read after that', () => {
  const budget = new BodyBudget(100)
  const read = () => scanJsonObject(Buffer.from('{}'))
  const [first, late] = [read(), read()]
  const body = budget.open()
  body.own(first)
  body.release()
  expect(() => first.bytes).toThrow('was released')
  body.own(late)
  expect(late.bytes).toHaveLength(2)
})

test('a failed attempt has its own duration, one that goes on has lasted until now', () => {
  const at = (elapsedMs: number) => ({ elapsed: () => elapsedMs })
  const failed = beginAttempt(at(100), 'a/m')
  failed.status = 503
  failed.failedAt = failed.begunAt + 12.4
  const answering = { ...beginAttempt(at(120), 'b/n'), status: 200 }
  const silent = beginAttempt(at(700), 'c/o')
  const outcome = toOutcome(at(1_120), { begunAt: 619.6, attempts: [failed, answering, silent] })
  expect(outcome.latencyMs).toBe(500)
  expect(outcome.attempts).toEqual([
    { target: 'a/m', status: 503, ms: 12 },
    { target: 'b/n', status: 200, ms: 1_000 },
    { target: 'c/o', status: null, ms: 420 },
  ])
})
