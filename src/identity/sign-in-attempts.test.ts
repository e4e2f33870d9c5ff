import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { SignInAttempts } from './sign-in-attempts.ts'

const MINUTE_MS = 60_000
const PERSON = 'a@example.test'
const HERE = '192.0.2.1'
const ELSEWHERE = '192.0.2.2'

describe.each(databases)('on $name', (kind) => {
  let database: TestDatabase
  let store: Store
  let time: { now: number }
  let attempts: SignInAttempts
  const startNode = () =>
    new SignInAttempts({ tries: store.signInTries, clock: { now: () => time.now } })
  beforeEach(async () => {
    database = await kind.create()
    store = await openStore(database.location)
    time = { now: Date.parse('2026-01-02T03:04:05Z') }
    attempts = startNode()
  })
  afterEach(async () => {
    await store.close()
    await database.remove()
  })

  /** @returns how many were let through before the first refusal */
  async function countUntilRefused(
    attempt: (index: number) => unknown,
    most = 60,
  ): Promise<number> {
    for (let index = 0; index < most; index += 1) {
      try {
        await attempt(index)
      } catch (error) {
        expect(error).toMatchObject({
          kind: 'rate_limited',
          headers: { 'retry-after': expect.any(String) },
        })
        return index
      }
    }
    return most
  }

  /** Seconds to wait, as the answer says; 0: the try was let through. */
  async function waitOf(attempt: () => Promise<unknown>): Promise<number> {
    const headers = await attempt().then(
      () => undefined,
      (error: { headers: Record<string, string> }) => error.headers,
    )
    return Number(headers?.['retry-after'] ?? 0)
  }

  test('a user has ten tries at one place, and all the others at another one', async () => {
    expect(await countUntilRefused(() => attempts.begin(PERSON, HERE))).toBe(10)
    const right = await attempts.begin(PERSON, ELSEWHERE)
    await right.succeed()
    expect(await countUntilRefused(() => attempts.begin(PERSON, ELSEWHERE))).toBe(10)
    expect(await waitOf(() => attempts.begin(PERSON, HERE))).toBeGreaterThan(0)
    expect(await countUntilRefused(() => attempts.begin('b@example.test', HERE))).toBe(10)
  })

  test('each further guess waits longer, up to a quarter of an hour, and a success resets that', async () => {
    await countUntilRefused(() => attempts.begin(PERSON, HERE))
    const waits: number[] = []
    for (let round = 0; round < 8; round += 1) {
      const seconds = await waitOf(() => attempts.begin(PERSON, HERE))
      waits.push(seconds)
      time.now += seconds * 1000 - 1
      expect(await waitOf(() => attempts.begin(PERSON, HERE))).toBe(1)
      time.now += 1
      await attempts.begin(PERSON, HERE)
    }
    expect(waits).toEqual([30, 60, 120, 240, 480, 900, 900, 900])
    time.now += 15 * MINUTE_MS
    await (await attempts.begin(PERSON, HERE)).succeed()
    expect(await countUntilRefused(() => attempts.begin(PERSON, HERE))).toBe(10)
  })

  test.each([2 * 60 * MINUTE_MS, 365 * 24 * 60 * MINUTE_MS])(
    'a clock that was %d ms ahead locks no user out once it is set right, and forgets no wrong try',
    async (aheadMs) => {
      time.now += aheadMs
      await countUntilRefused(() => attempts.begin(PERSON, HERE))
      time.now -= aheadMs
      await attempts.begin(PERSON, HERE)
      expect(await waitOf(() => attempts.begin(PERSON, HERE))).toBe(60)
    },
  )

  test('a clock slightly ahead of this one makes no user wait longer than a quarter of an hour', async () => {
    await countUntilRefused(() => attempts.begin(PERSON, HERE))
    time.now -= 20 * MINUTE_MS
    expect(await waitOf(() => attempts.begin(PERSON, HERE))).toBe(900)
  })

  test('tries at once on two nodes are counted together, and after a restart', async () => {
    const other = startNode()
    const outcomes = await Promise.allSettled(
      Array.from({ length: 24 }, (_, index) => (index % 2 ? attempts : other).begin(PERSON, HERE)),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
    expect(await waitOf(() => startNode().begin(PERSON, HERE))).toBeGreaterThan(0)
  })

  test('a few wrong tries are forgotten after a quarter of an hour, and swept', async () => {
    for (let count = 0; count < 9; count += 1) await attempts.begin(PERSON, HERE)
    time.now += 15 * MINUTE_MS
    expect(await countUntilRefused(() => attempts.begin(PERSON, HERE))).toBe(10)
    time.now += 24 * 60 * MINUTE_MS
    await attempts.deleteExpired()
    expect(await store.database.selectFrom('sign_in_tries').selectAll().execute()).toEqual([])
  })

  test('a clock that jumps locks no user out for longer than the longest wait', async () => {
    time.now += 365 * 24 * 60 * MINUTE_MS
    await countUntilRefused(() => attempts.begin(PERSON, HERE))
    time.now -= 365 * 24 * 60 * MINUTE_MS
    expect(await waitOf(() => attempts.begin(PERSON, HERE))).toBeLessThanOrEqual(900)
  })

  test('one network address has fifty tries at unknown users, and successes do not count', async () => {
    const right = async (index: number) =>
      (await attempts.begin(`${index}@example.test`, HERE)).succeed()
    expect(await countUntilRefused(right)).toBe(60)
    expect(
      await countUntilRefused((index) => attempts.begin(`new-${index}@example.test`, HERE)),
    ).toBe(50)
    expect(await countUntilRefused(() => attempts.beginSignUp(HERE))).toBe(0)
    // One who has signed in there before is not locked out by the others.
    await (await attempts.begin('7@example.test', HERE)).succeed()
    expect(await countUntilRefused(() => attempts.beginSignUp(ELSEWHERE))).toBe(50)
  })

  test('tries from unknown addresses are counted together', async () => {
    expect(
      await countUntilRefused((index) => attempts.begin(`${index}@example.test`, undefined)),
    ).toBe(50)
  })

  test.each([
    ['2001:db8:1:2:', 'a /64'],
    ['2001:db8:1:2::', 'a /64, shortened'],
  ])('an IPv6 customer is one network: %s', async (prefix) => {
    const spread = (index: number) =>
      attempts.beginSignUp(prefix.endsWith('::') ? `${prefix}${index}` : `${prefix}0:0:0:${index}`)
    expect(await countUntilRefused(spread)).toBe(50)
    expect(await countUntilRefused(() => attempts.beginSignUp('2001:db8:1:3::1'))).toBe(50)
    expect(await countUntilRefused(() => attempts.beginSignUp('::ffff:192.0.2.9'))).toBe(50)
    expect(await countUntilRefused(() => attempts.beginSignUp('::ffff:192.0.2.10'))).toBe(50)
  })
})
