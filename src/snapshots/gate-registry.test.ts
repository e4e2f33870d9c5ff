import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import { type AccountId, DEFAULT_ACCOUNT, type GateId } from '../core/ids.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { GateRegistry } from './gate-registry.ts'

const stranger = 'acct_stranger' as AccountId
const settings = {
  description: '',
  targets: [{ model: 'openai/gpt-5' }],
  timeoutMs: null,
  maxRetries: 2,
}

let now: number
let store: Store
let registry: GateRegistry
let database: TestDatabase

describe.each(databases)('on $name', (kind) => {
  beforeEach(async () => {
    now = 1000
    database = await kind.create()
    store = await openStore(database.location)
    registry = await GateRegistry.load({ gates: store.gates, clock: { now: () => now } })
  })
  afterEach(async () => {
    await store.close()
    await database.remove()
  })

  test('a gate is served as soon as it is created, and after a restart', async () => {
    const gate = await registry.create(DEFAULT_ACCOUNT, { ...settings, id: 'demo' as GateId })
    expect(gate).toMatchObject({ displayName: 'demo', createdAt: 1000, updatedAt: 1000 })
    expect(registry.find(DEFAULT_ACCOUNT, 'demo')).toEqual(gate)
    const next = await GateRegistry.load({ gates: store.gates })
    expect(next.list(DEFAULT_ACCOUNT)).toEqual([gate])
  })

  test('a check within the change can refuse a gate, and nothing of it is stored', async () => {
    const refuse = () => {
      throw new Error('too many')
    }
    await expect(
      registry.create(DEFAULT_ACCOUNT, { ...settings, id: 'demo' as GateId }, refuse),
    ).rejects.toThrow('too many')
    expect(registry.list(DEFAULT_ACCOUNT)).toEqual([])
    expect(await store.gates.loadAll()).toEqual([])
  })

  test('routing settings of a gate are stored unchanged', async () => {
    const given = { strategy: 'fastest', hedgeAfterMs: 250, overrides: 'reject' } as const
    await registry.create(DEFAULT_ACCOUNT, { ...settings, ...given, id: 'demo' as GateId })
    const next = await GateRegistry.load({ gates: store.gates })
    expect(next.find(DEFAULT_ACCOUNT, 'demo')).toMatchObject(given)
  })

  test('gates of one moment are listed in one order, whichever came first', async () => {
    for (const id of ['b', 'c', 'a'])
      await registry.create(DEFAULT_ACCOUNT, { ...settings, id: id as GateId })
    const next = await GateRegistry.load({ gates: store.gates })
    for (const gates of [registry, next])
      expect(gates.list(DEFAULT_ACCOUNT).map(({ id }) => String(id))).toEqual(['c', 'b', 'a'])
  })

  test('an id is generated if none is given', async () => {
    expect((await registry.create(DEFAULT_ACCOUNT, settings)).id).toMatch(/^gate-[0-9a-f]{12}$/)
  })

  test('a taken id is a conflict, also for two gates at once; ids differ by case', async () => {
    const outcomes = await Promise.allSettled(
      ['demo', 'demo', 'Demo'].map((id) =>
        registry.create(DEFAULT_ACCOUNT, { ...settings, id: id as GateId }),
      ),
    )
    expect(outcomes.map((outcome) => outcome.status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect(outcomes[1]).toMatchObject({ reason: { kind: 'conflict' } })
    expect(registry.find(DEFAULT_ACCOUNT, 'DEMO')).toBeUndefined()
  })

  test('an update changes the given settings alone, and null is a value', async () => {
    await registry.create(DEFAULT_ACCOUNT, { ...settings, id: 'demo' as GateId, timeoutMs: 500 })
    now = 2000
    const changed = await registry.update(DEFAULT_ACCOUNT, 'demo', {
      timeoutMs: null,
      maxRetries: 0,
    })
    expect(changed).toMatchObject({
      timeoutMs: null,
      maxRetries: 0,
      displayName: 'demo',
      createdAt: 1000,
      updatedAt: 2000,
    })
    expect(await store.gates.loadAll()).toEqual([changed])
  })

  test('two updates at once both count', async () => {
    await registry.create(DEFAULT_ACCOUNT, { ...settings, id: 'demo' as GateId })
    await Promise.all([
      registry.update(DEFAULT_ACCOUNT, 'demo', { displayName: 'Demo' }),
      registry.update(DEFAULT_ACCOUNT, 'demo', { description: 'for show' }),
    ])
    expect(registry.find(DEFAULT_ACCOUNT, 'demo')).toMatchObject({
      displayName: 'Demo',
      description: 'for show',
    })
    expect(await store.gates.loadAll()).toEqual([...registry.list(DEFAULT_ACCOUNT)])
  })

  test('a deleted gate is gone from memory and store; its id is free again', async () => {
    await registry.create(DEFAULT_ACCOUNT, { ...settings, id: 'demo' as GateId })
    await registry.delete(DEFAULT_ACCOUNT, 'demo')
    expect(registry.find(DEFAULT_ACCOUNT, 'demo')).toBeUndefined()
    expect(await store.gates.loadAll()).toEqual([])
    expect(registry.delete(DEFAULT_ACCOUNT, 'demo')).rejects.toMatchObject({
      kind: 'gate_not_found',
    })
    await registry.create(DEFAULT_ACCOUNT, { ...settings, id: 'demo' as GateId })
  })

  describe('names', () => {
    const alias = (name: string) => ({ aliases: [{ name, isListed: true }] })
    const create = (id: string, more: object = {}, at = registry, accountId = DEFAULT_ACCOUNT) =>
      at.create(accountId, { ...settings, id: id as GateId, ...more })
    const conflict = (message: string) => ({
      kind: 'conflict',
      message: expect.stringContaining(message),
    })
    const isTaken = (outcomes: PromiseSettledResult<unknown>[]) =>
      outcomes.map(({ status }) => status).toSorted()

    test('a gate is found by its aliases, after a restart and on another node', async () => {
      const other = await GateRegistry.load({ gates: store.gates })
      await create('demo', alias('openai/gpt-4.1'))
      await other.follow([{ accountId: DEFAULT_ACCOUNT, id: 'demo' }])
      const next = await GateRegistry.load({ gates: store.gates })
      for (const node of [registry, other, next]) {
        expect(node.findNamed(DEFAULT_ACCOUNT, 'openai/gpt-4.1')?.id as string).toBe('demo')
        expect(node.findNamed(DEFAULT_ACCOUNT, 'OpenAI/gpt-4.1')).toBeUndefined()
        expect(node.findNamed(stranger, 'openai/gpt-4.1')).toBeUndefined()
        expect(node.find(DEFAULT_ACCOUNT, 'openai/gpt-4.1')).toBeUndefined()
      }
    })

    test('a removed alias finds nothing, nor does one of a deleted gate', async () => {
      await create('demo', alias('one'))
      await registry.update(DEFAULT_ACCOUNT, 'demo', alias('two'))
      expect(registry.findNamed(DEFAULT_ACCOUNT, 'one')).toBeUndefined()
      expect(registry.findNamed(DEFAULT_ACCOUNT, 'two')?.id as string).toBe('demo')
      await registry.delete(DEFAULT_ACCOUNT, 'demo')
      expect(registry.findNamed(DEFAULT_ACCOUNT, 'two')).toBeUndefined()
    })

    test('an alias that moved is found at its new gate, in whichever order a node reads it', async () => {
      const other = await GateRegistry.load({ gates: store.gates })
      await create('a', alias('x'))
      await create('b')
      await other.followAll()
      await registry.update(DEFAULT_ACCOUNT, 'a', { aliases: [] })
      await registry.update(DEFAULT_ACCOUNT, 'b', alias('x'))
      for (const id of ['b', 'a']) await other.follow([{ accountId: DEFAULT_ACCOUNT, id }])
      expect(other.findNamed(DEFAULT_ACCOUNT, 'x')?.id as string).toBe('b')
    })

    test('a name belongs to one gate of an account: ids and aliases alike', async () => {
      await create('a', alias('x'))
      await create('b')
      await expect(create('x')).rejects.toMatchObject(conflict("'x' is an alias of the gate 'a'"))
      await expect(create('c', alias('b'))).rejects.toMatchObject(conflict("'b' is the id of a"))
      await expect(create('c', alias('x'))).rejects.toMatchObject(conflict("alias of the gate 'a'"))
      await expect(create('c', alias('c'))).rejects.toMatchObject(conflict("the gate's own id"))
      await expect(registry.update(DEFAULT_ACCOUNT, 'b', alias('x'))).rejects.toMatchObject(
        conflict("alias of the gate 'a'"),
      )
      await expect(registry.update(DEFAULT_ACCOUNT, 'a', alias('b'))).rejects.toMatchObject(
        conflict("'b' is the id of a gate"),
      )
      expect(registry.list(DEFAULT_ACCOUNT).map(({ id }) => id as string)).toEqual(['b', 'a'])
      await create('X', alias('A'))
      await store.database
        .insertInto('accounts')
        .values({ id: stranger, name: 'x', created_at: 1 })
        .execute()
      await create('x', alias('b'), registry, stranger)
    })

    test('of two nodes that give one name at once, one is refused', async () => {
      const other = await GateRegistry.load({ gates: store.gates })
      const aliases = await Promise.allSettled([
        create('a', alias('x')),
        create('b', alias('x'), other),
      ])
      expect(isTaken(aliases)).toEqual(['fulfilled', 'rejected'])
      const both = await Promise.allSettled([create('c', alias('d')), create('d', {}, other)])
      expect(isTaken(both)).toEqual(['fulfilled', 'rejected'])
    })

    test('one gate of an account answers unknown names', async () => {
      const other = await GateRegistry.load({ gates: store.gates })
      const outcomes = await Promise.allSettled([
        create('a', { isCatchAll: true }),
        create('b', { isCatchAll: true }, other),
      ])
      expect(isTaken(outcomes)).toEqual(['fulfilled', 'rejected'])
      await Promise.all([registry.followAll(), other.followAll()])
      const first = registry.findCatchAll(DEFAULT_ACCOUNT)
      expect(other.findCatchAll(DEFAULT_ACCOUNT)).toEqual(first)
      expect(registry.findCatchAll(stranger)).toBeUndefined()
      await create('c')
      await expect(
        registry.update(DEFAULT_ACCOUNT, 'c', { isCatchAll: true }),
      ).rejects.toMatchObject(conflict(`The gate '${first?.id}' is the catch-all`))
      await registry.update(DEFAULT_ACCOUNT, first?.id ?? '', { isCatchAll: false })
      expect(registry.findCatchAll(DEFAULT_ACCOUNT)).toBeUndefined()
      await registry.update(DEFAULT_ACCOUNT, 'c', { isCatchAll: true })
      await registry.delete(DEFAULT_ACCOUNT, 'c')
      expect(registry.findCatchAll(DEFAULT_ACCOUNT)).toBeUndefined()
    })

    test('a clash from an older version leaves both gates changeable', async () => {
      await create('a', alias('x'))
      const [row] = await store.database.selectFrom('gates').selectAll().execute()
      if (row === undefined) throw new Error('The gate is not stored.')
      const older = { ...row, id: 'x' as GateId, aliases: null }
      await store.database.insertInto('gates').values(older).execute()
      await registry.followAll()
      await registry.update(DEFAULT_ACCOUNT, 'a', { displayName: 'A' })
      await registry.update(DEFAULT_ACCOUNT, 'x', { displayName: 'X' })
      expect(registry.findNamed(DEFAULT_ACCOUNT, 'x')?.displayName).toBe('X')
    })
  })

  test("another account's gate cannot be found, listed, changed or deleted", async () => {
    await registry.create(DEFAULT_ACCOUNT, { ...settings, id: 'demo' as GateId })
    expect(registry.find(stranger, 'demo')).toBeUndefined()
    expect(registry.list(stranger)).toEqual([])
    expect(registry.update(stranger, 'demo', {})).rejects.toMatchObject({ kind: 'gate_not_found' })
    expect(registry.delete(stranger, 'demo')).rejects.toMatchObject({ kind: 'gate_not_found' })
  })

  test('a write that fails changes nothing in memory and does not block the next', async () => {
    let isBroken = true
    const gates = {
      loadAll: () => store.gates.loadAll(),
      findSome: async () => [],
      insert: async (gate: Parameters<typeof store.gates.insert>[0]) => {
        if (isBroken) throw new Error('disk on fire')
        return store.gates.insert(gate)
      },
      change: async () => undefined,
      delete: async () => true,
    }
    const failing = await GateRegistry.load({ gates })
    expect(failing.create(DEFAULT_ACCOUNT, { ...settings, id: 'demo' as GateId })).rejects.toThrow(
      'disk on fire',
    )
    expect(failing.find(DEFAULT_ACCOUNT, 'demo')).toBeUndefined()
    isBroken = false
    await failing.create(DEFAULT_ACCOUNT, { ...settings, id: 'demo' as GateId })
  })

  test('ids that are names of built-in properties find nothing', () => {
    for (const id of ['__proto__', 'constructor', 'toString', '']) {
      expect(registry.find(DEFAULT_ACCOUNT, id)).toBeUndefined()
      expect(registry.find(id as AccountId, 'demo')).toBeUndefined()
    }
  })

  test('the newest gate is listed first', async () => {
    for (const id of ['a', 'b', 'c']) {
      now += 1
      await registry.create(DEFAULT_ACCOUNT, { ...settings, id: id as GateId })
    }
    expect(registry.list(DEFAULT_ACCOUNT).map((gate) => gate.id as string)).toEqual(['c', 'b', 'a'])
  })
})
