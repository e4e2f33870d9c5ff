import { expect, test } from 'bun:test'
import { judge, paceCalls, percentile } from './paced-calls.ts'

const calls = Array.from({ length: 200 }, (_, index) => ({ dueAt: index, ms: index }))

test('a percentile is of the calls that were due in a stretch of time', () => {
  expect(percentile(calls, 0.99, { fromMs: 0, toMs: 100 })).toBe(99)
  expect(percentile(calls, 0.5, { fromMs: 100, toMs: 200 })).toBe(150)
  expect(percentile(calls, 0.5, { fromMs: 300, toMs: 400 })).toBeNaN()
})

test('calls are undisturbed up to twice the quiet time, or three milliseconds above it', () => {
  expect(judge(1, 4)).toBe('met')
  expect(judge(1, 4.1)).toBe('NOT MET')
  expect(judge(10, 20)).toBe('met')
  expect(judge(10, 20.1)).toBe('NOT MET')
  expect(judge(1, Number.NaN)).toBe('NOT MET')
})

test('no judgement is made if the quiet node itself is slow', () => {
  expect(judge(10.1, 1)).toBe('not measured')
  expect(judge(195, 390)).toBe('not measured')
  expect(judge(Number.NaN, 1)).toBe('not measured')
})

test('a call is timed from when it was due, and one that fails is counted', async () => {
  const held = Promise.withResolvers<void>()
  let made = 0
  const made3 = Promise.withResolvers<void>()
  const paced = paceCalls(1_000, async () => {
    made += 1
    if (made === 3) made3.resolve()
    if (made === 2) throw new Error('refused')
    await held.promise
  })
  await made3.promise
  held.resolve()
  await paced.stop()
  expect(paced.failed).toBe(1)
  expect(paced.calls.length).toBe(made - 1)
  for (const { ms } of paced.calls) expect(ms).toBeGreaterThanOrEqual(0)
})
