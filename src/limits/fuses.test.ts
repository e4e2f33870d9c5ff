import { describe, expect, test } from 'bun:test'
import type { Budget, BudgetScope } from '../core/budget.ts'
import { describeBlown, type Fuse, type FusedHead, fuseError } from '../core/fuse.ts'
import type { AccountId, GateId, KeyId } from '../core/ids.ts'
import { toNanoUsd } from '../core/money.ts'
import { createPlans } from '../core/plan.ts'
import { fusedStopId, readFusedStopId } from '../core/stop.ts'
import { createKeyLimits } from '../snapshots/key-limits.ts'
import { FuseCounters } from './fuses.ts'
import { UsageLimits } from './usage-limits.ts'

const MINUTE = 60_000
const fuse: Fuse = { usd: 5, callsPerMinute: 2, forMinutes: 3 }
const head: FusedHead = {
  accountId: 'acc_1' as AccountId,
  owner: { type: 'gate', id: 'chat' },
  kind: 'session',
  id: 's1',
}
const named = (one: FusedHead) => ({ accountId: one.accountId, stopId: fusedStopId(one) })
const id = named(head)

function start(mostHeads?: number) {
  const time = { ms: 0 }
  const counters = new FuseCounters({ elapsed: () => time.ms }, mostHeads)
  const callsIn = (minute: number, calls: number) => {
    time.ms = minute * MINUTE
    return Array.from({ length: calls }, () => counters.noteCall(fuse, id)).at(-1)
  }
  return { time, counters, callsIn }
}

test('blows with the first call too many in the last of the minutes', () => {
  const { callsIn } = start()
  expect(callsIn(0, 3)).toBeUndefined()
  expect(callsIn(1, 3)).toBeUndefined()
  expect(callsIn(2, 2)).toBeUndefined()
  expect(callsIn(2, 1)).toBe('calls')
})

test.each([
  ['with few calls', 2],
  ['without a call', 0],
])('begins anew after a minute %s', (_, calls) => {
  const { callsIn } = start()
  callsIn(0, 3)
  callsIn(1, 3)
  callsIn(2, calls)
  expect(callsIn(3, 3)).toBeUndefined()
  expect(callsIn(4, 3)).toBeUndefined()
  expect(callsIn(5, 3)).toBe('calls')
})

test('blows by spending more than the amount within an hour', () => {
  const { time, counters } = start()
  expect(counters.noteCost(fuse, id, toNanoUsd(5))).toBeUndefined()
  time.ms = 59 * MINUTE
  expect(counters.noteCost(fuse, id, 1)).toBe('usd')
})

test('spending of an hour ago does not count', () => {
  const { time, counters } = start()
  expect(counters.noteCost(fuse, id, toNanoUsd(5))).toBeUndefined()
  time.ms = 60 * MINUTE
  expect(counters.noteCost(fuse, id, toNanoUsd(5))).toBeUndefined()
  time.ms = 65 * MINUTE
  expect(counters.noteCost(fuse, id, 1)).toBe('usd')
})

test('counts users, sessions, gates and accounts apart', () => {
  const { counters } = start()
  const others: readonly FusedHead[] = [
    { ...head, kind: 'user' },
    { ...head, owner: { type: 'gate', id: 'other' } },
    { ...head, accountId: 'acc_2' as AccountId },
    { ...head, id: 's2' },
  ]
  expect(counters.noteCost(fuse, id, toNanoUsd(5))).toBeUndefined()
  for (const other of others)
    expect(counters.noteCost(fuse, named(other), toNanoUsd(1))).toBeUndefined()
  expect(counters.noteCost(fuse, id, 1)).toBe('usd')
})

test('counts anew after a stop was lifted', () => {
  const { counters } = start()
  expect(counters.noteCost(fuse, id, toNanoUsd(6))).toBe('usd')
  counters.forget(id)
  expect(counters.noteCost(fuse, id, toNanoUsd(5))).toBeUndefined()
})

test('holds a counter only for what the fuse limits', () => {
  const { counters } = start()
  counters.noteCall({ ...fuse, callsPerMinute: null }, id)
  counters.noteCost({ ...fuse, usd: null }, id, 1)
  expect(counters.size).toBe(0)
})

test('drops heads an hour after their last call, and the oldest of too many', () => {
  const { time, counters } = start(2)
  for (const each of ['s1', 's2', 's3']) counters.noteCall(fuse, named({ ...head, id: each }))
  expect(counters.size).toBe(2)
  time.ms = 60 * MINUTE
  counters.noteCall(fuse, named({ ...head, id: 's4' }))
  expect(counters.size).toBe(1)
})

describe('an account that sends a new session with each call', () => {
  const ofOther = (session: string, accountId = 'acc_2') =>
    named({ ...head, accountId: accountId as AccountId, id: session })

  test('does not displace the counts of other accounts', () => {
    const { counters } = start(10)
    expect(counters.noteCost(fuse, id, toNanoUsd(5))).toBeUndefined()
    for (let session = 0; session < 100; session += 1)
      counters.noteCost(fuse, ofOther(`s${session}`), 1)
    expect(counters.size).toBe(10)
    expect(counters.noteCost(fuse, id, 1)).toBe('usd')
  })

  test('gives way to accounts that call afterwards', () => {
    const { counters } = start(10)
    for (let session = 0; session < 100; session += 1)
      counters.noteCost(fuse, ofOther(`s${session}`), 1)
    for (const account of ['acc_3', 'acc_4', 'acc_5'])
      counters.noteCost(fuse, ofOther('s1', account), toNanoUsd(5))
    expect(counters.size).toBe(10)
    for (const account of ['acc_3', 'acc_4', 'acc_5'])
      expect(counters.noteCost(fuse, ofOther('s1', account), 1)).toBe('usd')
  })

  test('among more accounts than counts, displaces the counts of one call', () => {
    const { counters } = start(2)
    for (const account of ['acc_1', 'acc_2', 'acc_3'])
      counters.noteCall(fuse, ofOther('s1', account))
    expect(counters.size).toBe(2)
    expect(counters.noteCost(fuse, ofOther('s1', 'acc_3'), toNanoUsd(6))).toBe('usd')
  })
})

test('reads the id of a stop back, and no other id', () => {
  const { accountId, ...read } = head
  expect(readFusedStopId(fusedStopId({ ...read, accountId }))).toEqual(read)
  expect(readFusedStopId('user_1')).toBeUndefined()
})

test('the refusal says who was stopped, why, since when, and who can lift the stop', () => {
  const owner = { ...head.owner, name: 'chat', fuse }
  const reason = describeBlown({ owner, cause: 'calls' })
  expect(fuseError(owner, 'session', { reason, createdAt: 0 }).message).toBe(
    'This session has been stopped since 1970-01-01T00:00:00Z by the fuse of the gate "chat": ' +
      'it made more than 2 calls a minute for 3 minutes in a row. An administrator of the account ' +
      'can lift the stop.',
  )
  expect(fuseError(owner, 'user', { reason: null, createdAt: 0 }).message).toContain(
    'The user behind this call has been stopped since 1970-01-01T00:00:00Z by the fuse of the ' +
      'gate "chat": it spent too much or called too often.',
  )
  expect(describeBlown({ owner, cause: 'usd' })).toBe(
    'it spent more than 5 US dollars within an hour',
  )
})

describe('the fuses of budgets that count a call', () => {
  const accountId = 'acc_1' as AccountId
  const limits = createKeyLimits(createPlans())(accountId)
  const caller = { accountId, limits, keyId: 'key_1' as KeyId }
  const call = { gateId: 'chat', user: 'user_1', tags: 't1 t2' }
  const budget = (id: string, scope: BudgetScope, changes: Partial<Budget> = {}): Budget => ({
    ...{ accountId, id, name: id, scope, fuse, alertAt: [], unpriced: 'allow', period: 'day' },
    ...{ limit: { type: 'tokens', tokens: 9 }, createdAt: 0, updatedAt: 0, ...changes },
  })
  const find = (budgets: readonly Budget[], who: object = {}) => {
    const usage = new UsageLimits({ plans: createPlans() })
    for (const each of budgets) usage.putBudget(each)
    const found = usage.fusesFor({ ...caller, ...who }, call)
    return { usage, ids: found?.map(({ type, id: ofBudget }) => `${type} ${ofBudget}`) }
  }

  test.each<[string, BudgetScope]>([
    ['the account', { type: 'account' }],
    ['the key', { type: 'key', keyId: caller.keyId }],
    ['the gate', { type: 'gate', gateId: 'chat' as GateId }],
    ['the user', { type: 'user', userId: 'user_1' }],
    ['a tag', { type: 'tag', tag: 'b', tagId: 't2' }],
    ['each user', { type: 'each-user' }],
    ['each key', { type: 'each-key' }],
  ])('of %s', (_, scope) => {
    expect(find([budget('b', scope)]).ids).toEqual(['budget b'])
  })

  test.each<[string, BudgetScope]>([
    ['another key', { type: 'key', keyId: 'key_2' as KeyId }],
    ['another gate', { type: 'gate', gateId: 'other' as GateId }],
    ['another user', { type: 'user', userId: 'user_2' }],
    ['another tag', { type: 'tag', tag: 'c', tagId: 't3' }],
  ])('not of %s', (_, scope) => {
    expect(find([budget('b', scope)]).ids).toBeUndefined()
  })

  test('not of another account, of a default that is replaced, or of a deleted budget', () => {
    const account = budget('b', { type: 'account' })
    expect(find([account], { accountId: 'acc_2' }).ids).toBeUndefined()
    const own = budget('own', { type: 'user', userId: 'user_1' }, { fuse: null })
    expect(find([budget('b', { type: 'each-user' }), own]).ids).toBeUndefined()
    const { usage } = find([account])
    usage.putBudget({ ...account, fuse: null })
    expect(usage.fusesFor(caller, call)).toBeUndefined()
    usage.putBudget(account)
    usage.removeBudget(account.id)
    expect(usage.fusesFor(caller, call)).toBeUndefined()
  })
})
