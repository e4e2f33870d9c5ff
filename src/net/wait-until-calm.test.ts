import { expect, test } from 'bun:test'
import { waitUntilCalm } from './wait-until-calm.ts'

const CALM_MS = 100

/** Delays the whole process. */
function block(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test('the time counts from the last delay on', async () => {
  let lastHeldUpAt = 0
  let blocks = 0
  const timer = setInterval(() => {
    block(80)
    lastHeldUpAt = performance.now()
    blocks += 1
    if (blocks === 5) clearInterval(timer)
  }, 10)
  await waitUntilCalm(CALM_MS, 60_000)
  expect(blocks).toBe(5)
  expect(performance.now() - lastHeldUpAt).toBeGreaterThanOrEqual(CALM_MS)
})

test('it is over after its limit on a machine that stays busy', async () => {
  const timer = setInterval(() => block(80), 10)
  await waitUntilCalm(CALM_MS, 500)
  clearInterval(timer)
})
