import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { Lease, momentOf } from './lease.ts'

test('a lease ends for its holder before it ends for its grantor, with any clocks and delays', () => {
  const step = fc.record({
    steadyMs: fc.integer({ min: 0, max: 5_000 }),
    // The machine slept, or its clock was set.
    jumpMs: fc.oneof(fc.constant(0), fc.integer({ min: -100_000, max: 100_000 })),
    isAsked: fc.boolean(),
    answerMs: fc.integer({ min: 0, max: 4_000 }),
    durationMs: fc.integer({ min: 1, max: 4_000 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let steadyMs = 0
      let wallMs = 1_700_000_000_000
      const lease = new Lease({ steady: () => steadyMs, wall: () => wallMs })
      // By the grantor's clock, which is never set.
      let grantedUntilMs = 0
      for (const { steadyMs: passedMs, jumpMs, isAsked, answerMs, durationMs } of steps) {
        steadyMs += passedMs
        wallMs += passedMs + jumpMs
        if (isAsked) {
          const asked = momentOf({ steady: () => steadyMs, wall: () => wallMs })
          // It was granted at any time between asking and the answer; the earliest is what counts.
          grantedUntilMs = steadyMs + durationMs
          steadyMs += answerMs
          wallMs += answerMs
          lease.grant(asked, durationMs)
        }
        if (lease.isLive()) expect(steadyMs).toBeLessThan(grantedUntilMs)
        expect(lease.isLive()).toBe(lease.leftMs > 0)
      }
    }),
  )
})

test('a lease ends after a machine’s sleep by its wall clock, and after a clock change by the steady one', () => {
  let steadyMs = 0
  let wallMs = 0
  const lease = new Lease({ steady: () => steadyMs, wall: () => wallMs })
  lease.grant({ steadyMs, wallMs }, 1_000)
  expect(lease.isLive()).toBe(true)
  wallMs = 60_000
  expect(lease.isLive()).toBe(false)
  wallMs = 950
  expect(lease.isLive()).toBe(false)
  wallMs = 949
  expect(lease.isLive()).toBe(true)
  wallMs = -60_000
  expect(lease.isLive()).toBe(true)
  steadyMs = 951
  expect(lease.isLive()).toBe(false)
})
