/** Fuses that stop a session or a user on a gate, over the real program. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { controlPlaneCall, createGate } from '../support/control-plane.ts'
import { type PricedUpstream, startPricedUpstream } from '../support/priced-upstream.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(60_000)

let upstream: PricedUpstream
let folder: TemporaryFolder
let gatehouse: Gatehouse
beforeAll(async () => {
  upstream = startPricedUpstream()
  folder = await createTemporaryFolder()
  await writeFile(join(folder.path, 'gatehouse.yaml'), upstream.configuration)
  gatehouse = await startGatehouse({
    dataFolder: folder.path,
    environment: { ACME_API_KEY: 'planted-key', GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1' },
  })
})
afterAll(async () => {
  await gatehouse.remove()
  await folder.remove()
  upstream.stop()
})

async function call(gate: string, session: string) {
  const response = await fetch(`${gatehouse.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gatehouse.key}`,
      'content-type': 'application/json',
      'x-gatehouse-session': session,
    },
    body: JSON.stringify({ model: gate, messages: [{ role: 'user', content: 'hi' }] }),
  })
  return { status: response.status, text: await response.text() }
}

async function callUntilStopped(gate: string, session: string) {
  for (let calls = 0; calls < 50; calls += 1) {
    const seen = await call(gate, session)
    if (seen.status !== 200) return seen
    await Bun.sleep(20)
  }
  throw new Error('the fuse did not stop the session')
}

async function listStops(gate: string) {
  const response = await controlPlaneCall(gatehouse, 'GET', `/v1/gates/${gate}/stops`)
  return ((await response.json()) as { data: { kind: string; id: string; reason: string }[] }).data
}

test.each([
  // A call costs 0.2 US dollars.
  ['spends too much', 'spending', { usd: 0.5 }, 'spent more than 0.5 US dollars within an hour'],
  [
    'calls too often',
    'calling',
    { callsPerMinute: 3, forMinutes: 1 },
    'made more than 3 calls a minute for one minute',
  ],
])('stops a session that %s, and serves it after the stop is lifted', async (_, id, fuse, why) => {
  const gate = await createGate(gatehouse, id, ['acme/dear'], { fuse })
  const stopped = await callUntilStopped(gate, 'first')
  expect(stopped.status).toBe(403)
  expect(stopped.text).toContain(why)
  expect(stopped.text).toContain('fuse_blown')
  expect((await call(gate, 'second')).status).toBe(200)
  const [stop, ...others] = await listStops(gate)
  expect(others).toEqual([])
  expect(stop).toMatchObject({ kind: 'session', reason: expect.stringContaining(why) })
  const path = `/v1/gates/${gate}/stops/session/${encodeURIComponent(stop?.id ?? '')}`
  expect((await controlPlaneCall(gatehouse, 'DELETE', path)).status).toBe(204)
  expect(await listStops(gate)).toEqual([])
  expect((await call(gate, 'first')).status).toBe(200)
})

test.each([
  ['without a limit', {}, 'fuse'],
  ['with no amount', { usd: 0 }, 'fuse.usd'],
  ['with too many minutes', { callsPerMinute: 1, forMinutes: 61 }, 'fuse.forMinutes'],
])('refuses a fuse %s', async (_, fuse, field) => {
  const body = { id: 'refused', targets: [{ model: 'acme/dear' }], fuse }
  const response = await controlPlaneCall(gatehouse, 'POST', '/v1/gates', body)
  expect(response.status).toBe(400)
  expect(await response.text()).toContain(`"${field}"`)
})
