import { expect, test } from 'bun:test'
import { waitWithin } from './wait-within.ts'

const MINUTE_MS = 60_000
const never = new Promise<never>(() => {})

test('gives the result of the work, or its error', async () => {
  const limits = { signal: new AbortController().signal, withinMs: MINUTE_MS }
  expect(await waitWithin(Promise.resolve(1), limits)).toBe(1)
  expect(waitWithin(Promise.reject(new Error('broken')), limits)).rejects.toThrow('broken')
})

test('ends when the client leaves, or has left', async () => {
  const controller = new AbortController()
  const waiting = waitWithin(never, { signal: controller.signal, withinMs: MINUTE_MS })
  controller.abort()
  expect(waiting).rejects.toMatchObject({ type: 'cancelled' })
  expect(
    waitWithin(never, { signal: controller.signal, withinMs: MINUTE_MS }),
  ).rejects.toMatchObject({
    type: 'cancelled',
  })
})

test('ends when the time is over', () => {
  const { signal } = new AbortController()
  expect(waitWithin(never, { signal, withinMs: 1 })).rejects.toMatchObject({
    type: 'total_timeout',
  })
})
