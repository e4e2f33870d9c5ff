/**
 * How targets do, as the control plane tells it after real calls that failed and were answered by
 * the next target.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type ControlPlane, controlPlaneCall, createGate } from '../support/control-plane.ts'
import { fillTenant } from '../support/route-examples.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

setDefaultTimeout(180_000)

let gatehouse: Gatehouse
beforeAll(async () => {
  gatehouse = await startGatehouse({
    sandbox: true,
    environment: { GATEHOUSE_SIGN_UP: 'open', GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1' },
  })
})
afterAll(() => gatehouse.remove())

async function healthOf(account: ControlPlane, target: string) {
  const response = await controlPlaneCall(account, 'GET', '/v1/targets/health')
  const { data } = (await response.json()) as {
    data: ({ target: string } & Record<string, unknown>)[]
  }
  return data.filter((row) => row.target === target)
}

async function call(account: ControlPlane, model: string): Promise<number> {
  const response = await controlPlaneCall(account, 'POST', '/v1/responses', {
    model,
    input: 'hello',
  })
  await response.text()
  return response.status
}

test('a failing target is failing, then rests; the next is healthy; other accounts see neither', async () => {
  await createGate(gatehouse, 'guarded', ['sandbox/500', 'sandbox/echo'])
  await createGate(gatehouse, 'again', ['sandbox/500', 'openai/gpt-5'])
  expect(await healthOf(gatehouse, 'sandbox/500')).toMatchObject([
    { state: 'unknown', configured: true },
  ])
  expect(await healthOf(gatehouse, 'openai/gpt-5')).toMatchObject([
    { state: 'unknown', configured: false },
  ])

  expect(await call(gatehouse, 'guarded')).toBe(200)
  expect(await healthOf(gatehouse, 'sandbox/500')).toMatchObject([
    {
      state: 'failing',
      failuresInARow: 1,
      averageFirstByteMs: null,
      restsUntil: null,
      lastFailure: { code: 'upstream_error', status: 502 },
    },
  ])
  expect(await healthOf(gatehouse, 'sandbox/echo')).toMatchObject([
    { state: 'healthy', averageFirstByteMs: expect.any(Number), lastFailure: null },
  ])

  for (let times = 0; times < 4; times += 1) await call(gatehouse, 'guarded')
  const [resting] = await healthOf(gatehouse, 'sandbox/500')
  expect(resting).toMatchObject({ state: 'resting', failuresInARow: 5 })
  expect(Date.parse(String(resting?.restsUntil))).toBeGreaterThan(Date.now() - 60_000)

  const bob = await fillTenant(gatehouse.url, 'bob', {})
  await createGate(bob, 'guarded', ['sandbox/500', 'sandbox/echo'])
  expect(await healthOf(bob, 'sandbox/500')).toMatchObject([
    { state: 'unknown', failuresInARow: 0 },
  ])
})
