import { expect, test } from 'bun:test'
import { GatewayError } from '../core/errors.ts'
import { countsForQuota, reserveQuota } from './check-quota.ts'
import type { Target } from './plan/compile-target.ts'
import type { Ticket } from './ports.ts'

const targets = (...names: readonly string[]) =>
  names.map((name) => {
    const owner = name.startsWith('owned/') ? 'account' : 'platform'
    return { name, owner } as unknown as Target
  })

function ticketThat(refusal: GatewayError | undefined): Ticket & { asked: number } {
  const ticket = {
    asked: 0,
    headers: {},
    spend: undefined,
    reserveQuota() {
      ticket.asked += 1
      return refusal
    },
    settle() {},
  }
  return ticket
}

const exhausted = new GatewayError('quota_exceeded', 'Used up.')

test('a call with own models alone needs no quota', async () => {
  const ticket = ticketThat(exhausted)
  expect(reserveQuota(ticket, targets('owned/a', 'owned/b'))).toHaveLength(2)
  expect(ticket.asked).toBe(0)
})

test('with the quota used up the own models among the targets are left', async () => {
  const left = await reserveQuota(ticketThat(exhausted), targets('lab/a', 'owned/b', 'lab/c'))
  expect(left.map((target) => target.name)).toEqual(['owned/b'])
})

test('with the quota used up and nothing else to ask, the call is refused', async () => {
  expect(() => reserveQuota(ticketThat(exhausted), targets('lab/a'))).toThrow(exhausted)
})

test('a target called with a key of the account needs no quota', async () => {
  const own = { name: 'lab/a', owner: 'account' } as unknown as Target
  const ticket = ticketThat(exhausted)
  expect(reserveQuota(ticket, [own])).toEqual([own])
  expect(ticket.asked).toBe(0)
  expect(reserveQuota(ticket, [...targets('lab/b'), own])).toEqual([own])
  expect(ticket.asked).toBe(1)
})

test('with quota left every target stays, in the same list', async () => {
  const all = targets('lab/a', 'owned/b')
  expect(reserveQuota(ticketThat(undefined), all)).toBe(all)
})

test('usage that the account pays for itself does not count for its quota', () => {
  expect(countsForQuota('owned/mine', 'own')).toBe(false)
  expect(countsForQuota('owned/mine', null)).toBe(false)
  expect(countsForQuota('lab/x', 'own')).toBe(false)
  for (const target of ['lab/owned/x', 'ownedx/y', null])
    for (const credential of ['platform', null] as const)
      expect(countsForQuota(target, credential)).toBe(true)
  // A platform target was asked too, so the call counts.
  expect(countsForQuota('owned/mine', 'platform')).toBe(true)
})
