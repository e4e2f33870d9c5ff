/**
 * How the store looks after its connection: with a client that is answered by hand, and a clock
 * that is turned.
 */
import { afterEach, beforeEach, describe, expect, jest, spyOn, test } from 'bun:test'
import { EventEmitter } from 'node:events'
import type { RedisSettings } from '../config/redis-settings.ts'
import type { RedisClient } from './redis-client.ts'
import { RedisStore, type RedisStoreState } from './redis-store.ts'
import type { SharedScript } from './shared-store.ts'

const settings: RedisSettings = {
  topology: 'single',
  nodes: [{ host: 'one.test', port: 7001 }],
  masterName: undefined,
  username: undefined,
  password: undefined,
  database: 0,
  hasTls: false,
  prefix: 'gatehouse',
  timeoutMs: 500,
  outage: { choice: 'share', graceMs: 60_000 },
}
const ASK: SharedScript = { name: 'ask', lua: 'return {}' }

/** The answer of a server; undefined: it is away. */
class ScriptedClient extends EventEmitter {
  beats: (readonly unknown[])[] = []
  alive: readonly string[] | undefined = ['self']
  /** The answer to the script `ask`. */
  answer: () => unknown = () => ['answer']
  isDisconnected = false

  async connect(): Promise<void> {
    if (this.alive === undefined) throw new Error('nobody listens')
  }

  defineCommand(name: string): void {
    const command = async (...args: unknown[]) => {
      if (name === 'ask') return this.answer()
      this.beats.push(args)
      if (this.alive === undefined) throw new Error('no answer')
      return this.alive
    }
    Object.assign(this, { [name]: command })
  }

  disconnect(): void {
    this.isDisconnected = true
  }
}

let client: ScriptedClient
let store: RedisStore
const changes: { state: RedisStoreState; error: unknown }[] = []
let newNodes = 0

beforeEach(() => {
  jest.useFakeTimers()
  // The middle of a delay's range.
  spyOn(Math, 'random').mockReturnValue(0.5)
  client = new ScriptedClient()
  changes.splice(0)
  newNodes = 0
  store = new RedisStore({
    settings,
    onChange: (state, error) => changes.push({ state, error }),
    onNewNode: () => {
      newNodes += 1
    },
    createClient: (_, onFailure) => {
      client.on('error', onFailure)
      // Only what the store uses of it.
      return client as unknown as RedisClient
    },
  })
})
afterEach(async () => {
  await store.close()
  jest.restoreAllMocks()
  jest.useRealTimers()
})

/** Lets so much time pass, and everything happen that is due. */
async function pass(ms: number): Promise<void> {
  jest.advanceTimersByTime(ms)
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
}

async function beatsWithin(ms: number): Promise<number> {
  const before = client.beats.length
  await pass(ms)
  return client.beats.length - before
}

describe('while it answers', () => {
  test('the node renews its presence every two seconds, for ten', async () => {
    await store.open()
    expect(client.beats).toEqual([['gatehouse:nodes', store.nodeId, 10_000]])
    for (let beat = 0; beat < 3; beat += 1)
      expect([await beatsWithin(1_999), await beatsWithin(1)]).toEqual([0, 1])
  })

  test('the state begins with the first answer', async () => {
    await pass(700)
    await store.open()
    await pass(300)
    expect(store.state()).toMatchObject({ isReady: true, mode: 'shared', sinceMs: 300 })
    expect(store.state()).toMatchObject({ questions: 1, failures: 0, underWay: 0 })
  })

  test('a node that is alone counts itself, before the first answer and after it', async () => {
    expect(store.nodes).toBe(1)
    await store.open()
    expect(store.nodes).toBe(1)
  })

  test('each question is counted, and so is its answer', async () => {
    await store.open()
    const { promise, resolve } = Promise.withResolvers<readonly unknown[]>()
    client.answer = () => promise
    const asking = store.run(ASK, 'key', [])
    expect(store.state()).toMatchObject({ questions: 2, underWay: 1 })
    resolve(['done'])
    expect(await asking).toEqual(['done'])
    expect(store.state()).toMatchObject({ questions: 2, underWay: 0, failures: 0 })
  })

  test('no more than five thousand questions wait at once', async () => {
    await store.open()
    const { promise, resolve } = Promise.withResolvers<readonly unknown[]>()
    client.answer = () => promise
    const asking = Array.from({ length: 5_000 }, () => store.run(ASK, 'key', []))
    await expect(store.run(ASK, 'key', [])).rejects.toThrow('too many')
    expect(store.state()).toMatchObject({ mode: 'shared', underWay: 5_000 })
    resolve([])
    expect(await Promise.all(asking)).toHaveLength(5_000)
  })

  test('a new node is reported once, and one that leaves stops counting', async () => {
    await store.open()
    await pass(2_000)
    expect(newNodes).toBe(0)
    client.alive = ['self', 'other']
    await pass(2_000)
    await pass(2_000)
    expect([newNodes, store.nodes]).toEqual([1, 2])
    // Shortly after an outage others may not have been heard of yet; this is long after.
    await pass(10_000)
    client.alive = ['self']
    await pass(2_000)
    expect(store.nodes).toBe(1)
  })

  test('the other nodes get its farewell, and nothing after it', async () => {
    await store.open()
    await store.close()
    expect(client.beats.at(-1)).toEqual(['gatehouse:nodes', store.nodeId, 0])
    expect([client.isDisconnected, await beatsWithin(60_000)]).toEqual([true, 0])
  })
})

describe('once it does not answer', () => {
  test.each([
    ['a question fails', 'timeout'],
    ['the connection is lost, and the client says why', 'reset by peer'],
    ['the connection is lost', 'the connection was closed'],
    ['the answer is no list', 'that is no list'],
  ])('the loss is reported once, with the reason: %s', async (what, reason) => {
    await store.open()
    client.alive = undefined
    if (what === 'a question fails') {
      client.answer = () => {
        throw new Error(reason)
      }
      await expect(store.run(ASK, 'key', [])).rejects.toThrow(reason)
    } else if (what === 'the answer is no list') {
      client.answer = () => 'word'
      await expect(store.run(ASK, 'key', [])).rejects.toThrow(reason)
    } else {
      if (reason === 'reset by peer') client.emit('error', new Error(reason))
      client.emit('close')
    }
    client.emit('close')
    await pass(5_000)
    expect(changes.map(({ state }) => state.mode)).toEqual(['shared', 'share'])
    expect(String(changes.at(-1)?.error)).toContain(reason)
    await expect(store.run(ASK, 'key', [])).rejects.toThrow('away')
  })

  test('the node asks at longer and longer intervals, and at the usual one once it is back', async () => {
    await store.open()
    client.alive = undefined
    client.emit('close')
    // Three quarters of 50 ms, then of twice as much each time, up to two seconds.
    const gaps = [38, 75, 150, 300, 600, 1_200, 1_500, 1_500]
    for (const gapMs of gaps)
      expect([await beatsWithin(gapMs - 1), await beatsWithin(1)]).toEqual([0, 1])
    client.alive = ['self']
    await pass(1_500)
    expect(store.mode).toBe('shared')
    client.alive = undefined
    client.emit('close')
    for (const gapMs of gaps.slice(0, 3))
      expect([await beatsWithin(gapMs - 1), await beatsWithin(1)]).toEqual([0, 1])
  })

  test('a server that answers nothing but that is asked at longer and longer intervals', async () => {
    await store.open()
    await pass(10_000)
    client.answer = () => {
      throw new Error('refused')
    }
    for (const gapMs of [38, 75, 150, 300, 600, 1_200, 1_500, 1_500]) {
      await expect(store.run(ASK, 'key', [])).rejects.toThrow('refused')
      expect([await beatsWithin(gapMs - 1), await beatsWithin(1)]).toEqual([0, 1])
      expect(store.mode).toBe('shared')
    }
  })

  test('a client that reconnects causes a question at once', async () => {
    await store.open()
    client.alive = undefined
    client.emit('close')
    await pass(3_000)
    client.alive = ['self']
    client.emit('ready')
    expect(await beatsWithin(25)).toBe(1)
    expect(store.mode).toBe('shared')
  })

  test('the operator’s choice holds for its grace period', async () => {
    await store.open()
    await pass(500)
    client.alive = undefined
    client.emit('close')
    await pass(60_000)
    expect(store.mode).toBe('share')
    await pass(1)
    expect(store.mode).toBe('closed')
  })

  test('nodes not heard of yet are still counted when it is back', async () => {
    client.alive = ['self', 'other', 'third']
    await store.open()
    await pass(30_000)
    client.alive = undefined
    client.emit('close')
    await pass(5_000)
    client.alive = ['self']
    client.emit('ready')
    await pass(25)
    expect([store.mode, store.nodes]).toEqual(['shared', 3])
    await pass(2_000)
    expect(store.nodes).toBe(3)
    await pass(10_000)
    await pass(2_000)
    expect(store.nodes).toBe(1)
  })

  test('the node goes on trying from the start on', async () => {
    client.alive = undefined
    await store.open()
    expect(changes.map(({ error }) => String(error))).toEqual(['Error: nobody listens'])
    client.alive = ['self']
    expect([await beatsWithin(74), await beatsWithin(1)]).toEqual([0, 1])
    expect(store.mode).toBe('shared')
  })
})
