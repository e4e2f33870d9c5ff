import { describe, expect, test } from 'bun:test'
import { listSteps, parseRangeChoice, resolveRange } from './time-range.ts'

const NOW = Date.parse('2026-11-21T10:20:00Z')
const at = (text: string) => Date.parse(text)

describe('what an address says', () => {
  test('a known range is taken, everything else becomes the last seven days', () => {
    expect(parseRangeChoice({ range: '30d' })).toEqual({ range: '30d' })
    expect(parseRangeChoice({})).toEqual({ range: '7d' })
    expect(parseRangeChoice({ range: 'year' })).toEqual({ range: '7d' })
  })

  test('a custom range needs two days in order', () => {
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

describe('what a range means', () => {
  test('24 hours are 24 steps, the running one included, compared with the 24 before', () => {
    const { current, before, step } = resolveRange({ range: '24h' }, NOW)
    expect(listSteps(current, step)).toHaveLength(24)
    expect(current.toMs).toBe(at('2026-11-21T11:00Z'))
    expect(before).toEqual({ fromMs: at('2026-11-19T11:00Z'), toMs: current.fromMs })
  })

  test('30 days are whole days but for today, which is compared with as much of its day', () => {
    const { current, before, step } = resolveRange({ range: '30d' }, NOW)
    expect(listSteps(current, step)).toHaveLength(30)
    expect(current.fromMs).toBe(at('2026-10-23T00:00Z'))
    expect(before.toMs).toBe(at('2026-10-22T11:00Z'))
    expect(listSteps(before, step)).toHaveLength(30)
  })

  test('this month is compared with as much of the month before', () => {
    expect(resolveRange({ range: 'month' }, NOW).before).toEqual({
      fromMs: at('2026-10-01T00:00Z'),
      toMs: at('2026-10-21T11:00Z'),
    })
    // March the 31st has no counterpart in February: it is compared with the whole of it.
    const { before } = resolveRange({ range: 'month' }, at('2026-03-31T12:00Z'))
    expect(before.toMs).toBe(at('2026-03-01T00:00Z'))
  })

  test('a custom range includes its last day, and changes only while that lasts', () => {
    const past = resolveRange({ range: 'custom', from: '2026-11-01', to: '2026-11-03' }, NOW)
    expect(past.current).toEqual({ fromMs: at('2026-11-01T00:00Z'), toMs: at('2026-11-04T00:00Z') })
    expect(past.before.fromMs).toBe(at('2026-10-29T00:00Z'))
    expect(past.isOngoing).toBe(false)
    expect(
      resolveRange({ range: 'custom', from: '2026-11-01', to: '2026-11-21' }, NOW).isOngoing,
    ).toBe(true)
  })

  test('long ranges have long steps', () => {
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
