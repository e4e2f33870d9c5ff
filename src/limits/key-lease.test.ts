/** One node's lease on a key's limits, with scripted answers of the store. */
import { describe, expect, test } from 'bun:test'
import type { SharedScript, SharedStore } from '../cluster/shared-store.ts'
import type { SharingMode } from '../core/shared-stores.ts'
import type { KeyLimits } from '../gateway/ports.ts'
import { KeyLease } from './key-lease.ts'
import { PARTS_PER_UNIT } from './token-bucket.ts'

const START_MS = 1_000_000
const NONE = Number.POSITIVE_INFINITY
const UNLIMITED: KeyLimits = {
  requestsPerMinute: NONE,
  tokensPerMinute: NONE,
  concurrentCalls: NONE,
}

interface Bucket {
  readonly limit: number
  readonly charge: number
  readonly wanted: number
  readonly atLeast: number
}

interface Answer {
  readonly birth?: string
  readonly requests?: number
  /** Units left for other nodes. */
  readonly requestsLeft?: number
  readonly tokens?: number
  readonly tokensLeft?: number
  readonly slots?: number
  readonly isLent?: boolean
}

interface Question {
  readonly key: string
  readonly birth: string
  readonly nodes: number
  readonly requests: Bucket
  readonly tokens: Bucket
  readonly slots: { readonly limit: number; readonly wanted: number; readonly running: number }
  /** In tokens. */
  readonly lendTo: number
  answer(answer: Answer): void
  lose(): void
}

class ScriptedStore implements SharedStore {
  mode: SharingMode = 'shared'
  nodes = 1
  readonly nodeId = 'node1'
  readonly questions: Question[] = []
  /** The immediate answer to every request. */
  always: Answer | undefined
  /** True when every request is answered immediately, with everything that it wants. */
  isGenerous = false

  run(
    _: SharedScript,
    key: string,
    args: readonly (string | number)[],
  ): Promise<readonly unknown[]> {
    const number = (at: number) => Number(args[at])
    const bucket = (at: number): Bucket => ({
      // Adding zero turns -0 into 0.
      ...{ limit: number(at), charge: number(at + 1) + 0 },
      ...{ wanted: number(at + 3), atLeast: number(at + 4) },
    })
    return new Promise((resolve, reject) => {
      this.questions.push({
        ...{ key, birth: String(args[3]), nodes: number(17) },
        ...{ requests: bucket(4), tokens: bucket(9) },
        slots: { limit: number(14), wanted: number(15), running: number(16) },
        lendTo: number(18),
        answer: ({
          birth = 'born',
          requests = 0,
          requestsLeft = 0,
          tokens = 0,
          tokensLeft = 0,
          slots = 0,
          isLent = false,
        }) =>
          resolve([
            birth,
            requests,
            requestsLeft * PARTS_PER_UNIT,
            tokens,
            tokensLeft * PARTS_PER_UNIT,
            slots,
            isLent ? 1 : 0,
          ]),
        lose: () => reject(new Error('lost')),
      })
      if (this.always !== undefined) this.last.answer(this.always)
      const { requests, tokens, slots, answer } = this.last
      if (this.isGenerous)
        answer({
          ...{
            requests: requests.wanted,
            requestsLeft: 60_000,
            tokens: tokens.wanted,
            tokensLeft: 60_000,
          },
          slots: slots.wanted,
        })
    })
  }

  get last(): Question {
    const question = this.questions.at(-1)
    if (question === undefined) throw new Error('nothing was asked')
    return question
  }
}

function start(given: Partial<KeyLimits>) {
  const limits = { ...UNLIMITED, ...given }
  const clock = { nowMs: START_MS }
  const now = () => clock.nowMs
  const store = new ScriptedStore()
  const options = { id: 'key_1', limits, store, storeKey: 'here', now, sharedNow: now }
  const lease = new KeyLease(options)
  const take = (tokens = 1) => lease.take(limits, tokens)
  /** Takes a call and, if the store is asked, answers with `answer`. */
  const taken = async (answer: Answer, tokens = 1) => {
    const outcome = take(tokens)
    if (outcome instanceof Promise) store.last.answer(answer)
    return await outcome
  }
  /** A hundred calls in a second, with 160 slots in the store. */
  const beBusy = async () => {
    store.always = { slots: 160 }
    for (let call = 0; call < 100; call += 1) {
      expect(await take()).toBe(1)
      await lease.settled()
    }
    clock.nowMs += 1_000
  }
  return { clock, store, lease, limits, take, taken, beBusy }
}

/** Lets pending answers arrive. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
}

describe('requests and tokens', () => {
  test('a call waits for the store, and is taken when it grants both', async () => {
    const { lease, store, take } = start({ requestsPerMinute: 640, tokensPerMinute: 6400 })
    const outcome = take(30)
    expect(store.last).toMatchObject({
      ...{ key: 'here', birth: '', nodes: 1 },
      requests: { limit: 640, charge: 0, wanted: 1, atLeast: 1 },
      tokens: { limit: 6400, charge: 0, wanted: 30, atLeast: 30 },
      // Other nodes must know of running calls while the key is in debt.
      slots: { limit: -1, wanted: 1, running: 0 },
    })
    store.last.answer({ requests: 1, tokens: 30 })
    expect(await outcome).toBe(30)
    expect(lease.running).toBe(1)
  })

  test('that the lease holds serve the next call at once', async () => {
    const { store, take, taken } = start({ requestsPerMinute: 640 })
    expect(await taken({ requests: 3, requestsLeft: 600 })).toBe(1)
    expect([take(), take()]).toEqual([1, 1])
    expect(store.questions).toHaveLength(1)
    expect(take()).toBeInstanceOf(Promise)
  })

  test('calls that come during a question share the next one, and are served first come, first served', async () => {
    const { clock, store, take } = start({ tokensPerMinute: 6400 })
    const outcomes = [take(10), take(20), take(30)].map(
      async (outcome, index) => `${index} ${await outcome}`,
    )
    expect(store.questions).toHaveLength(1)
    clock.nowMs += 5_000
    store.last.answer({ tokens: 10, tokensLeft: 1000 })
    await turns()
    expect(store.questions).toHaveLength(2)
    expect(store.last.tokens).toMatchObject({ wanted: 50, atLeast: 20 })
    store.last.answer({ tokens: 50, tokensLeft: 900 })
    expect(await Promise.all(outcomes)).toEqual(['0 10', '1 20', '2 30'])
  })

  test('a call behind others waits, even if the lease holds enough for it', async () => {
    const { store, take, taken } = start({ tokensPerMinute: 6400 })
    await taken({ tokens: 6, tokensLeft: 6000 })
    const large = take(100)
    const small = take(1)
    expect(small).toBeInstanceOf(Promise)
    store.last.answer({ tokens: 95, tokensLeft: 5000 })
    expect(await large).toBe(100)
    await turns()
    store.last.answer({ tokens: 1, tokensLeft: 5000 })
    expect(await small).toBe(1)
  })

  test.each([
    ['requests', { requestsPerMinute: 640, tokensPerMinute: 6400 }, { tokens: 1 }],
    ['tokens', { requestsPerMinute: 640, tokensPerMinute: 6400 }, { requests: 1 }],
  ] as const)(
    'a limit on %s that is used up refuses the call and is named',
    async (name, limits, answer) => {
      const { lease, taken } = start(limits)
      expect(await taken(answer)).toBe(name)
      expect(lease.running).toBe(0)
    },
  )

  test('an exhausted limit is remembered for a moment: a flood of calls is one question', async () => {
    const { clock, store, take, taken } = start({ requestsPerMinute: 640 })
    await taken({})
    for (let call = 0; call < 100; call += 1) expect(take()).toBe('requests')
    expect(store.questions).toHaveLength(1)
    clock.nowMs += 50
    expect(take()).toBeInstanceOf(Promise)
  })

  test.each([
    ['requests', { requestsPerMinute: 640 }, { requestsLeft: 600 }],
    ['tokens', { tokensPerMinute: 6400 }, { tokensLeft: 6000 }],
  ] as const)(
    'a call that is granted no %s three times is refused',
    async (name, limits, answer) => {
      const { store, take } = start(limits)
      const outcome = take(5)
      for (let round = 1; round <= 3; round += 1) {
        await turns()
        expect(store.questions).toHaveLength(round)
        store.last.answer(answer)
      }
      expect(await outcome).toBe(name)
    },
  )

  test.each([
    ['requests', { requestsPerMinute: 640, tokensPerMinute: 6400 }],
    ['concurrent', { concurrentCalls: 5, tokensPerMinute: 6400 }],
    ['tokens', { requestsPerMinute: NONE, tokensPerMinute: 6400 }],
  ] as const)('slow answers that grant nothing name %s after three', async (name, limits) => {
    const { clock, store, take } = start(limits)
    const outcome = take()
    for (let round = 1; round <= 3; round += 1) {
      await turns()
      expect(store.questions).toHaveLength(round)
      clock.nowMs += 60
      store.last.answer({})
    }
    expect(await outcome).toBe(name)
  })

  test('a call without tokens still needs a free one', async () => {
    const { store, take } = start({ tokensPerMinute: 6400 })
    const outcome = take(0)
    expect(store.last.tokens.wanted).toBe(1)
    store.last.answer({ tokens: 1, tokensLeft: 10 })
    expect(await outcome).toBe(0)
    // The call of size 0 left the token.
    expect(take(1)).toBe(1)
  })

  test('usage beyond a call’s estimate is reported, and an unused part of the estimate serves the next call', async () => {
    const { lease, store, take, taken } = start({ tokensPerMinute: 6400 })
    await taken({ tokens: 30, tokensLeft: 6000 }, 30)
    lease.giveBack(-10)
    expect(take(10)).toBe(10)
    lease.giveBack(150)
    // The node reports this debt immediately.
    expect(store.last.tokens.charge).toBe(150)
    expect(lease.running).toBe(0)
  })
})

test('a debt of a single token is reported', async () => {
  const { clock, lease, store, taken } = start({ tokensPerMinute: 6400 })
  await taken({ tokens: 30, tokensLeft: 6000 }, 30)
  lease.giveBack(1)
  clock.nowMs += 400
  expect(lease.tend(clock.nowMs)).toBe(true)
  expect(store.last.tokens).toMatchObject({ charge: 1, atLeast: 0 })
})

describe('a key in debt', () => {
  /** The key's only call used 50 tokens more than the bucket had. */
  async function owe() {
    const scene = start({ tokensPerMinute: 6400 })
    await scene.taken({ tokens: 30, tokensLeft: 0 }, 30)
    scene.lease.giveBack(150)
    scene.store.last.answer({ tokensLeft: -150 })
    await scene.lease.settled()
    return scene
  }

  test('asks the store to lend to a call that runs alone, and tells how many tokens were taken', async () => {
    const { store, lease, take } = await owe()
    const outcome = take(20)
    expect(store.last).toMatchObject({ lendTo: 20, tokens: { atLeast: 20 } })
    store.last.answer({ tokens: 20, tokensLeft: -170, isLent: true })
    expect(await outcome).toBe(20)
    expect(lease.running).toBe(1)
    // While that call runs, no other call is admitted, and the store is not asked.
    const { length } = store.questions
    expect(take(1)).toBe('tokens')
    expect(store.questions).toHaveLength(length)
  })

  test('is not lent to while its calls run on other nodes, and asks once in fifty milliseconds', async () => {
    const { clock, store, take } = await owe()
    const outcome = take(20)
    store.last.answer({ tokensLeft: -150 })
    expect(await outcome).toBe('tokens')
    const { length } = store.questions
    expect([take(20), take(1)]).toEqual(['tokens', 'tokens'])
    expect(store.questions).toHaveLength(length)
    clock.nowMs += 50
    expect(take(20)).toBeInstanceOf(Promise)
  })

  test('takes what is lent once', async () => {
    const { store, lease, take } = await owe()
    const outcome = take(20)
    store.last.answer({ tokens: 20, tokensLeft: -170, isLent: true })
    await outcome
    lease.giveBack(0)
    await turns()
    expect(store.last.slots.running).toBe(0)
    expect(take(20)).toBeInstanceOf(Promise)
  })
})

describe('slots', () => {
  test('a call takes one and gives it back', async () => {
    const { lease, store, taken, take } = start({ concurrentCalls: 2 })
    expect(await taken({ slots: 1 })).toBe(1)
    expect(store.last.slots).toEqual({ limit: 2, wanted: 1, running: 0 })
    const second = take()
    expect(store.last.slots).toEqual({ limit: 2, wanted: 2, running: 1 })
    store.last.answer({ slots: 2 })
    expect(await second).toBe(1)
    expect(take()).toBe('concurrent')
    lease.giveBack(0)
    expect(take()).toBe(1)
  })

  test('a call is refused when other nodes hold every slot, and so is the next, without a question', async () => {
    const { clock, store, taken, take } = start({ concurrentCalls: 5 })
    expect(await taken({ slots: 0 })).toBe('concurrent')
    expect(take()).toBe('concurrent')
    expect(store.questions).toHaveLength(1)
    clock.nowMs += 50
    expect(take()).toBeInstanceOf(Promise)
  })

  test('not renewed for ten seconds are asked for again before use', async () => {
    const { clock, lease, taken, take } = start({ concurrentCalls: 5 })
    await taken({ slots: 3 })
    await lease.settled()
    clock.nowMs += 9_999
    expect(take()).toBe(1)
    clock.nowMs += 1
    expect(take()).toBeInstanceOf(Promise)
  })

  test('on their way back serve no call', async () => {
    const { lease, store, taken, take } = start({ concurrentCalls: 5 })
    await taken({ slots: 1 })
    lease.giveBack(0)
    expect(store.last.slots).toMatchObject({ wanted: 0, running: 0 })
    const next = take()
    expect(next).toBeInstanceOf(Promise)
    store.last.answer({ slots: 0 })
    await turns()
    expect(store.last.slots).toMatchObject({ wanted: 1, running: 0 })
    store.last.answer({ slots: 1 })
    expect(await next).toBe(1)
  })

  test('that a question asks to keep serve calls until its answer', async () => {
    const { lease, store, take, beBusy } = start({ concurrentCalls: 160 })
    await beBusy()
    lease.giveBack(0)
    await lease.settled()
    store.always = undefined
    lease.giveBack(0)
    expect(store.last.slots).toEqual({ limit: 160, wanted: 108, running: 98 })
    for (let call = 0; call < 10; call += 1) expect(take()).toBe(1)
    expect(take()).toBeInstanceOf(Promise)
  })

  test('in use are renewed every five seconds', async () => {
    const { clock, lease, store, taken } = start({ concurrentCalls: 5 })
    await taken({ slots: 1 })
    clock.nowMs += 4_999
    expect(lease.tend(clock.nowMs)).toBe(false)
    clock.nowMs += 1
    expect(lease.tend(clock.nowMs)).toBe(true)
    expect(store.last.slots).toEqual({ limit: 5, wanted: 1, running: 1 })
  })
})

describe('tending', () => {
  test('a grant unused for four tenths of a second goes back', async () => {
    const { clock, lease, store, taken } = start({ requestsPerMinute: 640 })
    await taken({ requests: 3, requestsLeft: 100 })
    lease.giveBack(0)
    expect(store.questions).toHaveLength(1)
    clock.nowMs += 399
    expect(lease.tend(clock.nowMs)).toBe(false)
    clock.nowMs += 1
    expect(lease.tend(clock.nowMs)).toBe(true)
    expect(store.last.requests).toMatchObject({ charge: -2, wanted: 0 })
    expect(lease.isIdle).toBe(false)
    store.last.answer({ requestsLeft: 102 })
    await lease.settled()
    expect(lease.isIdle).toBe(true)
    expect(lease.tend(clock.nowMs)).toBe(false)
  })

  test.each([
    ['requests', { requestsPerMinute: 640 }, { requests: 3 }],
    ['tokens', { tokensPerMinute: 6400 }, { tokens: 3 }],
  ] as const)('a lease that holds %s is not idle', async (_, limits, answer) => {
    const { clock, lease, store, taken } = start(limits)
    expect(lease.isIdle).toBe(true)
    await taken(answer)
    expect(lease.isIdle).toBe(false)
    lease.giveBack(0)
    expect(lease.isIdle).toBe(false)
    clock.nowMs += 400
    expect(lease.tend(clock.nowMs)).toBe(true)
    store.last.answer({})
    await lease.settled()
    expect(lease.isIdle).toBe(true)
  })

  test('an unneeded slot goes back at once, and until then the lease is not idle', async () => {
    const { lease, store, taken } = start({ concurrentCalls: 5 })
    await taken({ slots: 1 })
    lease.giveBack(0)
    expect(store.last.slots).toMatchObject({ wanted: 0, running: 0 })
    expect(lease.isIdle).toBe(false)
    store.last.answer({})
    await lease.settled()
    expect(lease.isIdle).toBe(true)
    expect(store.questions).toHaveLength(2)
  })

  test('a change during a question is reported after it', async () => {
    const { lease, store, take, taken } = start({ concurrentCalls: 5 })
    await taken({ slots: 2 })
    await take()
    lease.giveBack(0)
    lease.giveBack(0)
    expect(store.last.slots.running).toBe(1)
    store.last.answer({ slots: 1 })
    await turns()
    expect(store.last.slots).toMatchObject({ wanted: 0, running: 0 })
    store.last.answer({})
    await lease.settled()
    expect(lease.isIdle).toBe(true)
  })

  test('a question under way delays the next one, even if there is something to give back', async () => {
    const { clock, lease, store, take, taken } = start({ tokensPerMinute: 6400 })
    await taken({ tokens: 6, tokensLeft: 6000 })
    void take(100)
    clock.nowMs += 400
    expect(lease.tend(clock.nowMs)).toBe(false)
    expect(store.questions).toHaveLength(2)
  })

  test('a running call has nothing to renew without a limit on concurrent calls', async () => {
    const { clock, lease, taken } = start({ requestsPerMinute: 640 })
    await taken({ requests: 1, requestsLeft: 100 })
    clock.nowMs += 5_000
    expect(lease.tend(clock.nowMs)).toBe(false)
  })

  test('the lease asks nothing during a question, or while the store is away', async () => {
    const { clock, lease, store, take } = start({ requestsPerMinute: 640 })
    const outcome = take()
    clock.nowMs += 400
    expect(lease.tend(clock.nowMs)).toBe(false)
    store.last.answer({ requests: 3, requestsLeft: 100 })
    await outcome
    store.mode = 'share'
    expect(lease.tend(clock.nowMs + 60_000)).toBe(false)
    expect(store.questions).toHaveLength(1)
  })

  test('the last use is the beginning or the end of a call', async () => {
    const { clock, lease, taken } = start({ requestsPerMinute: 640 })
    clock.nowMs += 5
    await taken({ requests: 1 })
    expect(lease.lastUsedMs).toBe(START_MS + 5)
    clock.nowMs += 7
    lease.giveBack(0)
    expect(lease.lastUsedMs).toBe(START_MS + 12)
  })
})

describe('a store that is away', () => {
  test('closed refuses, open admits everything', () => {
    const { store, take, lease } = start({
      requestsPerMinute: 0,
      tokensPerMinute: 0,
      concurrentCalls: 0,
    })
    store.mode = 'closed'
    expect(take()).toBe('unavailable')
    expect(lease.running).toBe(0)
    store.mode = 'open'
    expect([take(), take()]).toEqual([1, 1])
  })

  test('share: this node’s part of each limit', () => {
    const { store, take } = start({ requestsPerMinute: 9 })
    store.mode = 'share'
    store.nodes = 3
    expect([take(), take(), take(), take()]).toEqual([1, 1, 1, 'requests'])
    expect(store.questions).toHaveLength(0)
  })

  test('share: of slots, at least one where there are any', () => {
    const scene = (concurrentCalls: number) => {
      const { store, take, lease } = start({ concurrentCalls })
      store.mode = 'share'
      store.nodes = 3
      while (take() === 1 && lease.running < 100);
      return lease.running
    }
    expect([7, 6, 2, 1, 0].map(scene)).toEqual([2, 2, 1, 1, 0])
  })

  test('a call that waits when the store goes away is decided by its share', async () => {
    const { store, take } = start({ requestsPerMinute: 60 })
    const outcome = take()
    store.mode = 'share'
    store.last.lose()
    expect(await outcome).toBe(1)
    const none = start({ requestsPerMinute: 0 })
    const refused = none.take()
    none.store.mode = 'share'
    none.store.last.lose()
    expect(await refused).toBe('requests')
  })

  test('once the store is back, the lease reports usage during the outage and asks for its slots again', async () => {
    const { clock, lease, store, take, taken } = start({
      requestsPerMinute: 640,
      concurrentCalls: 5,
    })
    await taken({ requests: 1, requestsLeft: 600, slots: 3 })
    store.mode = 'share'
    expect(take()).toBe(1)
    clock.nowMs += 40
    store.mode = 'shared'
    const outcome = take()
    expect(outcome).toBeInstanceOf(Promise)
    expect(store.last).toMatchObject({
      birth: 'born',
      requests: { charge: 1, atLeast: 1 },
      slots: { wanted: 3, running: 2 },
    })
    store.last.answer({ requests: 1, requestsLeft: 600, slots: 3 })
    expect(await outcome).toBe(1)
    expect(lease.running).toBe(3)
  })

  test('usage of calls that end during an outage is reported once the store is back', () => {
    const { lease, store, take } = start({ tokensPerMinute: 6400 })
    store.mode = 'share'
    expect(take(10)).toBe(10)
    lease.giveBack(90)
    expect(store.questions).toHaveLength(0)
    store.mode = 'shared'
    void take(1)
    expect(store.last.tokens).toMatchObject({ charge: 100, atLeast: 1 })
  })
})

describe('in advance', () => {
  test('a busy key holds slots for the calls to come, at most a sixteenth of them', async () => {
    const { lease, store, beBusy } = start({ concurrentCalls: 160 })
    await beBusy()
    for (let call = 0; call < 100; call += 1) lease.giveBack(0)
    await lease.settled()
    // A hundred calls in a second are ten calls in the time that is requested in advance.
    expect(store.last.slots).toEqual({ limit: 160, wanted: 10, running: 0 })
  })

  test.each([
    ['requests', { requestsPerMinute: 64_000 }],
    ['tokens', { tokensPerMinute: 64_000 }],
    ['slots', { concurrentCalls: 1_600 }],
  ] as const)(
    'a busy key asks for more %s before it has none left, and its calls do not wait',
    async (_, limits) => {
      const { clock, lease, store, take } = start(limits)
      store.isGenerous = true
      const run = async (calls: number) => {
        let waited = 0
        for (let call = 0; call < calls; call += 1) {
          clock.nowMs += 5
          const outcome = take()
          if (outcome instanceof Promise) waited += 1
          expect(await outcome).toBe(1)
          await lease.settled()
        }
        return waited
      }
      await run(100)
      const asked = store.questions.length
      expect(await run(100)).toBe(0)
      expect(store.questions.length).toBeGreaterThan(asked)
      // Not one request per call, and none for missing limits.
      expect(store.questions.length - asked).toBeLessThan(30)
    },
  )

  test('a key without calls holds no slots', async () => {
    const { clock, lease, store, taken } = start({ concurrentCalls: 160 })
    await taken({ slots: 1 })
    clock.nowMs += 60_000
    lease.giveBack(0)
    expect(store.last.slots).toEqual({ limit: 160, wanted: 0, running: 0 })
  })
})
