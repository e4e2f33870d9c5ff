import { expect, test } from 'bun:test'
import { describeLimit, describePeriod, hintOfAlerts } from './budget-dialog.tsx'

test('hints follow the unit and the period', () => {
  expect(describeLimit('usd', 'month')).toBe('The cost of calls, a month.')
  expect(describeLimit('tokens', 'total')).toBe('Input and output tokens, in all.')
  expect(describePeriod('week')).toContain('each Monday at midnight')
  expect(describePeriod('total')).not.toContain('midnight')
  expect(hintOfAlerts('day')).toContain('per period')
  expect(hintOfAlerts('total')).not.toContain('period')
})
