import { expect, test } from 'bun:test'
import { ScriptedClock } from '../../test/support/scripted-clock.ts'
import { type AccountId, DEFAULT_ACCOUNT } from '../core/ids.ts'
import {
  DegradedTargets,
  type PublishedEvent,
  type UnusableTarget,
  UnusableTargets,
} from './gateway-events.ts'

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

test('a target that serves nobody is reported once for each reason, until it answers or for a day', () => {
  const told: PublishedEvent[] = []
  const logged: string[] = []
  const clock = new ScriptedClock()
  const unusable = new UnusableTargets(
    { publish: (event) => told.push(event) },
    ({ target }) => logged.push(target),
    clock,
  )
  const accountId = 'acct_1' as AccountId
  const note = (one: Partial<UnusableTarget>) =>
    unusable.note({
      ...{ accountId, target: 'lab/a', owner: 'platform', reason: 'model_not_found', status: 404 },
      ...one,
    })
  note({})
  note({})
  note({ reason: 'out_of_credit', status: 402 })
  // The platform's credit is the operator's, whoever calls.
  note({ reason: 'out_of_credit', status: 402, accountId: 'acct_2' as AccountId })
  note({ reason: 'out_of_credit', status: 402, owner: 'account' })
  expect(told).toEqual([
    {
      accountId,
      type: 'target.unusable',
      data: { target: 'lab/a', reason: 'model_not_found', status: 404 },
    },
    {
      accountId: DEFAULT_ACCOUNT,
      type: 'target.unusable',
      data: { target: 'lab/a', reason: 'out_of_credit', status: 402 },
    },
    {
      accountId,
      type: 'target.unusable',
      data: { target: 'lab/a', reason: 'out_of_credit', status: 402 },
    },
  ])
  expect(logged).toHaveLength(3)
  unusable.noteUsable('acct_2' as AccountId, 'lab/b')
  note({})
  expect(told).toHaveLength(3)
  unusable.noteUsable(accountId, 'lab/a')
  note({})
  expect(told).toHaveLength(4)
  clock.pass(86_399_999)
  note({})
  expect(told).toHaveLength(4)
  clock.pass(1)
  note({})
  expect(told).toHaveLength(5)
})
