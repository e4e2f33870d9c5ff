import { expect, test } from 'bun:test'
import { findExhausted } from './exhausted.ts'

const resetsAt = '2026-12-01T00:00:00.000Z'
const budget = { keyId: null, gateId: null, resetsAt, isExhausted: true, atLimit: 'refuse' }
const budgets = [
  { ...budget, id: 'b1', name: 'of a gate', gateId: 'demo' },
  { ...budget, id: 'b2', name: 'of a key', keyId: 'key_1' },
  { ...budget, id: 'b3', name: 'with some left', gateId: 'other', isExhausted: false },
]
const quota = (tokens: { used: number; limit: number | null }) => ({
  tokens: { ...tokens, resetsAt },
  spend: { used: 3, limit: null, resetsAt },
})
const some = quota({ used: 99, limit: 100 })

test('a page shows the used-up budgets of its own scope, and the overview all', () => {
  const idsOf = (scope: 'account' | 'gate' | 'key') =>
    findExhausted({ budgets, quota: some }, scope).map(({ id, of }) => [id, of])
  expect(idsOf('account')).toEqual([
    ['b1', 'demo'],
    ['b2', 'key_1'],
  ])
  expect(idsOf('gate')).toEqual([['b1', 'demo']])
  expect(idsOf('key')).toEqual([['b2', 'key_1']])
})

test('a used-up quota is shown on every page; one without a limit never is', () => {
  const titlesOf = (tokens: { used: number; limit: number | null }) =>
    findExhausted({ budgets: [], quota: quota(tokens) }, 'key').map(({ title }) => title)
  expect(titlesOf({ used: 100, limit: 100 })).toEqual(['The plan’s tokens of this month'])
  expect(titlesOf({ used: 0, limit: 0 })).toEqual(['The plan’s tokens of this month'])
  expect(titlesOf({ used: 1_000, limit: null })).toEqual([])
})

test('the list is empty while the quota is unknown', () => {
  expect(findExhausted({ budgets: [], quota: undefined }, 'account')).toEqual([])
})

test('a budget that moves calls to other targets is told apart from one that refuses calls', () => {
  const steering = { ...budget, id: 'b9', name: 'steering', atLimit: 'cheaper' }
  const refusing = { ...budget, id: 'b8', name: 'refusing' }
  expect(
    findExhausted({ budgets: [steering, refusing], quota: undefined }, 'account').map(
      ({ isSteering }) => isSteering,
    ),
  ).toEqual([true, false])
})
