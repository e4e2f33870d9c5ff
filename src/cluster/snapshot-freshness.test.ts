/**
 * When a node may serve from memory: with a lease, without one, cut off from the database, vouched
 * for by a fallback feed.
 */
import { afterEach, beforeEach, describe, expect, jest, spyOn, test } from 'bun:test'
import { pollUntil } from '../../test/support/poll-until.ts'
import { GatewayError } from '../core/errors.ts'
import type { AccountId } from '../core/ids.ts'
import type { StoreOutagePolicy } from '../core/shared-stores.ts'
import type { FollowedChange } from '../store/changes/change-feed.ts'
import type { FallbackAnswer } from './fallback-feed.ts'
import { type FreshnessState, MOST_FOLLOWED, SnapshotFreshness } from './snapshot-freshness.ts'

const LEASE_MS = 3_000
const ACME = 'acct_acme' as AccountId
const OTHER = 'acct_other' as AccountId

const changeOf = (
  seq: number,
  text: `${string}.${'insert' | 'update' | 'delete'}`,
): FollowedChange => ({
  seq,
  accountId: ACME,
  resourceType: text.slice(0, text.indexOf('.')),
  resourceId: `thing-${seq}`,
  operation: text.slice(text.indexOf('.') + 1) as FollowedChange['operation'],
})

/** A database, a fallback feed, and a node between them, on a clock of their own. */
class Scene {
  nowMs = 1_000
  changes: FollowedChange[] = []
  isAway = false
  /** It can be read, and takes no writes. */
  isReadOnly = false
  /** How often a request has waited a moment for the next lease. */
  pauses = 0
  meanwhile: () => Promise<void> | void = () => {}
  /** Undefined: no answer comes. */
  fallbackAnswer: ((knownSeq: number) => FallbackAnswer) | undefined
  /** How often the fallback feed was asked. */
  asked = 0
  /** How often the database was asked for a lease, and to let go of old changes. */
  renewals = 0
  sweeps = 0
  /** The age of the fallback feed's connection, in milliseconds. */
  connectedForMs = Number.POSITIVE_INFINITY
  /** A read of everything waits for it. */
  reading: Promise<void> = Promise.resolve()
  /** Changes that the fallback feed was told, as this node knows them: the number of the last. */
  readonly told: number[] = []
  readonly forgotten: number[] = []
  /** How often all was read of a database that was set back. */
  setBacksRead = 0
  readonly setBacks: (readonly [from: number, to: number])[] = []
  readonly states: { readonly status: FreshnessState['status']; readonly error?: unknown }[] = []
  readonly followed: string[] = []
  /** What the next step of following ends. */
  readonly ended: { id: string; calls: number }[] = []
  cannotReport = false
  readonly #freshness: SnapshotFreshness

  constructor(
    policy: Partial<StoreOutagePolicy> = {},
    options: { readonly hasFallback?: boolean; readonly leaseMs?: number } = {},
  ) {
    const connectedForMs = () => this.connectedForMs
    this.#freshness = new SnapshotFreshness({
      feed: {
        counter: async () => this.#counter(),
        renew: async () => {
          if (this.isReadOnly) throw new Error('cannot execute UPDATE in a read-only transaction')
          this.renewals += 1
          return this.#counter()
        },
        register: async () => {},
        since: async (seq, limit) => {
          this.#counter()
          return this.changes.filter((change) => change.seq > seq).slice(0, limit)
        },
        sweep: async () => {
          this.sweeps += 1
          throw new Error('somebody else does')
        },
        reportEnded: async (ended) => {
          if (this.cannotReport) throw new Error('reset')
          for (const { id, calls } of ended) this.followed.push(`ended ${calls} of ${id}`)
        },
      },
      followers: {
        follow: async (changes) => {
          for (const { seq } of changes) this.followed.push(`read ${seq}`)
          return this.ended.splice(0)
        },
        followAll: async (isOlder) => {
          await this.reading
          this.followed.push('read all')
          if (isOlder === true) this.setBacksRead += 1
          return []
        },
        followBlindly: ({ seq, resourceType, operation }) => {
          this.followed.push(`told ${seq}`)
          return resourceType === 'key' && operation === 'delete'
        },
      },
      policy: { choice: 'grace', graceMs: 60_000, ...policy },
      leaseMs: options.leaseMs ?? LEASE_MS,
      appliedSeq: 0,
      fallback:
        options.hasFallback === true
          ? {
              get connectedForMs() {
                return connectedForMs()
              },
              forget: async (seq) => {
                this.forgotten.push(seq)
              },
              publish: async (seq) => {
                this.told.push(seq)
                return { forgottenMs: 0, byId: new Map() }
              },
              renew: async (knownSeq) => {
                this.asked += 1
                if (this.fallbackAnswer === undefined) throw new Error('away')
                return this.fallbackAnswer(knownSeq)
              },
            }
          : undefined,
      clocks: { steady: () => this.nowMs, wall: () => this.nowMs },
      pause: async (delayMs) => {
        this.nowMs += delayMs
        this.pauses += 1
        await this.meanwhile()
      },
      onSetBack: (from, to) => this.setBacks.push([from, to]),
      onChange: ({ status }, error) => this.states.push({ status, error }),
    })
    scenes.push(this)
  }

  get node(): SnapshotFreshness {
    return this.#freshness
  }

  /** The database is lost, and the node has noticed; its lease is over. */
  lose(): void {
    this.isAway = true
    this.node.lose(new Error('reset'))
    this.nowMs += LEASE_MS
  }

  #counter(): number {
    if (this.isAway) throw new Error('away')
    return this.changes.at(-1)?.seq ?? 0
  }
}

const scenes: Scene[] = []
afterEach(() => {
  for (const { node } of scenes.splice(0)) node.close()
})

async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => new Error('nothing was thrown'),
    (thrown: unknown) => thrown,
  )
  return error instanceof GatewayError
    ? `${error.kind} ${error.headers?.['retry-after']}`
    : String(error)
}

describe('with the database', () => {
  test('a node is fresh during its lease, and later each request makes it catch up', async () => {
    const scene = new Scene()
    expect(scene.node.isFresh()).toBe(false)
    await scene.node.start()
    expect(scene.node.isFresh()).toBe(true)
    scene.changes = [changeOf(1, 'key.delete'), changeOf(2, 'gate.update')]
    scene.nowMs += LEASE_MS
    expect(scene.node.isFresh()).toBe(false)
    await scene.node.refresh()
    expect(scene.followed).toEqual(['read 1', 'read 2'])
    expect(scene.node.isFresh()).toBe(true)
    expect(scene.node.state()).toMatchObject({
      status: 'ok',
      appliedSeq: 2,
      behind: 0,
      refreshes: 1,
    })
  })

  test('a database set back in time is reported and followed, and the fallback feed forgets lost changes', async () => {
    const scene = new Scene({}, { hasFallback: true })
    await scene.node.start()
    scene.changes = [
      changeOf(1, 'key.delete'),
      changeOf(2, 'gate.update'),
      changeOf(3, 'gate.update'),
    ]
    await scene.node.catchUp()
    scene.changes = [changeOf(1, 'key.delete')]
    await scene.node.catchUp()
    expect(scene.setBacks).toEqual([[3, 1]])
    expect(scene.forgotten).toEqual([1])
    expect(scene.followed.at(-1)).toBe('read all')
    expect(scene.setBacksRead).toBe(1)
    expect(scene.node.state()).toMatchObject({ status: 'ok', appliedSeq: 1, behind: 0 })
  })

  test('a node away for longer than changes are kept reads everything again', async () => {
    const scene = new Scene()
    await scene.node.start()
    scene.changes = [changeOf(7, 'key.delete'), changeOf(8, 'key.delete')]
    await scene.node.catchUp()
    expect(scene.followed).toEqual(['read all'])
    expect(scene.node.appliedSeq).toBe(8)
  })

  test('many changes are followed page by page, in their order, and nothing else is read', async () => {
    const scene = new Scene({}, { hasFallback: true })
    await scene.node.start()
    scene.changes = Array.from({ length: 1_200 }, (_, index) => changeOf(index + 1, 'gate.update'))
    await scene.node.catchUp()
    expect(scene.followed).toEqual(scene.changes.map(({ seq }) => `read ${seq}`))
    expect(scene.told).toEqual([0, 500, 1_000, 1_200])
    expect(scene.node.state()).toMatchObject({ status: 'ok', appliedSeq: 1_200, behind: 0 })
  })

  test('five thousand changes are still followed one by one', async () => {
    const scene = new Scene()
    await scene.node.start()
    scene.changes = Array.from({ length: MOST_FOLLOWED }, (_, index) =>
      changeOf(index + 1, 'gate.update'),
    )
    await scene.node.catchUp()
    expect(scene.followed).toHaveLength(MOST_FOLLOWED)
    expect(scene.followed).not.toContain('read all')
  })

  test('everything is read again beyond five thousand changes', async () => {
    const scene = new Scene()
    await scene.node.start()
    scene.changes = Array.from({ length: MOST_FOLLOWED + 1 }, (_, index) =>
      changeOf(index + 1, 'gate.update'),
    )
    await scene.node.catchUp()
    expect(scene.followed).toEqual(['read all'])
    expect(scene.node.appliedSeq).toBe(MOST_FOLLOWED + 1)
  })

  test('a node reads everything again after its database was put back to an earlier state', async () => {
    const scene = new Scene()
    scene.changes = [changeOf(1, 'key.delete')]
    await scene.node.start()
    scene.changes = []
    await scene.node.catchUp()
    expect(scene.followed).toEqual(['read 1', 'read all'])
    expect(scene.node.appliedSeq).toBe(0)
  })
})

test('calls that a change ends are reported once, before the change is acknowledged', async () => {
  const scene = new Scene()
  await scene.node.start()
  scene.ended.push({ id: 'key_1', calls: 2 })
  scene.cannotReport = true
  scene.changes = [changeOf(1, 'key.delete')]
  const { renewals } = scene
  await expect(scene.node.catchUp()).rejects.toThrow('reset')
  // It asked, and has not acknowledged.
  expect(scene.renewals).toBe(renewals + 1)
  scene.cannotReport = false
  await scene.node.catchUp()
  await scene.node.catchUp()
  expect(scene.followed).toEqual(['read 1', 'ended 2 of key_1'])
})

test('catching up resolves when everything is read, and not before', async () => {
  const scene = new Scene()
  await scene.node.start()
  const { promise, resolve } = Promise.withResolvers<void>()
  scene.reading = promise
  scene.changes = [changeOf(7, 'key.delete')]
  let isDone = false
  const catchingUp = scene.node.catchUp().then(() => {
    isDone = true
  })
  await Bun.sleep(5)
  expect([isDone, scene.node.appliedSeq]).toEqual([false, 0])
  resolve()
  await catchingUp
  expect(scene.node.appliedSeq).toBe(7)
})

describe('the loss of the database', () => {
  test('is reported once, with its reason, and its return once', async () => {
    const scene = new Scene()
    await scene.node.start()
    expect(scene.states).toEqual([])
    await scene.lose()
    scene.node.lose(new Error('reset again'))
    await scene.node.catchUp().catch(() => {})
    expect(scene.states.map(({ error }) => String(error))).toEqual(['Error: reset'])
    scene.isAway = false
    await scene.node.catchUp()
    await scene.node.catchUp()
    expect(scene.states.map(({ status }) => status)).toEqual(['grace', 'ok'])
    expect(scene.states[1]?.error).toBeUndefined()
  })

  test('makes a node ask its fallback feed repeatedly, until the database is back', async () => {
    const scene = new Scene({}, { hasFallback: true, leaseMs: 30 })
    await scene.node.start()
    expect(scene.asked).toBe(0)
    scene.fallbackAnswer = () => ({ type: 'granted' })
    await scene.lose()
    await pollUntil('the fallback feed to be asked three times', () => scene.asked >= 3)
  })

  test.each(['open', 'closed'] as const)('%s: the fallback feed is not asked', async (choice) => {
    const scene = new Scene({ choice }, { hasFallback: true, leaseMs: 30 })
    await scene.node.start()
    await scene.lose()
    expect(scene.asked).toBe(0)
  })
})

describe('the fallback feed gets', () => {
  test('the number of each change that was read', async () => {
    const scene = new Scene({}, { hasFallback: true })
    await scene.node.start()
    const before = scene.told.length
    scene.changes = [changeOf(1, 'key.delete'), changeOf(2, 'gate.update')]
    await scene.node.catchUp()
    expect(scene.told.slice(before)).toEqual([2])
  })

  test('the same number again after ten seconds, in case it was lost, and not before', async () => {
    const scene = new Scene({}, { hasFallback: true })
    scene.changes = [changeOf(1, 'key.delete')]
    await scene.node.start()
    await Bun.sleep(0)
    const before = scene.told.length
    scene.nowMs += 10_000
    await scene.node.catchUp()
    expect(scene.told).toHaveLength(before)
    scene.nowMs += 1
    await scene.node.catchUp()
    expect(scene.told.slice(before)).toEqual([1])
  })

  test('the number again if a newly connected server may have missed it', async () => {
    const scene = new Scene({}, { hasFallback: true })
    scene.changes = [changeOf(1, 'key.delete')]
    await scene.node.start()
    await Bun.sleep(0)
    const before = scene.told.length
    scene.nowMs += 2_000
    scene.connectedForMs = 2_000
    await scene.node.catchUp()
    expect(scene.told).toHaveLength(before)
    scene.connectedForMs = 1_999
    await scene.node.catchUp()
    expect(scene.told.slice(before)).toEqual([1])
  })
})

describe('a running node', () => {
  beforeEach(() => {
    jest.useFakeTimers()
    // The middle of a delay's range.
    spyOn(Math, 'random').mockReturnValue(0.5)
  })
  afterEach(() => {
    jest.restoreAllMocks()
    jest.useRealTimers()
  })
  /** Lets so much time pass, and everything happen that is due. */
  const pass = async (scene: Scene, ms: number) => {
    scene.nowMs += ms
    jest.advanceTimersByTime(ms)
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
  }
  const countIn = async (scene: Scene, ms: number, count: () => number) => {
    const before = count()
    await pass(scene, ms)
    return count() - before
  }

  test('renews its lease three times in its duration, and so stays fresh', async () => {
    const scene = new Scene()
    await scene.node.start()
    for (let round = 0; round < 6; round += 1) {
      expect(await countIn(scene, 899, () => scene.renewals)).toBe(0)
      expect(await countIn(scene, 1, () => scene.renewals)).toBe(1)
      expect(scene.node.state()).toMatchObject({ leaseMs: 2_850, contactAgeMs: 0, refreshes: 0 })
    }
    await pass(scene, 700)
    expect(scene.node.state()).toMatchObject({ leaseMs: 2_150, contactAgeMs: 700 })
  })

  test('puts its next renewal off when a request causes one, and keeps one series of them', async () => {
    const scene = new Scene()
    await scene.node.start()
    await pass(scene, 600)
    await scene.node.catchUp()
    expect(await countIn(scene, 899, () => scene.renewals)).toBe(0)
    expect(await countIn(scene, 1, () => scene.renewals)).toBe(1)
  })

  test('comes back to a lost database: soon, then less and less often', async () => {
    const scene = new Scene()
    await scene.node.start()
    scene.isAway = true
    await scene.node.catchUp().catch(() => {})
    // Three quarters of 100 ms, then of twice as much each time, up to two seconds.
    for (const delayMs of [75, 150, 300, 600, 1_200, 1_500, 1_500]) {
      expect(await countIn(scene, delayMs - 1, () => scene.renewals)).toBe(0)
      expect(await countIn(scene, 1, () => scene.renewals)).toBe(1)
    }
    scene.isAway = false
    await pass(scene, 1_500)
    expect(scene.node.state().status).toBe('ok')
  })

  test('asks its fallback feed at once, and then three times a lease, until the database is back', async () => {
    const scene = new Scene({}, { hasFallback: true })
    await scene.node.start()
    scene.isAway = true
    scene.node.lose(new Error('reset'))
    expect(await countIn(scene, 0, () => scene.asked)).toBe(1)
    for (let round = 0; round < 3; round += 1) {
      expect(await countIn(scene, 899, () => scene.asked)).toBe(0)
      expect(await countIn(scene, 1, () => scene.asked)).toBe(1)
    }
    scene.isAway = false
    await scene.node.catchUp()
    expect(await countIn(scene, 10_000, () => scene.asked)).toBe(0)
  })

  test('that has left asks no server again', async () => {
    const scene = new Scene({}, { hasFallback: true })
    await scene.node.start()
    scene.node.lose(new Error('reset'))
    scene.node.close()
    scene.node.wake()
    scene.node.lose(new Error('reset again'))
    const { renewals } = scene
    await pass(scene, 10_000)
    expect([scene.asked, scene.renewals - renewals, scene.states.length]).toEqual([0, 0, 1])
  })

  test('deletes old changes every ten minutes, and ignores a failure of that', async () => {
    const scene = new Scene()
    await scene.node.start()
    scene.nowMs += 599_999
    await scene.node.catchUp()
    expect(scene.sweeps).toBe(0)
    scene.nowMs += 1
    await scene.node.catchUp()
    await scene.node.catchUp()
    expect(scene.sweeps).toBe(1)
    expect(scene.node.state().status).toBe('ok')
  })

  test('holds a request for five seconds at most while it reads, and for three at the next lease', async () => {
    const scene = new Scene({ choice: 'closed', graceMs: 0 })
    await scene.node.start()
    const { promise, resolve } = Promise.withResolvers<void>()
    scene.reading = promise
    scene.changes = [changeOf(7, 'key.delete')]
    // The lease ended 50 ms ago, and the database answers, though not to the end.
    scene.nowMs += 2_900
    let outcome = 'waits'
    const asking = refusalOf(scene.node.refresh()).then((refusal) => {
      outcome = refusal
    })
    const pauses: number[] = []
    for (let second = 0; second < 5; second += 1) {
      pauses.push(scene.pauses)
      jest.advanceTimersByTime(second < 4 ? 1_000 : 999)
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
    }
    expect([outcome, ...pauses, scene.pauses]).toEqual(['waits', 0, 0, 0, 0, 0, 0])
    resolve()
    await asking
    expect(outcome).not.toContain('unavailable')
    expect(scene.pauses).toBe(0)
  })
})

test.each([0, 50])(
  'a request asks for the next lease for three seconds, %d ms after the last one',
  async (endedMs) => {
    const scene = new Scene({ choice: 'closed', graceMs: 0 })
    await scene.node.start()
    scene.isAway = true
    scene.node.lose(new Error('reset'))
    scene.nowMs += 2_850 + endedMs
    expect(await refusalOf(scene.node.refresh())).toBe('unavailable 2')
    expect(scene.pauses).toBe(60)
  },
)

test('an unknown caller is a stranger to a node without a database, until the feed reports a key', async () => {
  const scene = new Scene({}, { hasFallback: true })
  scene.fallbackAnswer = (knownSeq) =>
    knownSeq >= 1 ? { type: 'granted' } : { type: 'behind', changes: [changeOf(1, 'gate.update')] }
  scene.lose()
  await pollUntil('the fallback feed to tell', () => scene.followed.length === 1)
  expect(() => scene.node.assertKnown(ACME)).toThrow('out of date')
  scene.node.assertKnown(undefined)
})

describe('without the database', () => {
  test('a node that fails closed serves nothing once its lease is over', async () => {
    const scene = new Scene({ choice: 'closed', graceMs: 0 })
    await scene.node.start()
    scene.lose()
    expect(scene.node.isFresh()).toBe(false)
    expect(await refusalOf(scene.node.refresh())).toBe('unavailable 2')
    expect(scene.node.state().status).toBe('away')
  })

  test('a request waits a moment for the next lease, unless the last one ended long ago', async () => {
    const scene = new Scene({ choice: 'closed', graceMs: 0 })
    await scene.node.start()
    scene.lose()
    scene.meanwhile = async () => {
      if (scene.pauses < 3) return
      scene.isAway = false
      await scene.node.catchUp()
    }
    await scene.node.refresh()
    expect(scene.pauses).toBe(3)
    expect(scene.node.isFresh()).toBe(true)

    scene.lose()
    scene.meanwhile = () => {}
    expect(await refusalOf(scene.node.refresh())).toBe('unavailable 2')
    const pauses = scene.pauses
    expect(pauses).toBeGreaterThan(3)
    expect(await refusalOf(scene.node.refresh())).toBe('unavailable 2')
    expect(scene.pauses).toBe(pauses)
  })

  test.each(['grace', 'open'] as const)(
    '%s: it serves for the time of grace, and no longer',
    async (choice) => {
      const scene = new Scene({ choice })
      await scene.node.start()
      scene.lose()
      expect(scene.node.isFresh()).toBe(true)
      expect(scene.node.state().status).toBe('grace')
      scene.nowMs += 57_000
      expect(scene.node.isFresh()).toBe(false)
      expect(await refusalOf(scene.node.refresh())).toBe('unavailable 2')
      scene.isAway = false
      await scene.node.catchUp()
      expect(scene.node.state().status).toBe('ok')
      expect(scene.node.isFresh()).toBe(true)
    },
  )

  test('a node that learns of the loss by a request serves it within the grace period', async () => {
    const scene = new Scene()
    await scene.node.start()
    scene.isAway = true
    scene.nowMs += LEASE_MS
    expect(scene.node.isFresh()).toBe(false)
    await scene.node.refresh()
    expect(scene.node.isFresh()).toBe(true)
  })

  test('a node that needs the fallback feed serves only while the feed vouches for it', async () => {
    const scene = new Scene({}, { hasFallback: true })
    await scene.node.start()
    scene.lose()
    expect(scene.node.isFresh()).toBe(false)
    expect(await refusalOf(scene.node.refresh())).toBe('unavailable 2')
    scene.fallbackAnswer = () => ({ type: 'refused' })
    expect(await refusalOf(scene.node.refresh())).toBe('unavailable 2')
    scene.fallbackAnswer = () => ({ type: 'granted' })
    await scene.node.refresh()
    expect(scene.node.isFresh()).toBe(true)
    scene.nowMs += LEASE_MS
    expect(scene.node.isFresh()).toBe(false)
  })

  test('a request waits for the fallback feed’s answer, and not for the next look', async () => {
    const scene = new Scene({}, { hasFallback: true })
    await scene.node.start()
    scene.lose()
    scene.fallbackAnswer = () => ({ type: 'granted' })
    await scene.node.refresh()
    expect(scene.node.isFresh()).toBe(true)
    expect(scene.pauses).toBe(0)
  })

  test.each(['open', 'closed'] as const)('%s asks no fallback feed', async (choice) => {
    const scene = new Scene({ choice }, { hasFallback: true, leaseMs: 30 })
    await scene.node.start()
    scene.lose()
    expect(scene.node.isFresh()).toBe(choice === 'open')
    await Bun.sleep(60)
    expect(scene.asked).toBe(0)
  })

  test('an account stays refused if the database is readable and lacks a change that the feed reported', async () => {
    const scene = new Scene({}, { hasFallback: true })
    await scene.node.start()
    scene.fallbackAnswer = (knownSeq) =>
      knownSeq >= 2 ? { type: 'granted' } : { type: 'behind', changes: [changeOf(2, 'key.insert')] }
    scene.lose()
    await scene.node.refresh()
    expect(() => scene.node.assertKnown(ACME)).toThrow('out of date')

    // A replica that is behind: one change of the two.
    scene.isAway = false
    scene.isReadOnly = true
    scene.changes = [changeOf(1, 'gate.update')]
    await scene.node.catchUp().catch(() => {})
    expect(scene.followed).toContain('read 1')
    expect(() => scene.node.assertKnown(ACME)).toThrow('out of date')
    expect(() => scene.node.assertKnown(undefined)).toThrow('out of date')

    scene.changes = [changeOf(1, 'gate.update'), changeOf(2, 'key.insert')]
    await scene.node.catchUp().catch(() => {})
    scene.node.assertKnown(ACME)
    // Once every account is known again, so is each key.
    scene.fallbackAnswer = (knownSeq) =>
      knownSeq >= 3
        ? { type: 'granted' }
        : { type: 'behind', changes: [changeOf(3, 'gate.update')] }
    scene.nowMs += LEASE_MS
    await scene.node.refresh()
    expect(() => scene.node.assertKnown(ACME)).toThrow('out of date')
    scene.node.assertKnown(undefined)
  })

  test('open serves without the fallback feed', async () => {
    const scene = new Scene({ choice: 'open' }, { hasFallback: true })
    await scene.node.start()
    scene.lose()
    expect(scene.node.isFresh()).toBe(true)
  })

  test('a change that commits as the database stops taking writes is read, and no request is refused', async () => {
    const scene = new Scene({}, { hasFallback: true })
    await scene.node.start()
    scene.isReadOnly = true
    scene.changes = [changeOf(1, 'gate.update')]
    scene.fallbackAnswer = (knownSeq) =>
      knownSeq >= 1 ? { type: 'granted' } : { type: 'behind', changes: scene.changes }
    scene.nowMs += LEASE_MS
    await scene.node.refresh()
    await pollUntil('the change', async () =>
      scene.followed.includes('read 1') ? true : undefined,
    )
    scene.nowMs += LEASE_MS
    await scene.node.refresh()
    scene.node.assertKnown(ACME)
    expect(scene.node.state()).toMatchObject({ status: 'grace', appliedSeq: 1, behind: 0 })
    // It gives no lease: when the grace is over, so are the calls.
    scene.nowMs += 60_000
    expect(scene.node.isFresh()).toBe(false)
  })

  test('a reported deletion takes effect at once, and any other reported change refuses its account', async () => {
    const scene = new Scene({}, { hasFallback: true })
    await scene.node.start()
    const tell = (change: FollowedChange) => {
      scene.fallbackAnswer = (knownSeq) =>
        knownSeq >= change.seq ? { type: 'granted' } : { type: 'behind', changes: [change] }
    }
    tell(changeOf(1, 'key.delete'))
    scene.lose()
    await scene.node.refresh()
    expect(scene.followed).toEqual(['told 1'])
    scene.node.assertKnown(ACME)
    scene.node.assertKnown(undefined)

    tell(changeOf(2, 'gate.update'))
    scene.nowMs += LEASE_MS
    await scene.node.refresh()
    expect(() => scene.node.assertKnown(ACME)).toThrow('out of date')
    scene.node.assertKnown(OTHER)
    // A key that is not known here may be good once one was made elsewhere.
    scene.node.assertKnown(undefined)
    tell(changeOf(3, 'key.insert'))
    scene.nowMs += LEASE_MS
    await scene.node.refresh()
    expect(() => scene.node.assertKnown(undefined)).toThrow('out of date')
    expect(scene.node.state()).toMatchObject({ status: 'grace', behind: 3 })

    scene.isAway = false
    scene.changes = [
      changeOf(1, 'key.delete'),
      changeOf(2, 'gate.update'),
      changeOf(3, 'key.insert'),
    ]
    await scene.node.catchUp()
    expect(scene.followed.slice(3)).toEqual(['read 1', 'read 2', 'read 3'])
    scene.node.assertKnown(ACME)
    scene.node.assertKnown(undefined)
  })
})

test('a node that has left serves nothing', async () => {
  const scene = new Scene()
  await scene.node.start()
  scene.node.close()
  expect(scene.node.isFresh()).toBe(false)
  expect(await refusalOf(scene.node.refresh())).toBe('unavailable 2')
})
