import { expect, test } from 'bun:test'
import { countErrors } from './count-errors.ts'

test('errors are counted by status and kind, the most frequent first, without refused calls', () => {
  const failed = (status: number, errorKind: string | null, attempts = 1) => ({
    ...{ status, errorKind, attempts },
  })
  expect(
    countErrors([
      failed(502, 'upstream_error'),
      failed(429, 'rate_limited', 0),
      failed(504, 'upstream_timeout'),
      failed(504, 'upstream_timeout', 2),
      failed(502, null),
    ]),
  ).toEqual([
    { status: 504, errorKind: 'upstream_timeout', calls: 2 },
    { status: 502, errorKind: 'upstream_error', calls: 1 },
    { status: 502, errorKind: null, calls: 1 },
  ])
})
