/**
 * A default budget for every user, on three nodes: while a node is killed and while Redis is away,
 * no user passes the bound that docs/guides/limits.md states.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { IS_LONG, tellFigures } from '../support/chaos-form.ts'
import { askControlPlane, type Cluster, canStartCluster, startCluster } from '../support/cluster.ts'
import { pollUntil } from '../support/poll-until.ts'
import { describeIf } from '../support/skip-unless.ts'

setDefaultTimeout(600_000)

const USERS = IS_LONG ? 300 : 60
const NODES = 3
const CLIENTS = 12
const AWAY_MS = IS_LONG ? 60_000 : 4_000
/** A token costs a tenth of a cent. */
const PRICED_ECHO = `models: [{model: sandbox/echo, prices: [{input: 1000, output: 1000}]}]`
const LIMIT_TOKENS = 300
const LIMITS = [
  { unit: 'tokens', limit: LIMIT_TOKENS, budget: { limitTokens: LIMIT_TOKENS } },
  { unit: 'usd', limit: LIMIT_TOKENS / 1_000, budget: { limitUsd: LIMIT_TOKENS / 1_000 } },
] as const

interface Used {
  readonly user: string
  readonly used: number
  /** The greatest call. */
  readonly most: number
}

interface Head {
  readonly id: string
  readonly used: { readonly tokens: number; readonly usd: number }
}

describeIf(canStartCluster(), 'needs Postgres and redis-server')(
  `${USERS} users with a default budget each on ${NODES} nodes`,
  () => {
    let cluster: Cluster
    beforeAll(async () => {
      cluster = await startCluster({
        nodes: NODES,
        configuration: PRICED_ECHO,
        prepare: async (first) => {
          await askControlPlane(first, 'PATCH', '/v1/account/attribution', {
            body: { endUsers: true, peopleFigures: 'administrators' },
          })
        },
      })
    })
    afterAll(() => cluster?.remove())

    /** Calls of all users on all nodes, in turns, except where a node has refused a user. */
    function startLoad(unit: string) {
      const refused = new Set<string>()
      const statuses = new Map<number, number>()
      const running = new Map<string, number>()
      let mostAtOnce = 0
      let isStopped = false
      let turn = 0
      const call = async (url: string, user: string) => {
        const atOnce = (running.get(user) ?? 0) + 1
        running.set(user, atOnce)
        mostAtOnce = Math.max(mostAtOnce, atOnce)
        const response = await fetch(`${url}/v1/chat/completions`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${cluster.key}`,
            'content-type': 'application/json',
            'x-gatehouse-user': user,
          },
          body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'words' }] }),
          signal: AbortSignal.timeout(30_000),
        }).catch(() => undefined)
        const text = await response?.text().catch(() => '')
        running.set(user, (running.get(user) ?? 1) - 1)
        const status = response?.status ?? 0
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        return status === 429 && text?.includes('is used up') === true
      }
      const client = async () => {
        while (!isStopped) {
          const user = `${unit}-${turn % USERS}`
          const node = cluster.nodes[Math.floor(turn / USERS) % NODES]
          turn += 1
          const name = `${node?.index} ${user}`
          if (node?.isRunning !== true || refused.has(name)) await Bun.sleep(1)
          else if (await call(node.url, user)) refused.add(name)
        }
      }
      const done = Promise.all(Array.from({ length: CLIENTS }, client))
      return {
        refused,
        callsOf: (status: number) => statuses.get(status) ?? 0,
        mostAtOnce: () => mostAtOnce,
        stop: async () => {
          isStopped = true
          await done
        },
      }
    }

    test.each(LIMITS)('no user passes the bound in $unit, and all are refused', async (tested) => {
      const { unit, limit } = tested
      const { id } = await askControlPlane<{ id: string }>(cluster.node(0), 'POST', '/v1/budgets', {
        body: { scope: 'each-user', period: 'month', ...tested.budget },
        status: 201,
      })
      const sinceMs = Date.now()
      const load = startLoad(unit)
      await pollUntil('some calls', () => load.callsOf(200) > USERS / 2, { timeoutMs: 60_000 })
      await cluster.node(2).kill()
      for (const { redis } of cluster.nodes) redis.cut()
      await Bun.sleep(AWAY_MS)
      cluster.heal()
      await cluster.node(2).restart()
      // A node that refused a user while Redis was away knew only its own share.
      load.refused.clear()
      await pollUntil('each node to refuse every user', () => load.refused.size === USERS * NODES, {
        timeoutMs: 180_000,
      })
      await load.stop()
      await cluster.whenShipped()
      const used = await usedSince(sinceMs, unit)
      const most = Math.max(...used.map((row) => row.most))
      const over = used.map((row) => row.used - limit)
      // The shares of the other nodes while Redis was away, and the running calls of each node.
      const bound = (limit * (NODES - 1)) / NODES + NODES * load.mostAtOnce() * most
      const said = (amount: number) => `${Number(amount.toFixed(4))} ${unit}`
      tellFigures(
        `${load.callsOf(200)} calls of ${USERS} users, ${load.callsOf(0)} without an answer, at ` +
          `most ${load.mostAtOnce()} of one user at once, the largest of ${said(most)}; the limit ` +
          `is ${said(limit)}, and the greatest excess ${said(Math.max(...over))} of ${said(bound)}`,
      )
      expect(used).toHaveLength(USERS)
      // Usage of an outage that is shorter than three seconds may count twice.
      expect(Math.min(...over)).toBeGreaterThan(-limit / 5)
      expect(Math.max(...over)).toBeLessThanOrEqual(bound)
      const { data } = await askControlPlane<{ data: Head[] }>(
        cluster.node(0),
        'GET',
        `/v1/budgets/${id}/heads?limit=200`,
      )
      // The list counts whole days, so users of an earlier test may be on it.
      const listed = data.flatMap((head) => {
        const row = used.find(({ user }) => user === head.id)
        return row === undefined ? [] : [{ listed: head.used[unit], used: row.used }]
      })
      expect(listed.length).toBeGreaterThan(0)
      for (const one of listed) expect(one.listed).toBeCloseTo(one.used, 6)
      await askControlPlane(cluster.node(0), 'DELETE', `/v1/budgets/${id}`, { status: 204 })
    })

    async function usedSince(sinceMs: number, unit: string): Promise<readonly Used[]> {
      const amount = unit === 'tokens' ? 'input_tokens + output_tokens' : 'cost_nano_usd / 1e9'
      const rows = await cluster.query<{ user: string; used: string; most: string }>(
        `SELECT user_id AS "user", coalesce(sum(${amount}), 0) AS used, coalesce(max(${amount}), 0) AS most
        FROM calls WHERE user_id IS NOT NULL AND started_at >= ${sinceMs} GROUP BY user_id`,
      )
      return rows.map((row) => ({ ...row, used: Number(row.used), most: Number(row.most) }))
    }
  },
)
