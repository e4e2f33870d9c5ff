import { expect, test } from 'bun:test'
import { MOST_KEPT_CALLS, MOST_REMEMBERED, TurnTargets } from './turn-targets.ts'

test('a turn keeps its target so often, and a call at another target begins anew', () => {
  const turns = new TurnTargets()
  expect(turns.find('a')).toBeUndefined()
  turns.note('a', 'lab/dear', false)
  for (let calls = 0; calls < MOST_KEPT_CALLS; calls += 1) {
    expect(turns.find('a')).toBe('lab/dear')
    turns.note('a', 'lab/dear', true)
  }
  expect(turns.find('a')).toBeUndefined()
  turns.note('a', 'lab/cheap', false)
  expect(turns.find('a')).toBe('lab/cheap')
})

test('the memory is bounded: the turn that was served longest ago is forgotten', () => {
  const turns = new TurnTargets()
  for (let turn = 0; turn < MOST_REMEMBERED; turn += 1) turns.note(String(turn), 'lab/x', false)
  turns.note('0', 'lab/x', false)
  turns.note('new', 'lab/x', false)
  expect([turns.find('0'), turns.find('1'), turns.find('new')]).toEqual([
    'lab/x',
    undefined,
    'lab/x',
  ])
})
