/**
 * Two gateways on one Postgres and one Redis: what they answer of an account does not depend on
 * which of them is asked.
 */
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { controlPlaneCall } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { call, createPostgresScene } from '../support/postgres-scene.ts'
import { findPostgres } from '../support/postgres-server.ts'
import { findRedis, startRedis } from '../support/redis-server.ts'
import { describeIf } from '../support/skip-unless.ts'
import {
  type Gatehouse,
  PATIENT_WITH_DATABASE,
  PATIENT_WITH_REDIS,
  startGatehouse,
} from '../support/start-gatehouse.ts'

setDefaultTimeout(180_000)

/** So many answers in a row, of each node in turn. */
const IN_TURN = 12

describeIf(
  findRedis() !== undefined && findPostgres() !== undefined,
  'needs Postgres and redis-server',
)('the quota of two nodes', () => {
  const cleanups: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  test('is shown alike by both soon after a call of one, before the ledger has it', async () => {
    const postgres = await createPostgresScene()
    cleanups.push(() => postgres.remove())
    const redis = await startRedis()
    cleanups.push(() => redis.remove())
    const environment = {
      DATABASE_URL: await postgres.createDatabase(),
      ...PATIENT_WITH_DATABASE,
      REDIS_URL: redis.url,
      ...PATIENT_WITH_REDIS,
      // They are not to agree because each reads the ledger.
      GATEHOUSE_SHIP_INTERVAL_MS: '60000',
    }
    const start = async (key?: string): Promise<Gatehouse> => {
      const options = { sandbox: true, environment, ...(key === undefined ? {} : { key }) } as const
      const node = await startGatehouse(options)
      cleanups.push(() => node.remove())
      return node
    }
    const first = await start()
    const second = await start(first.key)
    const usedBy = async (node: Gatehouse): Promise<number> => {
      const answer = await controlPlaneCall(node, 'GET', '/v1/account')
      return ((await answer.json()) as { quota: { tokens: { used: number } } }).quota.tokens.used
    }
    let used = 0
    for (const node of [first, second, first, first]) {
      const { usage } = (await (await call(node)).json()) as { usage: { total_tokens: number } }
      used += usage.total_tokens
      await pollUntil(`both nodes tell of ${used} tokens`, async () => {
        for (let asked = 0; asked < IN_TURN; asked += 1)
          if ((await usedBy(asked % 2 === 0 ? first : second)) !== used) return false
        return true
      })
    }
    expect(await usedBy(second)).toBe(used)
  })
})
