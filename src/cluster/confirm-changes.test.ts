/** For whom a change waits, and for whom it does not. */
import { expect, test } from 'bun:test'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import type { FollowedChange, Laggard } from '../store/changes/change-feed.ts'
import { ChangeConfirmation } from './confirm-changes.ts'
import type { FallbackNodes } from './fallback-feed.ts'

const SEQ = 7
const NOBODY_LATE = { unheard: async () => [], countEnded: async () => 0 }
const CHANGE: FollowedChange = {
  seq: SEQ,
  accountId: DEFAULT_ACCOUNT,
  resourceType: 'gate',
  resourceId: 'demo',
  operation: 'update',
}

/** The answer of each look; the last one repeats. */
function confirm(
  looks: readonly (readonly Laggard[])[],
  told?: readonly (FallbackNodes | undefined)[],
  seq = SEQ,
) {
  let look = 0
  let asked = 0
  const pauses: number[] = []
  /** The start of each read of changes, and its largest number. */
  const read: [number, number][] = []
  const published: (readonly FollowedChange[])[] = []
  const confirmation = new ChangeConfirmation({
    pause: async (delayMs) => pauses.push(delayMs),
    feed: {
      counter: async () => seq,
      since: async (from, most) => {
        read.push([from, most])
        return [CHANGE]
      },
      laggards: async () => [...(looks[Math.min(look++, looks.length - 1)] ?? [])],
      ...NOBODY_LATE,
    },
    catchUp: async () => {},
    fallback:
      told === undefined
        ? undefined
        : {
            publish: async (_, changes) => {
              published.push(changes)
              const answer = told[Math.min(asked++, told.length - 1)]
              if (answer === undefined) throw new Error('away')
              return answer
            },
          },
  })
  return { done: confirmation.confirm(), looks: () => look, pauses, read, published }
}

const laggard = (leaseMs: number, needsRedis: boolean): Laggard => ({
  id: 'b',
  leaseMs,
  graceMs: 9_000,
  needsRedis,
})
const knownNodes = (leaseMs: number, knownSeq: number, forgottenMs = 0): FallbackNodes => ({
  forgottenMs,
  byId: new Map([['b', { leaseMs, knownSeq }]]),
})

test.each([
  ['no node, when all others know it', [[]], undefined, 1],
  ['a node with a lease', [[laggard(500, false)], [laggard(10, false)], []], undefined, 3],
  [
    'the grace of a node without one',
    [[laggard(-500, false)], [laggard(-900, false)], []],
    undefined,
    3,
  ],
  ['a vouched-for node with a lease', [[laggard(500, true)], []], [knownNodes(-1, 0)], 2],
  [
    'the lease that the fallback feed gave',
    [[laggard(-5, true)]],
    [knownNodes(800, 6), knownNodes(10, 6), knownNodes(-1, 6)],
    3,
  ],
  [
    'a lease of the fallback feed until its last moment',
    [[laggard(-5, true)]],
    [knownNodes(0, 6), knownNodes(-1, 6)],
    2,
  ],
  [
    'a lease of the database until its last moment',
    [[laggard(0, true)], []],
    [knownNodes(-1, 6)],
    2,
  ],
  [
    'a node that the fallback feed has told',
    [[laggard(-5, true)]],
    [knownNodes(800, 6), knownNodes(800, 7)],
    2,
  ],
  [
    'a fallback feed that may have forgotten',
    [[laggard(-5, true)]],
    [knownNodes(-1, 6, 50), knownNodes(-1, 6)],
    2,
  ],
  ['a fallback feed that is away', [[laggard(-5, true)], [laggard(-9, true)], []], [undefined], 3],
  ['the grace, if there is no fallback feed here', [[laggard(-5, true)], []], undefined, 2],
] as const)('it waits for %s', async (_, looks, told, expected) => {
  const confirmed = confirm(looks, told)
  await confirmed.done
  expect(confirmed.looks()).toBe(expected)
})

test('the fallback feed is told where any of those that are late needs it', async () => {
  const late = [laggard(500, false), { ...laggard(500, true), id: 'c' }]
  const confirmed = confirm([late, []], [knownNodes(-1, 0)])
  await confirmed.done
  expect(confirmed.published).toHaveLength(1)
})

test('it looks again soon, then less and less often, and at most ten times a second', async () => {
  const confirmed = confirm([...Array.from({ length: 11 }, () => [laggard(500, false)]), []])
  await confirmed.done
  expect(confirmed.pauses.slice(0, 4)).toEqual([4, 6, 9, 13.5])
  expect(confirmed.pauses.slice(8)).toEqual([100, 100, 100])
})

test.each([
  ['as many as there are', 7, [0, 200]],
  ['the last hundred', 100, [0, 200]],
  ['and those that come meanwhile', 150, [50, 200]],
] as const)('the fallback feed gets changes again: %s', async (_, seq, read) => {
  const confirmed = confirm([[laggard(-5, true)]], [knownNodes(-1, 0)], seq)
  await confirmed.done
  expect(confirmed.read).toEqual([[...read]])
  expect(confirmed.published).toEqual([[CHANGE]])
})

/** The database gives no answer from one moment to another; each look takes a tenth of a second. */
function confirmThroughLoss(question: 'counter' | 'catchUp' | 'laggards', lostForMs: number) {
  let nowMs = 0
  const ask = async <Answer>(asked: string, answer: Answer): Promise<Answer> => {
    if (asked === question && nowMs < lostForMs) throw new Error('reset')
    return answer
  }
  const confirmation = new ChangeConfirmation({
    steadyMs: () => nowMs,
    pause: async () => {
      nowMs += 100
    },
    feed: {
      counter: () => ask('counter', SEQ),
      since: async () => [],
      laggards: () => ask('laggards', []),
      ...NOBODY_LATE,
    },
    catchUp: () => ask('catchUp', undefined),
  })
  return { done: confirmation.confirm(), waitedMs: () => nowMs }
}

const QUESTIONS = ['counter', 'catchUp', 'laggards'] as const

test.each(QUESTIONS)(
  'a database that answers again within three seconds confirms: %s',
  async (question) => {
    const confirmed = confirmThroughLoss(question, 2_900)
    await confirmed.done
    expect(confirmed.waitedMs()).toBe(2_900)
  },
)

test.each(QUESTIONS)(
  'a caller gets an error that the change is stored when the database stays away: %s',
  async (question) => {
    const confirmed = confirmThroughLoss(question, Number.POSITIVE_INFINITY)
    await expect(confirmed.done).rejects.toThrow('The change is stored')
    expect(confirmed.waitedMs()).toBe(3_000)
  },
)

test('patience begins again with each answer', async () => {
  let nowMs = 0
  const confirmation = new ChangeConfirmation({
    steadyMs: () => nowMs,
    pause: async () => {
      nowMs += 100
    },
    feed: {
      counter: async () => SEQ,
      since: async () => [],
      laggards: async () => {
        // Away for two and a half seconds of each five.
        if (nowMs % 5_000 >= 2_500) throw new Error('reset')
        return nowMs < 20_000 ? [laggard(500, false)] : []
      },
      ...NOBODY_LATE,
    },
    catchUp: async () => {},
  })
  await confirmation.confirm()
  expect(nowMs).toBe(20_000)
})

test.each([
  ['that nobody else tells', [{ id: 'b', needsRedis: false }], undefined, 1],
  ['that Redis has told', [{ id: 'b', needsRedis: true }], knownNodes(500, SEQ), 0],
  ['that Redis has not told', [{ id: 'b', needsRedis: true }], knownNodes(-1, SEQ - 1), 1],
  ['that neither knows', [{ id: 'c', needsRedis: true }], knownNodes(500, SEQ), 1],
] as const)(
  'a node whose lease is over, and %s, is reported',
  async (_, unheard, told, expected) => {
    const confirmation = new ChangeConfirmation({
      feed: {
        counter: async () => SEQ,
        since: async () => [CHANGE],
        laggards: async () => [],
        unheard: async () => [...unheard],
        countEnded: async (id) => (id === 'key_1' ? 3 : 0),
      },
      catchUp: async () => {},
      fallback: told === undefined ? undefined : { publish: async () => told },
    })
    expect(await confirmation.confirmEnd('key_1')).toEqual({
      callsEnded: 3,
      nodesNotHeard: expected,
    })
  },
)

test('a caller gets an error when the database is lost before the report', async () => {
  const confirmation = new ChangeConfirmation({
    feed: {
      counter: async () => SEQ,
      since: async () => [],
      laggards: async () => [],
      unheard: async () => [],
      countEnded: async () => {
        throw new Error('reset')
      },
    },
    catchUp: async () => {},
  })
  await expect(confirmation.confirmEnd('key_1')).rejects.toThrow('The change is stored')
})
