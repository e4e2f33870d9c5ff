/** A call that waits in the journal of a killed node counts as erased, once the node is back. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { controlPlaneCall, waitForLogRow } from '../support/control-plane.ts'
import { createPostgresScene, type PostgresScene } from '../support/postgres-scene.ts'
import { findPostgres } from '../support/postgres-server.ts'
import { describeIf } from '../support/skip-unless.ts'
import {
  createBootstrapKey,
  type Gatehouse,
  PATIENT_WITH_DATABASE,
  startGatehouse,
} from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

const NAME = 'customer-4711'

describeIf(findPostgres() !== undefined, 'needs Postgres')('on Postgres', () => {
  let scene: PostgresScene
  let folder: TemporaryFolder
  const started: Gatehouse[] = []
  beforeAll(async () => {
    scene = await createPostgresScene()
    folder = await createTemporaryFolder()
  })
  afterAll(async () => {
    for (const server of started) await server.remove()
    await folder.remove()
    await scene.remove()
  })

  test('an erasure reaches the journal of a killed node', async () => {
    const key = createBootstrapKey()
    const environment = {
      ...PATIENT_WITH_DATABASE,
      ...{ DATABASE_URL: await scene.createDatabase() },
      ...{ GATEHOUSE_MASTER_KEY: 'c0ffee00'.repeat(8) },
    }
    const start = async (options: Partial<Parameters<typeof startGatehouse>[0]>) => {
      const server = await startGatehouse({ key, sandbox: true, environment, ...options })
      started.push(server)
      return server
    }
    const other = await start({})
    await controlPlaneCall(other, 'PATCH', '/v1/account/attribution', {
      ...{ endUsers: true, peopleFigures: 'administrators' },
    })
    const killed = await start({
      dataFolder: folder.path,
      environment: { ...environment, GATEHOUSE_SHIP_INTERVAL_MS: '60000' },
    })
    const answer = await fetch(`${killed.url}/v1/responses`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'x-gatehouse-user': NAME,
      },
      body: JSON.stringify({ model: 'demo', input: 'hello' }),
    })
    expect(answer.status).toBe(200)
    await answer.arrayBuffer()
    await killed.kill()
    const id = answer.headers.get('x-request-id') ?? ''

    // Nothing of the end user is stored yet.
    const path = `/v1/account/end-users/${NAME}`
    expect((await controlPlaneCall(other, 'DELETE', path)).status).toBe(404)
    expect((await controlPlaneCall(other, 'GET', `/v1/logs/${id}`)).status).toBe(404)
    await start({ dataFolder: folder.path })
    expect(await waitForLogRow(other, id)).toMatchObject({ user: '(erased)', userName: null })
    expect((await controlPlaneCall(other, 'GET', path)).status).toBe(404)
  })
})
