/** The retry times of a bucket. Tests of the limits cover the admissions. */
import { expect, test } from 'bun:test'
import { TokenBucket } from './token-bucket.ts'

test('waits are zero while enough is left, and exact to the millisecond otherwise', () => {
  const bucket = new TokenBucket(60, 0)
  expect([bucket.waitMsFor(0), bucket.waitMsFor(60), bucket.resetMs]).toEqual([0, 0, 0])
  bucket.charge(60)
  expect([bucket.waitMsFor(1), bucket.waitMsFor(2), bucket.resetMs]).toEqual([1_000, 2_000, 60_000])
  bucket.refill(60, 999)
  expect([bucket.remaining, bucket.waitMsFor(1)]).toEqual([0, 1])
  bucket.refill(60, 1_000)
  expect([bucket.remaining, bucket.waitMsFor(1)]).toEqual([1, 0])
})

test('time given once is not given again, even if moments come out of order', () => {
  const bucket = new TokenBucket(60_000, 0)
  bucket.charge(60_000)
  // The first of several concurrent calls may be reported last.
  for (const atMs of [10, 4, 10, 9, 1, 10, 10.5, 2]) bucket.refill(60_000, atMs)
  expect(bucket.parts).toBe(10 * 60_000)
  bucket.refill(60_000, 11)
  expect(bucket.remaining).toBe(11)
})

test('a part of a millisecond is given together with the rest of it, so that all stays whole numbers', () => {
  const bucket = new TokenBucket(7, 100.7)
  bucket.charge(7)
  for (let atMs = 100.8; atMs < 200; atMs += 0.3) {
    bucket.refill(7, atMs)
    expect(bucket.parts).toBe((Math.floor(atMs) - 100) * 7)
  }
})

test('a bucket that shrinks at a moment in the past holds no more than its new capacity', () => {
  const bucket = new TokenBucket(100, 1_000)
  bucket.refill(40, 999)
  expect([bucket.remaining, bucket.isFull]).toEqual([40, true])
})

test('a bucket of capacity zero stays full, and a wait for it is a minute', () => {
  const bucket = new TokenBucket(0, 0)
  expect([bucket.waitMsFor(1), bucket.resetMs]).toEqual([60_000, 0])
})
