/**
 * Nodes killed at random under load: what a client has seen complete is in the ledger once, and all
 * that counts agrees.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { IS_LONG, tellFigures, tellProgress } from '../support/chaos-form.ts'
import { askControlPlane, type Cluster, canStartCluster, startCluster } from '../support/cluster.ts'
import { expectCountedOnce, findMissing, readLedger } from '../support/cluster-ledger.ts'
import { startClusterLoad } from '../support/cluster-load.ts'
import { pollUntil } from '../support/poll-until.ts'
import { describeIf } from '../support/skip-unless.ts'

setDefaultTimeout(180_000)

const KILLS = IS_LONG ? 20 : 3
/** Seen complete between one kill and the next, at least. */
const CALLS = IS_LONG ? 100 : 40
const LONGEST_PAUSE_MS = IS_LONG ? 3_000 : 500
/** The pause of each client between two calls: one without it keeps a core busy. */
const PAUSE_MS = IS_LONG ? 0 : 40
/** Enough tokens for counters to be reserved in advance. */
const PLANS = 'plans: {default: large, definitions: {large: {monthlyTokens: 1000000000}}}'

describeIf(canStartCluster(), 'needs Postgres and redis-server')(
  'three nodes under load, one of them killed again and again',
  () => {
    let cluster: Cluster
    let budgetId = ''
    beforeAll(async () => {
      cluster = await startCluster({
        configuration: PLANS,
        prepare: async (first) => {
          const body = { gateId: 'demo', limitTokens: 1_000_000_000, period: 'total' }
          budgetId = (
            await askControlPlane<{ id: string }>(first, 'POST', '/v1/budgets', {
              body,
              status: 201,
            })
          ).id
        },
      })
    })
    afterAll(() => cluster?.remove())

    test('every answer seen whole has one row, and sums, quota and budget agree with the rows', async () => {
      let served = 0
      const load = startClusterLoad(cluster, {
        clients: 8,
        pauseMs: PAUSE_MS,
        onCall: ({ isComplete }) => {
          if (isComplete) served += 1
        },
      })
      for (let kills = 1; kills <= KILLS; kills += 1) {
        const before = served
        await pollUntil('calls', () => served > before + CALLS, { timeoutMs: 60_000 })
        await Bun.sleep(Math.random() * LONGEST_PAUSE_MS)
        const node = cluster.node(Math.floor(Math.random() * cluster.nodes.length))
        await node.kill()
        // Its journal waits, and the others go on alone for a while.
        await Bun.sleep(Math.random() * 500)
        await node.restart()
        tellProgress(`${kills} killed, ${load.calls.length} calls`)
      }
      await load.stop()
      await cluster.whenShipped()

      const complete = load.calls.filter(({ isComplete }) => isComplete)
      const rows = await readLedger(cluster)
      expect(complete.length).toBeGreaterThan(CALLS * KILLS)
      expect(new Set(complete.map(({ id }) => id)).size).toBe(complete.length)
      expect(findMissing(load.calls, rows)).toEqual([])
      // Every call that a kill did not cut was served.
      expect(load.calls.filter(({ status }) => status !== 200 && status !== 0)).toEqual([])
      await expectCountedOnce(cluster, rows, budgetId)
      tellFigures(
        `kill: ${KILLS} nodes killed, ${load.calls.length} calls, ${complete.length} seen complete, ${rows.size} rows, none missing`,
      )
    })
  },
)
