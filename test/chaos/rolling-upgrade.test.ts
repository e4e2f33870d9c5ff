/**
 * Three nodes become the next version one after the other, under load, and go back: no call fails,
 * and each has one row.
 */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test'
import { type Balancer, startNginx, startReadinessBalancer } from '../support/balancer.ts'
import { IS_LONG } from '../support/chaos-form.ts'
import { type Cluster, canStartCluster, startCluster } from '../support/cluster.ts'
import { findMissing, readLedger, readUsage } from '../support/cluster-ledger.ts'
import { type SeenCall, startClusterLoad } from '../support/cluster-load.ts'
import { findFreePort } from '../support/free-port.ts'
import { createNextVersion, NEXT_STEP } from '../support/next-version.ts'
import { findNginx } from '../support/nginx.ts'
import { pollUntil } from '../support/poll-until.ts'
import { testIf } from '../support/skip-unless.ts'
import type { TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

const NODES = 3
/** The pause of each client between two calls. */
const PAUSE_MS = IS_LONG ? 5 : 30

interface Kind {
  readonly name: string
  readonly drainDelayMs: number
  readonly isHere: boolean
  readonly start: (ports: readonly number[]) => Promise<Balancer>
}

const KINDS: readonly Kind[] = [
  {
    name: 'a balancer that asks /readyz',
    drainDelayMs: 500,
    isHere: true,
    start: startReadinessBalancer,
  },
  // It notices a node's end by being refused, and by nothing else.
  { name: 'nginx', drainDelayMs: 0, isHere: findNginx() !== undefined, start: startNginx },
]

let next: TemporaryFolder
beforeAll(async () => {
  next = await createNextVersion()
})
afterAll(() => next.remove())

let cluster: Cluster | undefined
let balancer: Balancer | undefined
afterEach(async () => {
  await balancer?.remove()
  await cluster?.remove()
  balancer = undefined
  cluster = undefined
})

async function open({
  drainDelayMs,
  start,
}: Kind): Promise<{ cluster: Cluster; balancer: Balancer }> {
  const ports: number[] = []
  for (let index = 0; index < NODES; index += 1) ports.push(await findFreePort())
  cluster = await startCluster({
    nodes: NODES,
    environment: { GATEHOUSE_DRAIN_DELAY_MS: String(drainDelayMs) },
    nodeOptions: (index) => ({ environment: { GATEHOUSE_PORT: String(ports[index]) } }),
  })
  balancer = await start(ports)
  await balancer.whenSeen(NODES)
  return { cluster, balancer }
}

function loadThrough({ url }: Balancer, { key }: Cluster, calls: SeenCall[]) {
  const nodes = [{ index: 0, url, isRunning: true }]
  return startClusterLoad(
    { key, nodes },
    { clients: 8, pauseMs: PAUSE_MS, onCall: (call) => calls.push(call) },
  )
}

async function versionOf(url: string): Promise<string> {
  const { version } = (await (await fetch(`${url}/healthz`)).json()) as { version: string }
  return version
}

async function appliedSteps({ query }: Cluster): Promise<string[]> {
  const rows = await query<{ name: string }>('SELECT name FROM kysely_migration')
  return rows.map(({ name }) => name)
}

// Behind nginx nothing but the nodes' own way to end keeps a call from failing.
const TRIED = IS_LONG ? KINDS : KINDS.filter(({ isHere }) => isHere).slice(-1)

describe.each(TRIED)('behind $name', (kind) => {
  testIf(canStartCluster() && kind.isHere, 'needs Postgres, redis-server and nginx')(
    'an upgrade node by node fails no call, even when an old node restarts on the new schema',
    async () => {
      const { cluster, balancer } = await open(kind)
      const calls: SeenCall[] = []
      const load = loadThrough(balancer, cluster, calls)
      const doMore = async () => {
        const before = calls.length
        await pollUntil('some calls', () => calls.length > before + 50)
      }
      await doMore()
      const replace = async (index: number, source?: string) => {
        const node = cluster.node(index)
        expect(await node.stop()).toBe(0)
        await node.restart(source)
        await balancer.whenSeen(NODES)
        await doMore()
      }
      await replace(0, next.path)
      expect(await appliedSteps(cluster)).toContain(NEXT_STEP)
      await replace(1)
      expect(cluster.node(1).output()).toContain('a newer version has extended the database')
      await replace(1, next.path)
      await replace(2, next.path)
      for (const node of cluster.nodes) expect(await versionOf(node.url)).toBe('99.0.0')
      // And back.
      await replace(2)
      expect(await versionOf(cluster.node(2).url)).not.toBe('99.0.0')
      await load.stop()

      expect(calls.filter(({ isComplete }) => !isComplete)).toEqual([])
      await cluster.whenShipped()
      const rows = await readLedger(cluster)
      expect(findMissing(calls, rows)).toEqual([])
      expect(rows.size).toBe(calls.length)
      expect((await readUsage(cluster.node(0))).calls).toBe(calls.length)
    },
  )
})

describe('a node that is killed', () => {
  testIf(canStartCluster(), 'needs Postgres and redis-server')(
    'is rolled back with a journal that only the next version can read, and loses nothing of it',
    async () => {
      cluster = await startCluster({ nodes: 2 })
      const node = cluster.node(0)
      await node.stop()
      await node.restart(next.path)
      // A node that is killed in the middle of shipping may have written nothing since.
      const load = startClusterLoad(cluster, { clients: 4, nodes: [0] })
      await pollUntil('some calls', () => load.calls.length > 100)
      // The other is of the version before all the time, on tables that are not its own any more.
      await Promise.all([node.kill(), cluster.node(1).kill()])
      await load.stop()

      await cluster.node(1).restart()
      await node.restart()
      const old = startClusterLoad(cluster, { clients: 2, nodes: [0, 1], maxCalls: 40 })
      await old.done
      expect(old.calls.filter(({ isComplete }) => !isComplete)).toEqual([])
      await cluster.whenShipped()
      const { newerSegments, damagedLines } = (await node.readiness()).checks.ledger as Record<
        string,
        number
      >
      // The one that it wrote into when it was killed, and perhaps one that it was shipping.
      expect(newerSegments).toBeGreaterThan(0)
      expect(damagedLines).toBe(0)
      expect(findMissing(old.calls, await readLedger(cluster))).toEqual([])

      expect(await node.stop()).toBe(0)
      await node.restart(next.path)
      await cluster.whenShipped()
      const rows = await readLedger(cluster)
      expect(findMissing([...load.calls, ...old.calls], rows)).toEqual([])
      expect((await readUsage(cluster.node(1))).calls).toBe(rows.size)
    },
  )
})
