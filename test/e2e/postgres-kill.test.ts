/**
 * A call that a client has seen complete is in the ledger, even if that is in Postgres and the
 * process is killed the next instant.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { startLoad } from '../support/call-load.ts'
import { IS_LONG } from '../support/chaos-form.ts'
import { controlPlaneCall } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { createPostgresScene, type PostgresScene, waitForRows } from '../support/postgres-scene.ts'
import { findPostgres } from '../support/postgres-server.ts'
import { describeIf } from '../support/skip-unless.ts'
import {
  createBootstrapKey,
  PATIENT_WITH_DATABASE,
  startGatehouse,
  UNHURRIED_SHIPPING,
} from '../support/start-gatehouse.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(300_000)

const ROUNDS = IS_LONG ? 10 : 3
const CLIENTS = 8
/** Until the kill is near: a core is left for others. */
const PAUSE_MS = IS_LONG ? 0 : 20

describeIf(findPostgres() !== undefined, 'needs Postgres')('on Postgres', () => {
  let scene: PostgresScene
  beforeAll(async () => {
    scene = await createPostgresScene()
  })
  afterAll(() => scene.remove())

  test(`SIGKILL under load, ${ROUNDS} times: each answer seen whole has one row, and the sums agree`, async () => {
    const url = await scene.createDatabase()
    const folder = await createTemporaryFolder()
    const kept = { dataFolder: folder.path, key: createBootstrapKey() }
    const start = () =>
      startGatehouse({
        sandbox: true,
        ...kept,
        environment: { DATABASE_URL: url, ...UNHURRIED_SHIPPING, ...PATIENT_WITH_DATABASE },
      })
    const complete = new Set<string>()
    for (let round = 0; round < ROUNDS; round += 1) {
      const gatehouse = await start()
      const load = startLoad(gatehouse, { clients: CLIENTS, complete, pauseMs: PAUSE_MS })
      const before = complete.size
      await pollUntil('the first answers', () => complete.size > before + CLIENTS)
      await Bun.sleep(Math.random() * 1500)
      await load.hurry()
      await gatehouse.kill()
      await load.stop()
    }
    const gatehouse = await start()
    try {
      const rows = await waitForRows(gatehouse, complete)
      expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
      const analytics = await controlPlaneCall(gatehouse, 'GET', '/v1/analytics?interval=all')
      const { data } = (await analytics.json()) as { data: { calls: number }[] }
      const [counted] = await scene.server.run<{ count: string }>(
        'SELECT count(*) FROM calls',
        new URL(url).pathname.slice(1),
      )
      expect(String(data[0]?.calls)).toBe(counted?.count ?? '')
    } finally {
      await gatehouse.remove()
      await folder.remove()
    }
  })
})
