import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import { runsOn } from '../../../test/support/property-runs.ts'
import type { ChangeOrigin } from '../../core/audit.ts'
import { type AccountId, DEFAULT_ACCOUNT, type GateId } from '../../core/ids.ts'
import { Secret } from '../../core/secret.ts'
import { createVault } from '../../core/vault.ts'
import { GateRegistry } from '../../snapshots/gate-registry.ts'
import { KeyRegistry } from '../../snapshots/key-registry.ts'
import { ProviderKeyRegistry } from '../../snapshots/provider-key-registry.ts'
import { openStore, type Store } from '../open-store.ts'
import { AuditRetention } from './audit-log.ts'
import { withOrigin } from './change-origin.ts'
import { recordLocalChange } from './record-local-change.ts'

const stranger = 'acct_stranger' as AccountId
const settings = {
  description: '',
  targets: [{ model: 'openai/gpt-5' }],
  timeoutMs: null,
  maxRetries: 2,
}
const limits = { requestsPerMinute: 60, tokensPerMinute: 1000, concurrentCalls: 5 }

let folder: string
let store: Store
let database: TestDatabase
/** Takes back what a test has changed of the schema. */
let undo: string[]

describe.each(databases)('on $name', (kind) => {
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-audit-'))
    undo = []
    database = await kind.create()
    store = await openStore(database.location)
  })
  afterEach(async () => {
    await store.close()
    for (const statement of undo) await database.run(statement)
    await database.remove()
    rmSync(folder, { recursive: true })
  })

  function originOf(id: string): ChangeOrigin {
    return {
      actor: { type: 'key', id, name: `name of ${id}` },
      requestId: `req_${id}`,
      clientAddress: '10.0.0.1',
    }
  }

  async function rows(
    filter: Parameters<Store['auditLog']['list']>[1] = {},
    accountId = DEFAULT_ACCOUNT,
  ) {
    return await store.auditLog.list(accountId, filter, { limit: 1000 })
  }

  /** A full disk has the same effect: no row can be recorded. */
  async function refuseRows(): Promise<void> {
    if (kind.name === 'SQLite') {
      await database.run(
        "create trigger refuse before insert on audit_log begin select raise(abort, 'no room'); end",
      )
      return
    }
    await database.run(
      "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no room'; end $$",
    )
    await database.run(
      'create trigger refuse before insert on audit_log for each row execute function refuse()',
    )
    undo.push('drop trigger refuse on audit_log', 'drop function refuse')
  }

  function openProviderKeys() {
    return ProviderKeyRegistry.load({
      keys: store.providerKeys,
      vault: createVault([new Secret('ab'.repeat(32))]),
      platform: new Map(),
    })
  }

  describe('no change without its row', () => {
    test('of a gate, in the store or in memory', async () => {
      const gates = await GateRegistry.load({ gates: store.gates })
      const gate = await gates.create(DEFAULT_ACCOUNT, { ...settings, id: 'demo' as GateId })
      await refuseRows()
      const changes = [
        () => gates.create(DEFAULT_ACCOUNT, { ...settings, id: 'other' as GateId }),
        () => gates.update(DEFAULT_ACCOUNT, 'demo', { displayName: 'Changed' }),
        () => gates.delete(DEFAULT_ACCOUNT, 'demo'),
      ]
      for (const change of changes) await expect(change()).rejects.toThrow('no room')
      expect(gates.list(DEFAULT_ACCOUNT)).toEqual([gate])
      expect(await store.gates.loadAll()).toEqual([gate])
    })

    test('of a key, in the store or in memory', async () => {
      const keys = await KeyRegistry.load({ keys: store.keys, limitsOf: () => limits })
      const { record } = await keys.create({ accountId: DEFAULT_ACCOUNT, name: 'first' })
      await refuseRows()
      const imported = {
        accountId: DEFAULT_ACCOUNT,
        name: 'taken over',
        key: new Secret('legacy_0123456789abcdef'),
      }
      const changes = [
        () => keys.create({ accountId: DEFAULT_ACCOUNT, name: 'second' }),
        () => keys.import(imported),
        () => keys.delete(DEFAULT_ACCOUNT, record.id),
      ]
      for (const change of changes) await expect(change()).rejects.toThrow('no room')
      expect(keys.list(DEFAULT_ACCOUNT)).toEqual([record])
      expect(await store.keys.loadAll()).toEqual([record])
      await keys.close()
    })

    test('of a provider key, in the store or in memory', async () => {
      const keys = await openProviderKeys()
      const given = { accountId: DEFAULT_ACCOUNT, providerId: 'openai', isActive: true }
      const { key } = await keys.set({
        ...given,
        secret: new Secret('sk-the-first-one-that-is-long-enough'),
      })
      await refuseRows()
      const changes = [
        () => keys.set({ ...given, secret: new Secret('sk-the-second-one-that-is-long-too') }),
        () => keys.setActive(DEFAULT_ACCOUNT, 'openai', false),
        () => keys.delete(DEFAULT_ACCOUNT, 'openai'),
      ]
      for (const change of changes) await expect(change()).rejects.toThrow('no room')
      expect(keys.list(DEFAULT_ACCOUNT)).toEqual([key])
      expect((await store.providerKeys.loadAll()).map((row) => row.key)).toEqual([key])
      await keys.close()
    })

    test('and no change without a known actor', async () => {
      const gates = await GateRegistry.load({ gates: store.gates })
      const nobody = { actor: null, requestId: 'req_1', clientAddress: null }
      const change = withOrigin(nobody, () => gates.create(DEFAULT_ACCOUNT, settings))
      await expect(change).rejects.toThrow('nobody is known')
      expect(await store.gates.loadAll()).toEqual([])
      expect(await rows()).toEqual([])
    })
  })

  describe('no row without a change', () => {
    test('after a failed change, or one that found nothing', async () => {
      const gates = await GateRegistry.load({ gates: store.gates })
      const keys = await KeyRegistry.load({ keys: store.keys, limitsOf: () => limits })
      const providerKeys = await openProviderKeys()
      const gate = await gates.create(DEFAULT_ACCOUNT, { ...settings, id: 'demo' as GateId })
      const { record, key } = await keys.create({ accountId: DEFAULT_ACCOUNT, name: 'first' })
      expect(await rows()).toHaveLength(2)
      await gates.create(DEFAULT_ACCOUNT, { ...settings, id: gate.id }).catch(() => {})
      await gates.update(stranger, 'demo', { displayName: 'x' }).catch(() => {})
      await gates.delete(stranger, 'demo').catch(() => {})
      const theirs = { ...gate, accountId: stranger }
      expect(await store.gates.change(theirs, () => theirs)).toBeUndefined()
      expect(await store.gates.delete(stranger, gate.id)).toBeFalse()
      await keys.import({ accountId: stranger, name: 'again', key }).catch(() => {})
      expect(await keys.delete(stranger, record.id)).toBeFalse()
      await providerKeys.setActive(DEFAULT_ACCOUNT, 'openai', true).catch(() => {})
      expect(await store.providerKeys.delete(DEFAULT_ACCOUNT, 'openai')).toBeFalse()
      expect(await rows()).toHaveLength(2)
      expect(await rows({}, stranger)).toEqual([])
      await keys.close()
      await providerKeys.close()
    })
  })

  test('a row has its actor, origin, resource, action, and the states before and after', async () => {
    const gates = await GateRegistry.load({ gates: store.gates })
    await withOrigin(originOf('a'), () =>
      gates.create(DEFAULT_ACCOUNT, { ...settings, id: 'demo' as GateId }),
    )
    await withOrigin(originOf('b'), () =>
      gates.update(DEFAULT_ACCOUNT, 'demo', { displayName: 'Demo' }),
    )
    await gates.delete(DEFAULT_ACCOUNT, 'demo')
    const found = await rows()
    expect(found).toMatchObject([
      {
        action: 'gate.delete',
        actor: { type: 'operator', id: 'local', name: null },
        requestId: null,
        clientAddress: null,
        before: { id: 'demo', displayName: 'Demo' },
        after: null,
      },
      {
        action: 'gate.update',
        actor: { type: 'key', id: 'b', name: 'name of b' },
        requestId: 'req_b',
        clientAddress: '10.0.0.1',
        before: { displayName: 'demo' },
        after: { displayName: 'Demo' },
      },
      {
        action: 'gate.create',
        actor: { id: 'a' },
        resourceType: 'gate',
        resourceId: 'demo',
        before: null,
      },
    ])
    expect(found[0]?.before).toEqual(found[1]?.after ?? {})
    expect(found[1]?.before).toEqual(found[2]?.after ?? {})
  })

  test("the operator stays the actor within the operator's work, and the row has the request's id", async () => {
    const gates = await GateRegistry.load({ gates: store.gates })
    const operator = { type: 'operator', id: 'local', name: null } as const
    await withOrigin({ actor: operator, requestId: null, clientAddress: null }, () =>
      withOrigin(originOf('made-for-the-moment'), () => gates.create(DEFAULT_ACCOUNT, settings)),
    )
    expect(await rows()).toMatchObject([{ actor: operator, requestId: 'req_made-for-the-moment' }])
  })

  test('each change has its own actor in the log, whoever works at the same time', async () => {
    const gates = await GateRegistry.load({ gates: store.gates })
    const keys = await KeyRegistry.load({ keys: store.keys, limitsOf: () => limits })
    let run = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ actor: fc.nat(5), turns: fc.nat(4), isGate: fc.boolean() }), {
          maxLength: 12,
        }),
        async (works) => {
          run += 1
          const made = await Promise.all(
            works.map(({ actor, turns, isGate }) =>
              withOrigin(originOf(`${run}-${actor}`), async () => {
                for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
                const { id } = isGate
                  ? await gates.create(DEFAULT_ACCOUNT, settings)
                  : (await keys.create({ accountId: DEFAULT_ACCOUNT, name: 'k' })).record
                return [id, `${run}-${actor}`] as const
              }),
            ),
          )
          const found = await store.auditLog.list(DEFAULT_ACCOUNT, {}, { limit: 5000 })
          const actors = new Map<string, string>(found.map((row) => [row.resourceId, row.actor.id]))
          for (const [id, actor] of made) expect(actors.get(id)).toBe(actor)
          expect(actors.size).toBe(found.length)
        },
      ),
      runsOn(kind, {
        numRuns: 30,
        numShortRuns: 12,
        example: [
          Array.from({ length: 12 }, (_, n) => ({
            actor: n % 5,
            turns: n % 4,
            isGate: n % 2 === 0,
          })),
        ],
      }),
    )
    await keys.close()
  })

  describe('reading', () => {
    async function fill(): Promise<void> {
      const gates = await GateRegistry.load({ gates: store.gates })
      for (const id of ['one', 'two', 'three'])
        await withOrigin(originOf(id), () =>
          gates.create(DEFAULT_ACCOUNT, { ...settings, id: id as GateId }),
        )
      await withOrigin(originOf('one'), () =>
        gates.update(DEFAULT_ACCOUNT, 'two', { displayName: 'Two' }),
      )
      await gates.delete(DEFAULT_ACCOUNT, 'three')
    }

    test('by actor, action, resource and time', async () => {
      await fill()
      const ids = async (filter: Parameters<typeof rows>[0]) =>
        (await rows(filter)).map(({ action, resourceId }) => `${action} ${resourceId}`)
      expect(await ids({ actor: 'one' })).toEqual(['gate.update two', 'gate.create one'])
      expect(await ids({ actor: 'local' })).toEqual(['gate.delete three'])
      expect(await ids({ action: 'gate.create' })).toHaveLength(3)
      expect(await ids({ resourceType: 'gate', resourceId: 'two' })).toEqual([
        'gate.update two',
        'gate.create two',
      ])
      expect(await ids({ resourceType: 'key' })).toEqual([])
      const [last] = await rows()
      const at = last?.at ?? 0
      expect(await ids({ from: at + 1 })).toEqual([])
      expect(await ids({ from: at })).toContain('gate.delete three')
      expect(await ids({ to: at })).not.toContain('gate.delete three')
    })

    test('pages of one row, in the order of the changes', async () => {
      await fill()
      const seen: string[] = []
      let before: { at: number; id: string } | undefined
      for (;;) {
        const [row] = await store.auditLog.list(DEFAULT_ACCOUNT, {}, { limit: 1, before })
        if (row === undefined) break
        seen.push(`${row.action} ${row.resourceId}`)
        before = row
      }
      expect(seen).toEqual([
        'gate.delete three',
        'gate.update two',
        'gate.create three',
        'gate.create two',
        'gate.create one',
      ])
    })
  })

  describe('retention', () => {
    test('deletes all older rows, in batches, and no others', async () => {
      const gates = await GateRegistry.load({ gates: store.gates })
      for (let made = 0; made < 160; made += 1) await gates.create(DEFAULT_ACCOUNT, settings)
      // Nine of each ten, in the order of their ids.
      await database.run(`update audit_log set at = at - 10 * 86400000 where id in (
      select id from (select id, row_number() over (order by id) as place from audit_log) as placed
      where place % 10 <> 0)`)
      const batches: number[] = []
      const retention = new AuditRetention({
        horizon: { cut: () => Date.now() - 9 * 86_400_000 },
        auditLog: {
          findBounds: () => store.auditLog.findBounds(),
          deleteBefore: async (timeMs, limit) => {
            const count = await store.auditLog.deleteBefore(timeMs, limit)
            batches.push(count)
            return count
          },
        },
        onFailure: (error) => {
          throw error
        },
      })
      expect(await retention.run()).toBe(144)
      expect(batches).toEqual([50, 50, 44])
      expect(await rows()).toHaveLength(16)
      expect(await retention.run()).toBe(0)
    })

    test('goes as far as the horizon allows, which follows from the first and the last row', async () => {
      const asked: unknown[] = []
      const horizon = {
        cut(rows: unknown) {
          asked.push(rows)
          return undefined
        },
      }
      const { auditLog } = store
      const retention = new AuditRetention({ horizon, auditLog, onFailure: () => {} })
      expect(await retention.run()).toBe(0)
      expect(asked).toEqual([])
      const gates = await GateRegistry.load({ gates: store.gates })
      for (let made = 0; made < 3; made += 1) await gates.create(DEFAULT_ACCOUNT, settings)
      await database.run(
        `update audit_log set at = 1000 where id in (select min(id) from audit_log)`,
      )
      await database.run(
        `update audit_log set at = 3000 where id in (select max(id) from audit_log)`,
      )
      await database.run(`update audit_log set at = 2000 where at > 3000`)
      expect(await retention.run()).toBe(0)
      expect(asked).toEqual([{ oldestMs: 1000, newestMs: 3000 }])
      expect(await rows()).toHaveLength(3)
    })

    test('runs at intervals, reports failures, and ends', async () => {
      const failures: unknown[] = []
      const second = Promise.withResolvers<void>()
      const retention = new AuditRetention({
        horizon: { cut: () => 0 },
        intervalMs: 1,
        auditLog: {
          findBounds: async () => ({ oldestMs: 0, newestMs: 0 }),
          deleteBefore: async () => Promise.reject(new Error('locked')),
        },
        onFailure: (error) => {
          failures.push(error)
          if (failures.length === 2) second.resolve()
        },
      })
      retention.start()
      await second.promise
      await retention.stop()
      const count = failures.length
      await Bun.sleep(10)
      expect(failures).toHaveLength(count)
    })
  })

  test("a command's change beside the store is recorded if there is an audit log", async () => {
    const change = {
      accountId: DEFAULT_ACCOUNT,
      action: 'master-key.rotate',
      resourceId: 'k2',
      before: { currentId: 'k1' },
      after: { currentId: 'k2' },
    } as const
    if (kind.name === 'SQLite')
      expect(await recordLocalChange({ path: join(folder, 'none.db') }, change)).toBeFalse()
    const older = await kind.create({ empty: true })
    await older.run('create table gates (id text)')
    expect(await recordLocalChange(older.location, change)).toBeFalse()
    await older.remove()
    expect(await recordLocalChange(database.location, change)).toBeTrue()
    expect(await rows()).toMatchObject([
      { ...change, actor: { type: 'operator' }, resourceType: 'master-key' },
    ])
  })
})
