/** Two gateways on one Postgres: the stop of a fuse holds on both, and after a restart. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { controlPlaneCall, createGate } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { createPostgresScene, type PostgresScene } from '../support/postgres-scene.ts'
import { findPostgres } from '../support/postgres-server.ts'
import { describeIf } from '../support/skip-unless.ts'
import {
  type Gatehouse,
  PATIENT_WITH_DATABASE,
  startGatehouse,
} from '../support/start-gatehouse.ts'

setDefaultTimeout(180_000)

describeIf(findPostgres() !== undefined, 'needs Postgres')('a fuse of two nodes', () => {
  const nodes: Gatehouse[] = []
  let postgres: PostgresScene
  let environment: Record<string, string>
  beforeAll(async () => {
    postgres = await createPostgresScene()
    environment = {
      ...{ DATABASE_URL: await postgres.createDatabase(), ...PATIENT_WITH_DATABASE },
      GATEHOUSE_MASTER_KEY: 'ab'.repeat(32),
    }
  })
  afterAll(async () => {
    for (const node of nodes) await node.remove()
    await postgres.remove()
  })

  async function start(key?: string): Promise<Gatehouse> {
    const node = await startGatehouse({ sandbox: true, environment, ...(key && { key }) })
    nodes.push(node)
    return node
  }

  async function call(node: Gatehouse, session: string): Promise<number> {
    const response = await fetch(`${node.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${node.key}`,
        'content-type': 'application/json',
        'x-gatehouse-session': session,
      },
      body: JSON.stringify({ model: 'fused', messages: [{ role: 'user', content: 'hi' }] }),
    })
    await response.text()
    return response.status
  }

  const untilRefused = (node: Gatehouse, session: string) =>
    pollUntil('a refused call', async () => (await call(node, session)) === 403 || undefined)

  async function listStops(node: Gatehouse) {
    const response = await controlPlaneCall(node, 'GET', '/v1/gates/fused/stops')
    return ((await response.json()) as { data: { id: string }[] }).data
  }

  test('stops and serves a session on both, and forgets the stops of a deleted gate', async () => {
    const first = await start()
    const fuse = { callsPerMinute: 3, forMinutes: 1 }
    await createGate(first, 'fused', ['sandbox/echo'], { fuse })
    const second = await start(first.key)
    expect(await call(second, 'looping')).toBe(200)
    await untilRefused(first, 'looping')
    const [stop] = await pollUntil('the stop on the second node', async () => {
      const found = await listStops(second)
      return found.length === 1 ? found : undefined
    })
    expect(await call(second, 'looping')).toBe(403)
    expect(await call(second, 'other')).toBe(200)

    const third = await start(first.key)
    expect(await call(third, 'looping')).toBe(403)

    const path = `/v1/gates/fused/stops/session/${stop?.id}`
    expect((await controlPlaneCall(second, 'DELETE', path)).status).toBe(204)
    // A change is acknowledged when every node has it.
    for (const node of [first, second, third]) expect(await call(node, 'looping')).toBe(200)

    await untilRefused(first, 'looping')
    expect((await controlPlaneCall(second, 'DELETE', '/v1/gates/fused')).status).toBe(204)
    await createGate(second, 'fused', ['sandbox/echo'], { fuse })
    expect(await listStops(first)).toEqual([])
    for (const node of [first, second, third]) expect(await call(node, 'looping')).toBe(200)
  })
})
