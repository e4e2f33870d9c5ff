import { expect, test } from 'bun:test'
import { ScriptedClock } from '../../test/support/scripted-clock.ts'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import type { PublishedEvent } from './event-publisher.ts'
import { DegradedTargets } from './gateway-events.ts'

test('a failing target is reported once in ten minutes', () => {
  const told: PublishedEvent[] = []
  const clock = new ScriptedClock()
  const degraded = new DegradedTargets({ publish: (event) => told.push(event) }, clock)
  const note = (target: string) => degraded.note(DEFAULT_ACCOUNT, target, clock.now() + 5000)
  note('lab/a')
  note('lab/a')
  note('lab/b')
  clock.pass(599_999)
  note('lab/a')
  expect(told.map(({ data }) => data.target)).toEqual(['lab/a', 'lab/b'])
  clock.pass(1)
  note('lab/a')
  expect(told).toHaveLength(3)
})

test('a clock that is set back or ahead neither silences reports nor repeats them', () => {
  const told: PublishedEvent[] = []
  const clock = new ScriptedClock()
  const degraded = new DegradedTargets({ publish: (event) => told.push(event) }, clock)
  const note = () => degraded.note(DEFAULT_ACCOUNT, 'lab/a', clock.now() + 5000)
  note()
  clock.jump(86_400_000)
  note()
  expect(told).toHaveLength(1)
  clock.jump(-2 * 86_400_000)
  clock.pass(600_000)
  note()
  expect(told).toHaveLength(2)
})
