/** Two gateways on one Postgres and one Redis: a budget steers on both as soon as it is used up. */
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { controlPlaneCall, createGate } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { createPostgresScene } from '../support/postgres-scene.ts'
import { findPostgres } from '../support/postgres-server.ts'
import { startPricedUpstream } from '../support/priced-upstream.ts'
import { findRedis, startRedis } from '../support/redis-server.ts'
import { describeIf } from '../support/skip-unless.ts'
import {
  type Gatehouse,
  PATIENT_WITH_DATABASE,
  PATIENT_WITH_REDIS,
  startGatehouse,
} from '../support/start-gatehouse.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

const TOKENS_OF_A_CALL = 2_000

describeIf(
  findRedis() !== undefined && findPostgres() !== undefined,
  'needs Postgres and redis-server',
)('a budget of two nodes', () => {
  const cleanups: (() => unknown)[] = []
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  test('both move to the cheaper target at the limit, and refuse at the wall', async () => {
    const upstream = startPricedUpstream()
    cleanups.push(() => upstream.stop())
    const postgres = await createPostgresScene()
    cleanups.push(() => postgres.remove())
    const redis = await startRedis()
    cleanups.push(() => redis.remove())
    const environment = {
      ACME_API_KEY: 'planted-key',
      DATABASE_URL: await postgres.createDatabase(),
      ...PATIENT_WITH_DATABASE,
      REDIS_URL: redis.url,
      ...PATIENT_WITH_REDIS,
      // The nodes are not to agree because each reads the ledger.
      GATEHOUSE_SHIP_INTERVAL_MS: '60000',
    }
    const start = async (key?: string): Promise<Gatehouse> => {
      const folder = await createTemporaryFolder()
      cleanups.push(() => folder.remove())
      const dataFolder = join(folder.path, 'data')
      await mkdir(dataFolder)
      await writeFile(join(dataFolder, 'gatehouse.yaml'), upstream.configuration)
      const node = await startGatehouse({ dataFolder, environment, ...(key && { key }) })
      cleanups.push(() => node.remove())
      return node
    }
    const first = await start()
    const nodes = [first, await start(first.key)]
    await createGate(first, 'shared', ['acme/dear', 'acme/cheap'])
    const created = await controlPlaneCall(first, 'POST', '/v1/budgets', {
      ...{ gateId: 'shared', limitTokens: 5 * TOKENS_OF_A_CALL, period: 'total' },
      ...{ atLimit: 'cheaper', refuseAt: 1.6 },
    })
    const { id } = (await created.json()) as { id: string }
    const usedBy = async (node: Gatehouse) => {
      const answer = await controlPlaneCall(node, 'GET', `/v1/budgets/${id}`)
      return ((await answer.json()) as { used: { tokens: number } }).used.tokens
    }
    const seen: (string | number)[] = []
    for (let calls = 1; calls <= 9; calls += 1) {
      const node = nodes[calls % 2] ?? first
      const answer = await controlPlaneCall(node, 'POST', '/v1/chat/completions', {
        ...{ model: 'shared', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] },
      })
      await answer.body?.cancel()
      seen.push(answer.headers.get('x-gatehouse-target') ?? answer.status)
      if (!answer.ok) continue
      await pollUntil(`both nodes know ${calls} calls`, async () => {
        const used = await Promise.all(nodes.map(usedBy))
        return used.every((tokens) => tokens === calls * TOKENS_OF_A_CALL) || undefined
      })
    }
    const dear = Array.from({ length: 5 }, () => 'acme/dear')
    expect(seen).toEqual([...dear, 'acme/cheap', 'acme/cheap', 'acme/cheap', 429])
  })
})
