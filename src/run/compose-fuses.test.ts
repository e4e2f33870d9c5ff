/** Fuses with their stops in a database: nodes, a failing store, gates and budgets that end. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import { ScriptedClock } from '../../test/support/scripted-clock.ts'
import { createBudgetId } from '../core/budget.ts'
import type { Fuse, FuseOwner } from '../core/fuse.ts'
import { type AccountId, DEFAULT_ACCOUNT, type GateId, type KeyId } from '../core/ids.ts'
import { createPlans } from '../core/plan.ts'
import { fusedStopId } from '../core/stop.ts'
import { FusedCall, findFuses } from '../gateway/fuses.ts'
import { BudgetRegistry, type NewBudget } from '../limits/budget-registry.ts'
import { FuseCounters } from '../limits/fuses.ts'
import { UsageLimits } from '../limits/usage-limits.ts'
import { GateRegistry } from '../snapshots/gate-registry.ts'
import { createKeyLimits } from '../snapshots/key-limits.ts'
import { StopRegistry } from '../snapshots/stop-registry.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { composeFuses, type FuseParts, MOST_STOPS_PER_HOUR } from './compose-fuses.ts'

const FUSE: Fuse = { usd: null, callsPerMinute: 2, forMinutes: 1 }
const KEY = 'key_1' as KeyId
const SESSION = { session: 'first' }
interface Names {
  readonly session?: string
  readonly user?: string
}

const OTHER_ACCOUNT = 'acc_other' as AccountId

async function startNode(store: Store, clock: ScriptedClock, mostStops?: number) {
  const gates = await GateRegistry.load({ gates: store.gates })
  const usage = new UsageLimits({ plans: createPlans(undefined, {}) })
  const budgets = await BudgetRegistry.load({ budgets: store.budgets, usage })
  const fuseCounters = new FuseCounters(clock)
  const stops = await StopRegistry.load({
    stops: store.stops,
    onChanged: (accountId, id) => fuseCounters.forget({ accountId, stopId: id }),
    clock,
  })
  const published: unknown[] = []
  const failures: unknown[] = []
  const people = { figures: 'administrators' as const }
  const parts: FuseParts = {
    ...{ stops, fuseCounters },
    webhooks: { publishBlownFuse: (...blown) => void published.push(blown) },
    attribution: { settingsOf: () => ({ peopleFigures: people.figures }) },
    keys: { nameOf: () => undefined, deletedNamesOf: async () => new Map() } as never,
    store,
  }
  const warnings: unknown[] = []
  const log = {
    warn: (...seen: unknown[]) => void warnings.push(seen),
    error: (facts: unknown) => void failures.push(facts),
  }
  const fuses = composeFuses(parts, log, clock, mostStops)
  /** Undefined: the call is served. */
  const call = (names: Names = SESSION, accountId = DEFAULT_ACCOUNT, keyId = KEY) => {
    const caller = {
      accountId,
      keyId,
      limits: createKeyLimits(createPlans())(accountId),
    }
    const gate = gates.find(DEFAULT_ACCOUNT, 'chat')
    const ofBudgets = usage.fusesFor(caller, { gateId: 'chat', user: names.user })
    try {
      const found = findFuses(gate, ofBudgets)
      if (found !== undefined)
        new FusedCall(fuses, { accountId, keyId, names, isCharged: true }, found).noteCall()
      return undefined
    } catch (error) {
      return (error as Error).message
    }
  }
  return { gates, budgets, stops, published, failures, warnings, call }
}

const settings = { description: '', timeoutMs: null, maxRetries: 0 }
const targets = [{ model: 'openai/gpt-5' }]
const budget: NewBudget = {
  ...{ name: 'chat', period: 'month', unpriced: 'allow', alertAt: [] },
  ...{ scope: { type: 'account' }, limit: { type: 'tokens', tokens: 1_000 } },
}

describe.each(databases)('on $name', (kind) =>
  describe.each(['gate', 'budget'] as const)('of a %s', (type) => {
    let database: TestDatabase
    let store: Store
    let clock: ScriptedClock
    let node: Awaited<ReturnType<typeof startNode>>
    let owner: FuseOwner
    beforeEach(async () => {
      database = await kind.create()
      store = await openStore(database.location)
      clock = new ScriptedClock()
      node = await startNode(store, clock)
      const gate = { ...settings, id: 'chat' as GateId, targets }
      await node.gates.create(DEFAULT_ACCOUNT, { ...gate, ...(type === 'gate' && { fuse: FUSE }) })
      owner = { type, id: 'chat' }
      if (type === 'gate') return
      const { id } = await node.budgets.create(DEFAULT_ACCOUNT, { ...budget, fuse: FUSE })
      owner = { type, id }
    })
    afterEach(async () => {
      await store.close()
      await database.remove()
    })

    const listed = () => node.stops.listFused(DEFAULT_ACCOUNT, owner)
    const stored = async () => (await store.stops.loadAll()).map(({ id }) => id)
    const removeFuse = ({ gates, budgets }: typeof node) =>
      type === 'gate'
        ? gates.update(DEFAULT_ACCOUNT, owner.id, { fuse: null })
        : budgets.update(DEFAULT_ACCOUNT, owner.id, { fuse: null })
    const deleteOwner = ({ gates, budgets }: typeof node) =>
      (type === 'gate' ? gates : budgets).delete(DEFAULT_ACCOUNT, owner.id)
    const blow = async (names?: Names) => {
      const served = [node.call(names), node.call(names), node.call(names)]
      expect(served).toEqual([undefined, undefined, undefined])
      await node.stops.followFused(DEFAULT_ACCOUNT, owner)
    }

    test('refuses from the call after the one that blows the fuse, before anything is stored', async () => {
      for (let calls = 0; calls < 3; calls += 1) expect(node.call()).toBeUndefined()
      expect(node.call()).toContain('made more than 2 calls a minute for one minute')
      expect(listed()).toEqual([])
      expect(node.call({ session: 'other' })).toBeUndefined()
      expect(node.call(SESSION, OTHER_ACCOUNT)).toBeUndefined()
      await node.stops.followFused(DEFAULT_ACCOUNT, owner)
    })

    test('counts by elapsed time, whatever the machine’s clock shows', async () => {
      expect([node.call(), node.call()]).toEqual([undefined, undefined])
      clock.jump(3_600_000)
      expect(node.call()).toBeUndefined()
      clock.jump(-7_200_000)
      expect(node.call()).toContain(`fuse of the ${type} "chat"`)
      await node.stops.followFused(DEFAULT_ACCOUNT, owner)
    })

    test('a stop names the fuse as the author, is published once, and outlasts a restart', async () => {
      await blow()
      node.call()
      expect(await stored()).toEqual([
        fusedStopId({ accountId: DEFAULT_ACCOUNT, owner, kind: 'session', id: 'first' }),
      ])
      const { actor, after, resourceId } =
        (await store.auditLog.list(DEFAULT_ACCOUNT, { action: 'stop.create' }, { limit: 9 }))[0] ??
        {}
      expect({ actor, after }).toMatchObject({
        actor: { type: 'fuse', id: owner.id, name: null },
        after: { kind: 'fuse', createdBy: 'fuse' },
      })
      expect(resourceId).toContain(`/${type}/${owner.id}/session/first`)
      expect(node.published).toHaveLength(1)
      const restarted = await startNode(store, clock)
      expect(restarted.call()).toContain('made more than 2 calls')
    })

    test('another node serves the session until it hears of the stop', async () => {
      const other = await startNode(store, clock)
      await blow()
      expect(other.call()).toBeUndefined()
      await other.stops.followAll()
      expect(other.call()).toContain('made more than 2 calls')
      await other.stops.lift({ accountId: DEFAULT_ACCOUNT, id: listed()[0]?.id ?? '' })
      expect(other.call()).toBeUndefined()
      expect(node.call()).toContain('made more than 2 calls')
      await node.stops.followAll()
      expect([node.call(), node.call(), node.call()]).toEqual([undefined, undefined, undefined])
    })

    test('two nodes whose counters blow for one session tell of one stop', async () => {
      const other = await startNode(store, clock)
      await blow()
      clock.jump(1_000)
      for (let calls = 0; calls < 3; calls += 1) expect(other.call()).toBeUndefined()
      expect(other.call()).toContain('made more than 2 calls')
      await other.stops.followFused(DEFAULT_ACCOUNT, owner)
      expect(await stored()).toHaveLength(1)
      expect([node.published.length, other.published.length]).toEqual([1, 0])
    })

    test('a key whose calls name a new session each time makes few stops, and hinders no other key', async () => {
      const blowBy = (session: string, keyId?: KeyId) => {
        for (let calls = 0; calls < 3; calls += 1) node.call({ session }, DEFAULT_ACCOUNT, keyId)
      }
      for (let sessions = 0; sessions < MOST_STOPS_PER_HOUR + 20; sessions += 1)
        blowBy(`invented-${sessions}`)
      expect(node.warnings).toHaveLength(1)
      blowBy('looping', 'key_2' as KeyId)
      await node.stops.followFused(DEFAULT_ACCOUNT, owner)
      expect(listed()).toHaveLength(MOST_STOPS_PER_HOUR + 1)
      expect(node.call({ session: 'looping' })).toContain('made more than 2 calls')
      expect(node.call({ session: 'invented-0' })).toContain('made more than 2 calls')
      clock.pass(3_600_000)
      blowBy('later')
      expect(node.call({ session: 'later' })).toContain('made more than 2 calls')
    })

    test('the oldest of too many stops is lifted by the fuse', async () => {
      node = await startNode(store, clock, 2)
      for (const session of ['a', 'b', 'c']) {
        clock.jump(1_000)
        await blow({ session })
        await node.stops.followFused(DEFAULT_ACCOUNT, owner)
      }
      expect(listed().map(({ id }) => id.at(-1))).toEqual(['c', 'b'])
      expect(node.call({ session: 'a' })).toBeUndefined()
      const [lifted] = await store.auditLog.list(
        DEFAULT_ACCOUNT,
        { action: 'stop.delete' },
        { limit: 9 },
      )
      expect(lifted?.actor).toEqual({ type: 'fuse', id: owner.id, name: null })
    })

    test('a key with many stops lifts its own, and not those of other keys', async () => {
      node = await startNode(store, clock, 3)
      const blowBy = async (session: string, keyId: KeyId) => {
        clock.jump(1_000)
        for (let calls = 0; calls < 3; calls += 1) node.call({ session }, DEFAULT_ACCOUNT, keyId)
        await node.stops.followFused(DEFAULT_ACCOUNT, owner)
        await node.stops.followFused(DEFAULT_ACCOUNT, owner)
      }
      await blowBy('real', 'key_of_app' as KeyId)
      for (const session of ['a', 'b', 'c', 'd']) await blowBy(session, 'key_of_attacker' as KeyId)
      expect(listed().map(({ id }) => id.split('/').at(-1))).toEqual(['d', 'c', 'real'])
      await blowBy('late', 'key_of_other' as KeyId)
      expect(listed().map(({ id }) => id.split('/').at(-1))).toEqual(['late', 'd', 'real'])
      const restarted = await startNode(store, clock, 3)
      const names = restarted.stops
        .listFused(DEFAULT_ACCOUNT, owner)
        .map(({ createdBy }) => createdBy)
      expect(names).toEqual(
        ['key_of_other', 'key_of_attacker', 'key_of_app'].map((key) => `fuse/${key}`),
      )
    })

    test('while the store fails, the stop holds on this node, and is stored within a second', async () => {
      const { insert } = store.stops
      store.stops.insert = () => Promise.reject(new Error('away'))
      for (let calls = 0; calls < 3; calls += 1) node.call()
      await clock.idle()
      for (let calls = 0; calls < 5; calls += 1) {
        expect(node.call()).toContain('made more than 2 calls')
        await clock.idle()
      }
      expect(node.failures).toHaveLength(1)
      store.stops.insert = insert
      clock.pass(1_000)
      expect(node.call()).toContain('made more than 2 calls')
      await node.stops.followAll()
      expect(listed()).toHaveLength(1)
      expect(node.published).toHaveLength(1)
    })

    test.each(['deleted', 'removed'])(
      'an owner or fuse that is %s takes its stops along',
      async (how) => {
        await blow()
        await blow({ user: 'user_1' })
        const again = { accountId: DEFAULT_ACCOUNT, id: listed()[0]?.id ?? '' }
        expect(listed()).toHaveLength(2)
        await (how === 'deleted' ? deleteOwner(node) : removeFuse(node))
        expect(await stored()).toEqual([])
        await node.stops.followFused(DEFAULT_ACCOUNT, owner)
        expect(listed()).toEqual([])
        expect(await node.stops.stop(again, null)).toBeUndefined()
      },
    )

    test('a stop of a fuse that was deleted meanwhile is dropped', async () => {
      const other = await startNode(store, clock)
      await removeFuse(other)
      await blow()
      expect(await stored()).toEqual([])
      expect(node.call()).toBeUndefined()
    })

    test('a stop is of one owner, and stays when another owner is deleted', async () => {
      await blow()
      const other = type === 'gate' ? 'cha' : createBudgetId()
      expect(node.stops.listFused(DEFAULT_ACCOUNT, { type, id: other })).toEqual([])
      await node.gates.create(DEFAULT_ACCOUNT, {
        ...settings,
        targets,
        id: 'cha' as GateId,
        fuse: FUSE,
      })
      await node.gates.delete(DEFAULT_ACCOUNT, 'cha')
      const { id } = await node.budgets.create(DEFAULT_ACCOUNT, { ...budget, fuse: FUSE })
      await node.budgets.delete(DEFAULT_ACCOUNT, id)
      expect(await stored()).toHaveLength(1)
    })
  }),
)
