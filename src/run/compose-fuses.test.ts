/** Fuses with their stops in a database: nodes, a slow or failing store, gates that are deleted. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import { ScriptedClock } from '../../test/support/scripted-clock.ts'
import type { Fuse } from '../core/fuse.ts'
import { type AccountId, DEFAULT_ACCOUNT } from '../core/ids.ts'
import { fusedStopId } from '../core/stop.ts'
import { checkFuses } from '../gateway/fuses.ts'
import { FuseCounters } from '../limits/fuses.ts'
import { GateRegistry } from '../snapshots/gate-registry.ts'
import { StopRegistry } from '../snapshots/stop-registry.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { composeFuses, type FuseParts } from './compose-fuses.ts'

const FUSE: Fuse = { usd: null, callsPerMinute: 2, forMinutes: 1 }
const SESSION = { session: 'first' }
const OTHER_ACCOUNT = 'acc_other' as AccountId

async function startNode(store: Store, clock: ScriptedClock) {
  const gates = await GateRegistry.load({ gates: store.gates })
  const fuseCounters = new FuseCounters(clock)
  const stops = await StopRegistry.load({
    stops: store.stops,
    onChanged: (_, id) => fuseCounters.forget(id),
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
  const log = { warn: () => {}, error: (facts: unknown) => void failures.push(facts) }
  const fuses = composeFuses(parts, log, clock)
  /** Undefined: the call is served. */
  const call = (names: { session?: string; user?: string } = SESSION, of = DEFAULT_ACCOUNT) => {
    try {
      checkFuses(fuses, { accountId: of, gate: gates.find(DEFAULT_ACCOUNT, 'chat'), names })
      return undefined
    } catch (error) {
      return (error as Error).message
    }
  }
  return { gates, stops, published, failures, call }
}

describe.each(databases)('on $name', (kind) => {
  let database: TestDatabase
  let store: Store
  let clock: ScriptedClock
  let node: Awaited<ReturnType<typeof startNode>>
  beforeEach(async () => {
    database = await kind.create()
    store = await openStore(database.location)
    clock = new ScriptedClock()
    node = await startNode(store, clock)
    await node.gates.create(DEFAULT_ACCOUNT, {
      ...{ id: 'chat' as never, description: '', timeoutMs: null, maxRetries: 0 },
      ...{ targets: [{ model: 'openai/gpt-5' }], fuse: FUSE },
    })
  })
  afterEach(async () => {
    await store.close()
    await database.remove()
  })

  const owner = { type: 'gate', id: 'chat' } as const
  const listed = () => node.stops.listFused(DEFAULT_ACCOUNT, owner)
  const stored = async () => (await store.stops.loadAll()).map(({ id }) => id)
  const blow = async (names?: Parameters<typeof node.call>[0]) => {
    const served = [node.call(names), node.call(names), node.call(names)]
    expect(served).toEqual([undefined, undefined, undefined])
    await Promise.resolve(node.stops.followFused(DEFAULT_ACCOUNT, owner))
  }

  test('refuses from the call after the one that blows the fuse, before anything is stored', () => {
    for (let calls = 0; calls < 3; calls += 1) expect(node.call()).toBeUndefined()
    expect(node.call()).toContain('made more than 2 calls a minute for one minute')
    expect(listed()).toEqual([])
    expect(node.call({ session: 'other' })).toBeUndefined()
    expect(node.call(SESSION, OTHER_ACCOUNT)).toBeUndefined()
  })

  test('counts by elapsed time, whatever the machine’s clock shows', () => {
    expect([node.call(), node.call()]).toEqual([undefined, undefined])
    clock.jump(3_600_000)
    expect(node.call()).toBeUndefined()
    clock.jump(-7_200_000)
    expect(node.call()).toContain('fuse of the gate "chat"')
  })

  test('a stop names the fuse as the author, is published once, and outlasts a restart', async () => {
    await blow()
    node.call()
    expect(await stored()).toEqual([
      fusedStopId({ accountId: DEFAULT_ACCOUNT, owner, kind: 'session', id: 'first' }),
    ])
    const { actor, after, resourceId } =
      (await store.auditLog.list(DEFAULT_ACCOUNT, { action: 'stop.create' }, { limit: 9 }))[0] ?? {}
    expect({ actor, after }).toMatchObject({
      actor: { type: 'fuse', id: 'chat', name: null },
      after: { kind: 'fuse', createdBy: 'fuse' },
    })
    expect(resourceId).toContain('/gate/chat/session/first')
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

  test('while the store fails, the stop holds on this node, and is stored later', async () => {
    const { insert } = store.stops
    store.stops.insert = () => Promise.reject(new Error('away'))
    for (let calls = 0; calls < 3; calls += 1) node.call()
    await clock.idle()
    expect(node.failures).toHaveLength(1)
    expect(node.call()).toContain('made more than 2 calls')
    await clock.idle()
    store.stops.insert = insert
    expect(node.call()).toContain('made more than 2 calls')
    await node.stops.followAll()
    expect(listed()).toHaveLength(1)
    expect(node.published).toHaveLength(1)
  })

  test.each(['deleted', 'removed'])(
    'a gate or fuse that is %s takes its stops along',
    async (how) => {
      await blow()
      await blow({ user: 'user_1' })
      const kept = { accountId: DEFAULT_ACCOUNT, id: 'fuse/other/gate/chat/session/first' }
      expect(listed()).toHaveLength(2)
      if (how === 'deleted') await node.gates.delete(DEFAULT_ACCOUNT, 'chat')
      else await node.gates.update(DEFAULT_ACCOUNT, 'chat', { fuse: null })
      expect(await stored()).toEqual([])
      await node.stops.followFused(DEFAULT_ACCOUNT, owner)
      expect(listed()).toEqual([])
      expect(await node.stops.stop(kept, null)).toBeUndefined()
    },
  )

  test('a stop of a fuse that was deleted meanwhile is dropped', async () => {
    const other = await startNode(store, clock)
    await other.gates.update(DEFAULT_ACCOUNT, 'chat', { fuse: null })
    await blow()
    expect(await stored()).toEqual([])
    expect(node.call()).toBeUndefined()
  })

  test('a stop does not count for a gate whose name begins like the gate', async () => {
    await blow()
    await store.gates.delete(DEFAULT_ACCOUNT, 'cha')
    expect(node.stops.listFused(DEFAULT_ACCOUNT, { type: 'gate', id: 'cha' })).toEqual([])
    expect(await stored()).toHaveLength(1)
  })
})
