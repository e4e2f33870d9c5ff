import { expect, test } from 'bun:test'
import { ScriptedClock } from '../../../test/support/scripted-clock.ts'
import { CircuitBreakers } from './circuit-breakers.ts'

const KEY = 'account\nopenai/gpt-5'

function createBreakers(onOpened?: (key: string, restsUntilMs: number) => void) {
  const clock = {
    nowMs: 1_790_000_000_000,
    now(): number {
      return this.nowMs
    },
    elapsed(): number {
      return this.nowMs
    },
  }
  return { clock, breakers: new CircuitBreakers(clock, onOpened) }
}

function fail(breakers: CircuitBreakers, times: number): void {
  for (let index = 0; index < times; index += 1) {
    breakers.noteAsked(KEY)
    breakers.noteFailed(KEY)
  }
}

test('a target without any observation is well', () => {
  expect(createBreakers().breakers.conditionOf(KEY)).toBe('well')
})

test('five failures in a row make a target rest, and a success restarts the count', () => {
  const { breakers } = createBreakers()
  fail(breakers, 4)
  expect(breakers.conditionOf(KEY)).toBe('well')
  breakers.noteAnswered(KEY, 10)
  fail(breakers, 4)
  expect(breakers.conditionOf(KEY)).toBe('well')
  fail(breakers, 1)
  expect(breakers.conditionOf(KEY)).toBe('resting')
})

test('after its rest one call probes the target, and only one', () => {
  const { clock, breakers } = createBreakers()
  fail(breakers, 5)
  clock.nowMs += 5_000
  expect(breakers.conditionOf(KEY)).toBe('probe')
  breakers.noteAsked(KEY)
  expect(breakers.conditionOf(KEY)).toBe('resting')
  breakers.noteAnswered(KEY, 10)
  expect(breakers.conditionOf(KEY)).toBe('well')
})

test.each([3_600_000, -3_600_000, 365 * 86_400_000])(
  'a clock set by %d ms does not change a target’s rest, and its end is shown in the new time',
  (jumpMs) => {
    const clock = new ScriptedClock()
    const breakers = new CircuitBreakers(clock)
    fail(breakers, 5)
    clock.pass(2_000)
    clock.jump(jumpMs)
    expect(breakers.conditionOf(KEY)).toBe('resting')
    expect(breakers.seenOf(KEY)?.restsUntilMs).toBe(clock.now() + 3_000)
    clock.pass(3_000)
    expect(breakers.conditionOf(KEY)).toBe('probe')
  },
)

test('each failed probe doubles the rest, up to a minute', () => {
  const { clock, breakers } = createBreakers()
  fail(breakers, 5)
  for (const restMs of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
    clock.nowMs += restMs - 1
    expect(breakers.conditionOf(KEY)).toBe('resting')
    clock.nowMs += 1
    expect(breakers.conditionOf(KEY)).toBe('probe')
    fail(breakers, 1)
  }
})

test('a probe whose client leaves has no result: the next call probes again', () => {
  const { clock, breakers } = createBreakers()
  fail(breakers, 5)
  clock.nowMs += 5_000
  breakers.noteAsked(KEY)
  breakers.noteAbandoned(KEY)
  expect(breakers.conditionOf(KEY)).toBe('probe')
})

test('a target that says when to come back rests until then, at most a minute', () => {
  const { clock, breakers } = createBreakers()
  breakers.noteFailed(KEY, 2_000)
  expect(breakers.conditionOf(KEY)).toBe('resting')
  clock.nowMs += 2_000
  expect(breakers.conditionOf(KEY)).toBe('probe')
  breakers.noteFailed(KEY, 86_400_000)
  clock.nowMs += 60_000
  expect(breakers.conditionOf(KEY)).toBe('probe')
})

test('the time to the first byte is a moving average', () => {
  const { breakers } = createBreakers()
  breakers.noteAnswered(KEY, 100)
  expect(breakers.firstByteMsOf(KEY)).toBe(100)
  breakers.noteAnswered(KEY, 200)
  expect(breakers.firstByteMsOf(KEY)).toBe(120)
})

test('the view of a target shows nothing at first, then its answer, its newest failure and its rest', () => {
  const { clock, breakers } = createBreakers()
  expect(breakers.seenOf(KEY)).toBeUndefined()
  breakers.noteAnswered(KEY, 100)
  expect(breakers.seenOf(KEY)).toMatchObject({
    condition: 'well',
    failuresInARow: 0,
    averageFirstByteMs: 100,
    lastAnsweredAtMs: clock.nowMs,
    lastFailure: undefined,
  })
  clock.nowMs += 1
  breakers.noteFailed(KEY, 2_000, { kind: 'upstream_error', status: 429 })
  expect(breakers.seenOf(KEY)).toMatchObject({
    condition: 'resting',
    failuresInARow: 1,
    restsUntilMs: clock.nowMs + 2_000,
    lastFailure: { kind: 'upstream_error', status: 429, atMs: clock.nowMs },
  })
  clock.nowMs += 2_000
  expect(breakers.seenOf(KEY)?.condition).toBe('probe')
  breakers.noteAsked(KEY)
  expect(breakers.seenOf(KEY)?.condition).toBe('probe')
})

test('ten thousand targets are remembered; beyond that, the one seen longest ago is forgotten', () => {
  const { breakers } = createBreakers()
  const seen = (index: number) => breakers.seenOf(`account\nopenai/${index}`) !== undefined
  for (let index = 0; index < 10_000; index += 1)
    breakers.noteAnswered(`account\nopenai/${index}`, 1)
  expect([0, 1, 9_999].map(seen)).toEqual([true, true, true])
  // The first target stays in use by answers and failures, so its state is not evicted.
  breakers.noteAnswered('account\nopenai/0', 1)
  breakers.noteFailed('account\nopenai/1')
  breakers.noteAnswered('account\nopenai/10000', 1)
  expect([0, 1, 2, 3, 10_000].map(seen)).toEqual([true, true, false, true, true])
  expect(breakers.firstByteMsOf('account\nopenai/0')).toBe(1)
})

test('a target rests for the time that it asks for, however short', () => {
  const { clock, breakers } = createBreakers()
  breakers.noteFailed(KEY, 1)
  expect(breakers.conditionOf(KEY)).toBe('resting')
  clock.nowMs += 1
  expect(breakers.conditionOf(KEY)).toBe('probe')
})

test('failures of one account’s targets at one provider can be cleared, and their speed is kept', () => {
  const { breakers } = createBreakers()
  const keys = ['a\nopenai/x', 'a\nopenai/y', 'a\nopenaix/x', 'b\nopenai/x', 'c a\nopenai/']
  for (const key of keys) {
    breakers.noteAnswered(key, 70)
    for (let times = 0; times < 5; times += 1) breakers.noteFailed(key)
  }
  expect([...breakers.notWell()]).toEqual(keys)
  breakers.forgetFailures('a\nopenai/')
  expect([...breakers.notWell()]).toEqual(keys.slice(2))
  expect(breakers.seenOf('a\nopenai/x')).toMatchObject({
    condition: 'well',
    failuresInARow: 0,
    averageFirstByteMs: 70,
  })
  // The state starts anew: four failures do not open the breaker, and the first rest is short.
  for (let times = 0; times < 4; times += 1) breakers.noteFailed('a\nopenai/x')
  expect(breakers.conditionOf('a\nopenai/x')).toBe('well')
})

test('a target that has only failed has never answered, and does not rest for one failure', () => {
  const { breakers } = createBreakers()
  breakers.noteFailed(KEY)
  expect(breakers.seenOf(KEY)).toMatchObject({
    ...{ condition: 'well', failuresInARow: 1, restsUntilMs: 0 },
    ...{ averageFirstByteMs: undefined, lastAnsweredAtMs: 0, lastFailure: undefined },
  })
  expect([breakers.lastAnsweredAtMsOf(KEY), breakers.firstByteMsOf(KEY)]).toEqual([0, undefined])
})

test('a listener hears of a target that rests for its failures, and not of one that asked for a pause', () => {
  const opened: (readonly [string, number])[] = []
  const { clock, breakers } = createBreakers((key, untilMs) => void opened.push([key, untilMs]))
  breakers.noteAsked(KEY)
  breakers.noteFailed(KEY, 30_000)
  expect(breakers.conditionOf(KEY)).toBe('resting')
  expect(opened).toEqual([])
  clock.nowMs += 30_000
  fail(breakers, 1)
  // The probe failed, so the second rest is ten seconds, twice the first.
  expect(opened).toEqual([[KEY, clock.nowMs + 10_000]])
})
