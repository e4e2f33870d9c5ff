/** Upkeep that a timer does: it keeps no process alive that has nothing else to do. */
import { afterEach, expect, spyOn, test } from 'bun:test'
import type { RedisClient } from '../cluster/redis-client.ts'
import { RedisStore } from '../cluster/redis-store.ts'
import { SnapshotFreshness } from '../cluster/snapshot-freshness.ts'
import type { AccountId } from '../core/ids.ts'
import { createPlans } from '../core/plan.ts'
import { SharedLimits } from '../limits/shared-limits.ts'
import { UsageLimits } from '../limits/usage-limits.ts'
import { KeyRegistry } from './key-registry.ts'
import { ProviderKeyRegistry } from './provider-key-registry.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const nothing = async () => {}
const beginnings: Record<string, () => Promise<void>> = {
  'what keys were last used': async () => {
    const keys = { loadAll: async () => [] }
    const registry = await KeyRegistry.load({ keys: keys as never, limitsOf: () => ({}) as never })
    closing.push(() => registry.close())
  },
  'what provider keys were last used': async () => {
    const keys = { loadAll: async () => [] }
    const options = { keys: keys as never, vault: {} as never, platform: new Map() }
    const registry = await ProviderKeyRegistry.load(options)
    closing.push(() => registry.close())
  },
  'shared limits': async () => {
    const usage = new UsageLimits({ plans: createPlans() })
    const limits = new SharedLimits({ store: {} as never, prefix: 'test', usage })
    limits.start()
    closing.push(() => limits.close())
  },
  'the connection to Redis': async () => {
    const client = {
      on: () => {},
      disconnect: () => {},
      connect: () => Promise.reject(new Error('away')),
    }
    const settings = { prefix: 'test', outage: { choice: 'share', graceMs: 1 } }
    const store = new RedisStore({
      settings: settings as never,
      createClient: () => client as unknown as RedisClient,
    })
    await store.open()
    closing.push(() => store.close())
  },
  'a snapshot that is fresh, and one whose database is lost': async () => {
    const freshness = new SnapshotFreshness({
      feed: {
        ...{ counter: async () => 0, renew: async () => 0, register: nothing },
        ...{ since: async () => [], sweep: nothing, reportEnded: nothing },
      },
      followers: {
        follow: async () => [],
        followAll: async () => [],
        followBlindly: (_: { accountId: AccountId }) => true,
      },
      policy: { choice: 'grace', graceMs: 1 },
      leaseMs: 3_000,
      appliedSeq: 0,
      fallback: {
        connectedForMs: 0,
        forget: nothing,
        publish: async () => ({ forgottenMs: 0, byId: new Map() }),
        renew: async () => ({ type: 'granted' }),
      },
    })
    await freshness.start()
    freshness.lose(new Error('reset'))
    closing.push(() => freshness.close())
  },
}

test.each(Object.keys(beginnings))('%s', async (name) => {
  const spies = [spyOn(globalThis, 'setTimeout'), spyOn(globalThis, 'setInterval')]
  await beginnings[name]?.()
  const timers = spies.flatMap(({ mock }) =>
    mock.results.map(({ value }) => value as NodeJS.Timeout),
  )
  for (const spy of spies) spy.mockRestore()
  expect(timers.length).toBeGreaterThan(0)
  expect(timers.filter((timer) => timer.hasRef())).toEqual([])
})
