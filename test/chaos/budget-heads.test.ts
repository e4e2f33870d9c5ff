/**
 * A default budget for every user, on three nodes: while a node is killed and while Redis is away,
 * no user passes the bound that docs/guides/limits.md states.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { IS_LONG, tellFigures } from '../support/chaos-form.ts'
import { askControlPlane, type Cluster, canStartCluster, startCluster } from '../support/cluster.ts'
import { pollUntil } from '../support/poll-until.ts'
import { describeIf } from '../support/skip-unless.ts'

setDefaultTimeout(300_000)

const USERS = IS_LONG ? 300 : 60
const LIMIT_TOKENS = 300
const CLIENTS = 12
const AWAY_MS = IS_LONG ? 60_000 : 4_000

interface Used {
  readonly user_id: string
  readonly tokens: string
  readonly calls: string
  readonly most: string
}

describeIf(canStartCluster(), 'needs Postgres and redis-server')(
  `${USERS} users with ${LIMIT_TOKENS} tokens each on three nodes`,
  () => {
    let cluster: Cluster
    let budgetId = ''
    beforeAll(async () => {
      cluster = await startCluster({
        prepare: async (first) => {
          await askControlPlane(first, 'PATCH', '/v1/account/attribution', {
            body: { endUsers: true, peopleFigures: 'administrators' },
          })
          const body = { scope: 'each-user', limitTokens: LIMIT_TOKENS, period: 'month' }
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

    /** Calls of all users on all nodes until each user is refused, in the order of the users. */
    function startLoad() {
      const refused = new Set<string>()
      const statuses = new Map<number, number>()
      let isStopped = false
      let next = 0
      const client = async (offset: number) => {
        for (let turn = offset; !isStopped; turn += 1) {
          const node = cluster.nodes[turn % cluster.nodes.length]
          if (node?.isRunning !== true) {
            await Bun.sleep(20)
            continue
          }
          const user = `user-${next++ % USERS}`
          if (refused.has(user)) {
            await Bun.sleep(1)
            continue
          }
          const response = await fetch(`${node.url}/v1/chat/completions`, {
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
          const status = response?.status ?? 0
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          if (status === 429 && text?.includes('is used up') === true) refused.add(user)
        }
      }
      const done = Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(index)))
      const stop = async () => {
        isStopped = true
        await done
      }
      return { refused, statuses, stop }
    }

    test('no user passes the stated bound, and all are refused', async () => {
      const load = startLoad()
      const callsOf = (status: number) => load.statuses.get(status) ?? 0
      await pollUntil('some calls', () => callsOf(200) > USERS / 2, { timeoutMs: 60_000 })
      await cluster.node(2).kill()
      for (const { redis } of cluster.nodes) redis.cut()
      await Bun.sleep(AWAY_MS)
      cluster.heal()
      await cluster.node(2).restart()
      await pollUntil('all users to be refused', () => load.refused.size === USERS, {
        timeoutMs: 120_000,
      })
      await load.stop()
      await cluster.whenShipped()
      const used = await cluster.query<Used>(
        `SELECT user_id, sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0)) AS tokens,
          max(coalesce(input_tokens, 0) + coalesce(output_tokens, 0)) AS most
        FROM calls WHERE user_id IS NOT NULL GROUP BY user_id`,
      )
      const over = used.map(({ tokens }) => Number(tokens) - LIMIT_TOKENS)
      const most = Math.max(...used.map((row) => Number(row.most)))
      tellFigures(
        `${callsOf(200)} calls, ${callsOf(0)} without an answer; the largest call has ${most} ` +
          `tokens, and the user that is furthest over the limit is ${Math.max(...over)} over it`,
      )
      expect(used).toHaveLength(USERS)
      // Usage of an outage that is shorter than three seconds may count twice.
      expect(Math.min(...over)).toBeGreaterThan(-LIMIT_TOKENS / 5)
      // The shares of the other nodes while Redis was away, and a running call of each client.
      expect(Math.max(...over)).toBeLessThanOrEqual((LIMIT_TOKENS * 2) / 3 + CLIENTS * most)
      const { data } = await askControlPlane<{ data: { used: { tokens: number } }[] }>(
        cluster.node(0),
        'GET',
        `/v1/budgets/${budgetId}/heads?limit=200`,
      )
      const listed = data.map((head) => head.used.tokens)
      const expected = used.map(({ tokens }) => Number(tokens)).sort((one, other) => other - one)
      expect(listed).toEqual(expected.slice(0, listed.length))
    })
  },
)
