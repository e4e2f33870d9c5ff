/** How long a bucket says that one has to wait; how much it gives out is tried where it is used. */
import { expect, test } from 'bun:test'
import { TokenBucket } from './token-bucket.ts'

test('nobody waits for what is there, and others to the millisecond', () => {
  const bucket = new TokenBucket(60, 0)
  expect([bucket.waitMsFor(0), bucket.waitMsFor(60), bucket.resetMs]).toEqual([0, 0, 0])
  bucket.charge(60)
  expect([bucket.waitMsFor(1), bucket.waitMsFor(2), bucket.resetMs]).toEqual([1_000, 2_000, 60_000])
  bucket.refill(60, 999)
  expect([bucket.remaining, bucket.waitMsFor(1)]).toEqual([0, 1])
  bucket.refill(60, 1_000)
  expect([bucket.remaining, bucket.waitMsFor(1)]).toEqual([1, 0])
})

test('nothing comes back to a bucket of nothing: one waits a minute, and it is as full as it gets', () => {
  const bucket = new TokenBucket(0, 0)
  expect([bucket.waitMsFor(1), bucket.resetMs]).toEqual([60_000, 0])
})
