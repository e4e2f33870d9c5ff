import { afterEach, describe, expect, test } from 'bun:test'
import {
  chooseDays,
  describeUtcDays,
  listSteps,
  parseRangeChoice,
  resolveRange,
  toDays,
  zoneOfDays,
} from './time-range.ts'

const NOW = Date.parse('2026-11-21T10:20:00Z')
const at = (text: string) => Date.parse(text)

describe('the range in an address', () => {
  test('is kept if it is known, and becomes the last seven days otherwise', () => {
    expect(parseRangeChoice({ range: '30d' })).toEqual({ range: '30d' })
    expect(parseRangeChoice({})).toEqual({ range: '7d' })
    expect(parseRangeChoice({ range: 'year' })).toEqual({ range: '7d' })
  })

  test('needs two days in order if it is a custom one', () => {
    const from = '2026-11-01'
    expect(parseRangeChoice({ range: 'custom', from, to: '2026-11-03' })).toEqual({
      range: 'custom',
      from,
      to: '2026-11-03',
    })
    for (const to of [undefined, '2026-10-31', '2026-13-01', 'x', 7])
      expect(parseRangeChoice({ range: 'custom', from, to })).toEqual({ range: '7d' })
  })
})

describe('days of the reader’s own zone', () => {
  const outside = process.env.TZ
  afterEach(() => {
    process.env.TZ = outside ?? 'UTC'
  })
  const liveIn = (zone: string) => {
    process.env.TZ = zone
  }

  test('are moments in the address, so that every reader sees the same range', () => {
    liveIn('Europe/Zurich')
    const choice = chooseDays('2026-10-19', '2026-10-25', 'local')
    expect(choice).toEqual({
      range: 'custom',
      from: '2026-10-18T22:00:00.000Z',
      to: '2026-10-25T23:00:00.000Z',
    })
    expect(parseRangeChoice({ ...choice })).toEqual(choice)
    expect(toDays(choice, 'local')).toEqual(['2026-10-19', '2026-10-25'])
    const range = resolveRange(choice, NOW)
    // A week with an hour more is the longest that the interface tells by the hour.
    expect(listSteps(range.current, range.step)).toHaveLength(7 * 24 + 1)
    expect(describeUtcDays(range, 'local')).toBe('')
    liveIn('America/Los_Angeles')
    expect(resolveRange(parseRangeChoice({ ...choice }), NOW).current).toEqual(range.current)
    expect(toDays(choice, 'local')).toEqual(['2026-10-18', '2026-10-25'])
  })

  test('are available for a week; longer ranges, and half-hour zones, have days of UTC, with a note', () => {
    liveIn('Europe/Zurich')
    expect(zoneOfDays('2026-10-19', '2026-10-26', 'local')).toBe('utc')
    const long = resolveRange(chooseDays('2026-10-19', '2026-10-26', 'local'), NOW)
    expect(long.current.fromMs).toBe(at('2026-10-19T00:00Z'))
    expect(describeUtcDays(long, 'local')).toBe('Each step is a day in UTC, like the stored sums.')
    expect(describeUtcDays(long, 'utc')).toBe('')
    liveIn('Asia/Kolkata')
    const near = resolveRange(chooseDays('2026-11-01', '2026-11-02', 'local'), NOW)
    expect(near.current.fromMs).toBe(at('2026-11-01T00:00Z'))
    expect(describeUtcDays(near, 'local')).toBe('The chart’s days are in UTC.')
  })

  test('are widened to whole hours from an address, and have to go forwards', () => {
    const [from, to] = ['2026-11-01T10:20:00Z', '2026-11-01T12:00:01Z']
    expect(parseRangeChoice({ range: 'custom', from, to })).toEqual({
      range: 'custom',
      from: '2026-11-01T10:00:00.000Z',
      to: '2026-11-01T13:00:00.000Z',
    })
    for (const end of [from, '2026-11-01', '2026-11-01T99:00:00Z', '9'.repeat(400)])
      expect(parseRangeChoice({ range: 'custom', from, to: end })).toEqual({ range: '7d' })
  })
})

describe('a resolved range', () => {
  test('of 24 hours has 24 steps, the running one included, and compares the 23 finished ones', () => {
    const { current, compared, step, runningFromMs } = resolveRange({ range: '24h' }, NOW)
    expect(listSteps(current, step)).toHaveLength(24)
    expect(current.toMs).toBe(at('2026-11-21T11:00Z'))
    expect(runningFromMs).toBe(at('2026-11-21T10:00Z'))
    expect(compared).toEqual({
      finished: { fromMs: at('2026-11-20T11:00Z'), toMs: at('2026-11-21T10:00Z') },
      before: { fromMs: at('2026-11-19T11:00Z'), toMs: at('2026-11-20T10:00Z') },
    })
  })

  test('of 30 days has whole days except today, which is compared with as much of its day', () => {
    const { current, compared, step, runningFromMs } = resolveRange({ range: '30d' }, NOW)
    expect(listSteps(current, step)).toHaveLength(30)
    expect(current.fromMs).toBe(at('2026-10-23T00:00Z'))
    expect(runningFromMs).toBe(at('2026-11-21T00:00Z'))
    expect(compared?.before.toMs).toBe(at('2026-10-22T10:00Z'))
  })

  test('of this month is compared with as much of the month before, and not with more than it had', () => {
    expect(resolveRange({ range: 'month' }, NOW).compared).toEqual({
      finished: { fromMs: at('2026-11-01T00:00Z'), toMs: at('2026-11-21T10:00Z') },
      before: { fromMs: at('2026-10-01T00:00Z'), toMs: at('2026-10-21T10:00Z') },
    })
    // March the 31st has no counterpart in February: 28 days are compared with 28.
    expect(resolveRange({ range: 'month' }, at('2026-03-31T12:00Z')).compared).toEqual({
      finished: { fromMs: at('2026-03-01T00:00Z'), toMs: at('2026-03-29T00:00Z') },
      before: { fromMs: at('2026-02-01T00:00Z'), toMs: at('2026-03-01T00:00Z') },
    })
  })

  test('of chosen days includes the last day, and changes only during it', () => {
    const past = resolveRange({ range: 'custom', from: '2026-11-01', to: '2026-11-03' }, NOW)
    expect(past.current).toEqual({ fromMs: at('2026-11-01T00:00Z'), toMs: at('2026-11-04T00:00Z') })
    expect(past.compared).toEqual({
      finished: past.current,
      before: { fromMs: at('2026-10-29T00:00Z'), toMs: at('2026-11-01T00:00Z') },
    })
    expect([past.isOngoing, past.runningFromMs]).toEqual([false, undefined])
    expect(
      resolveRange({ range: 'custom', from: '2026-11-01', to: '2026-11-21' }, NOW).isOngoing,
    ).toBe(true)
  })

  test('of today ends with the running hour, and is compared with yesterday up to the same one', () => {
    const today = { range: 'custom', from: '2026-11-21', to: '2026-11-21' } as const
    const range = resolveRange(today, NOW)
    expect(listSteps(range.current, range.step)).toHaveLength(11)
    expect(range.compared?.before).toEqual({
      fromMs: at('2026-11-20T00:00Z'),
      toMs: at('2026-11-20T10:00Z'),
    })
    // In its first hour nothing is over.
    expect(resolveRange(today, at('2026-11-21T00:59:59Z')).compared).toBeUndefined()
    expect(resolveRange({ range: 'month' }, at('2026-11-01T00:00:00Z')).compared).toBeUndefined()
  })

  test('is compared with one of the same length, at any time', () => {
    const choices = [
      { range: '24h' },
      { range: '7d' },
      { range: '30d' },
      { range: 'month' },
      { range: 'custom', from: '2026-02-20', to: '2026-03-02' },
    ] as const
    for (let nowMs = at('2026-02-27T22:10Z'); nowMs < at('2026-04-02'); nowMs += 5 * 3_600_000)
      for (const choice of choices) {
        const { compared, current } = resolveRange(choice, nowMs)
        if (compared === undefined) continue
        const lengthOf = ({ fromMs, toMs }: { fromMs: number; toMs: number }) => toMs - fromMs
        expect(lengthOf(compared.before)).toBe(lengthOf(compared.finished))
        expect(compared.before.toMs).toBeLessThanOrEqual(current.fromMs)
        expect(compared.finished.toMs).toBeLessThanOrEqual(nowMs)
      }
  })

  test('has long steps if it is long', () => {
    const { current, step } = resolveRange(
      { range: 'custom', from: '2025-11-05', to: '2026-11-04' },
      NOW,
    )
    expect(step).toBe('month')
    const steps = listSteps(current, step)
    expect(steps).toHaveLength(13)
    expect(steps[1]).toBe(at('2025-12-01T00:00Z'))
  })
})
