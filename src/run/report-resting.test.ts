import { expect, test } from 'bun:test'
import { GatewayError } from '../core/errors.ts'
import { toFailure } from '../gateway/attempt/failures.ts'
import { UpstreamFailure } from '../net/upstream-failure.ts'
import { createReportResting } from './report-resting.ts'

function report() {
  const lines: { readonly target?: unknown; readonly reason?: unknown }[] = []
  const clock = { at: 1_800_000_000_000, now: () => clock.at }
  const resting = createReportResting({ warn: (fields) => void lines.push(fields) }, clock)
  return { lines, clock, resting }
}

const refused = (reason: string) =>
  toFailure(
    new UpstreamFailure('connect_failed', 'The connection could not be made.', {
      cause: Object.assign(new Error(reason), { code: 'E_REFUSED' }),
    }),
    'openai/gpt-4o',
  )

test('the reason why a provider cannot be reached is told, which its callers do not hear', () => {
  const { lines, resting } = report()
  const failure = refused('The proxy answered 403.')
  expect(failure.message).not.toContain('403')
  resting('openai/gpt-4o', 1_800_000_005_000, failure)
  expect(lines).toEqual([
    {
      target: 'openai/gpt-4o',
      until: '2027-01-15T08:00:05.000Z',
      status: 502,
      reason: 'The connection could not be made. The proxy answered 403. (E_REFUSED)',
    },
  ] as object[])
})

test('a provider is told of once a minute, however many targets and accounts it has', () => {
  const { lines, clock, resting } = report()
  for (const target of ['openai/a', 'openai/b', 'mistral/c', 'openai/a']) resting(target, clock.at)
  expect(lines.map(({ target }) => target)).toEqual(['openai/a', 'mistral/c'])
  clock.at += 60_000
  resting('openai/b', clock.at)
  // A clock that was set back is no reason for silence.
  clock.at -= 3_600_000
  resting('openai/a', clock.at)
  expect(lines.map(({ target }) => target).slice(2)).toEqual(['openai/b', 'openai/a'])
})

test('nothing is said of models that an account owns, nor any word of an upstream’s', () => {
  const { lines, resting } = report()
  resting('owned/mine', 1, refused('ECONNREFUSED'))
  resting('openai/a', 1, new GatewayError('upstream_error', 'You said: planted prompt'))
  expect(lines).toHaveLength(1)
  expect(JSON.stringify(lines)).not.toContain('planted')
})
