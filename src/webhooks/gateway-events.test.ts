import { expect, test } from 'bun:test'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import type { PublishedEvent } from './event-publisher.ts'
import { DegradedTargets } from './gateway-events.ts'

test('a failing target is reported once in ten minutes', () => {
  const told: PublishedEvent[] = []
  const clock = { nowMs: 1_000_000, now: () => clock.nowMs }
  const degraded = new DegradedTargets({ publish: (event) => told.push(event) }, clock)
  const note = (target: string) => degraded.note(DEFAULT_ACCOUNT, target, clock.nowMs + 5000)
  note('lab/a')
  note('lab/a')
  note('lab/b')
  clock.nowMs += 599_999
  note('lab/a')
  expect(told.map(({ data }) => data.target)).toEqual(['lab/a', 'lab/b'])
  clock.nowMs += 1
  note('lab/a')
  expect(told).toHaveLength(3)
})
