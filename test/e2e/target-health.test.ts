/**
 * How targets do, as the control plane tells it after real calls that failed and were answered by
 * the next target.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type ControlPlane, controlPlaneCall, createGate } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { fillTenant } from '../support/route-examples.ts'
import { runCliInProcess } from '../support/run-cli-in-process.ts'
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

test('a gate that lives on its fallback is listed with its share and the reason', async () => {
  await createGate(gatehouse, 'leaning', ['sandbox/404', 'sandbox/echo'])
  await createGate(gatehouse, 'upright', ['sandbox/echo', 'sandbox/echo-reasoning'])
  for (let times = 0; times < 6; times += 1) {
    expect(await call(gatehouse, 'leaning')).toBe(200)
    expect(await call(gatehouse, 'upright')).toBe(200)
  }
  const leaning = await pollUntil('the calls to be summed up', async () => {
    const response = await controlPlaneCall(gatehouse, 'GET', '/v1/targets/fallbacks')
    const { data } = (await response.json()) as { data: { gate: string; answeredCalls: number }[] }
    expect(data.some(({ gate }) => gate === 'upright')).toBe(false)
    return data.find(({ gate, answeredCalls }) => gate === 'leaning' && answeredCalls === 6)
  })
  expect(leaning).toMatchObject({
    target: 'sandbox/404',
    fallbackCalls: 6,
    share: 1,
    reason: 'model_not_found',
    message:
      'The model of sandbox/404 is retired or unknown at sandbox. The target is paused, and is tried last.',
    state: 'resting',
    lastFailure: { fault: 'model_not_found' },
  })

  const environment = { GATEHOUSE_URL: gatehouse.url, GATEHOUSE_API_KEY: gatehouse.key }
  const list = await runCliInProcess(['gates', 'list'], { environment })
  expect(list.stdout).toMatch(/^leaning +sandbox\/404, sandbox\/echo +100 %$/m)
  expect(list.stdout).toMatch(/^upright .* -$/m)
  const shown = await runCliInProcess(['gates', 'show', 'leaning'], { environment })
  expect(shown.stdout).toMatch(/^on fallback +100 % of calls lately\. The model of sandbox\/404/m)
})
