/**
 * The nodes' shared servers go away, fall silent or slow down, under load: calls are served, none
 * is lost or counted twice, and all recovers.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { IS_LONG, tellFigures } from '../support/chaos-form.ts'
import { askControlPlane, type Cluster, canStartCluster, startCluster } from '../support/cluster.ts'
import { expectCountedOnce, findMissing, readLedger } from '../support/cluster-ledger.ts'
import { type SeenCall, startClusterLoad } from '../support/cluster-load.ts'
import { controlPlaneCall } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { privateBytes } from '../support/process-figures.ts'
import { describeIf } from '../support/skip-unless.ts'

setDefaultTimeout(180_000)

const LASTING_MS = IS_LONG ? 30_000 : 1_000
/** Of each client between two of its calls. */
const PAUSE_MS = IS_LONG ? 20 : 50
/**
 * What the heap of a node may grow by in an outage: a turn of the garbage collector, and no queue
 * of calls.
 */
const LARGEST_GROWTH_BYTES = 60 * 1024 * 1024
/**
 * Of one node: those that set out before it was known, twice the pool; then from one attempt to the
 * next 0.5 s to 1 s.
 */
const largestHerd = (lastedMs: number) => 20 + (3 * lastedMs) / 1000

describeIf(canStartCluster(), 'needs Postgres and redis-server')('three nodes under load', () => {
  let cluster: Cluster
  let budgetId = ''
  const calls: SeenCall[] = []

  beforeAll(async () => {
    cluster = await startCluster({
      configuration: 'plans: {default: large, definitions: {large: {monthlyTokens: 1000000000}}}',
      environment: {
        GATEHOUSE_DATABASE_CONNECT_TIMEOUT_MS: '1000',
        // A short outage ends long before a lease does; on a machine that is busy a node may be as
        // slow as that.
        ...(IS_LONG ? {} : { GATEHOUSE_LEASE_MS: '15000' }),
      },
      prepare: async (first) => {
        const body = { gateId: 'demo', limitTokens: 1_000_000_000, period: 'total' }
        budgetId = (
          await askControlPlane<{ id: string }>(first, 'POST', '/v1/budgets', { body, status: 201 })
        ).id
      },
    })
  })
  afterAll(() => cluster?.remove())

  /**
   * @returns the calls that were made from the moment that `begin` had resolved to the one that
   * `end` was called in
   */
  async function during(what: string, begin: () => Promise<void>, end: () => Promise<void>) {
    const load = startClusterLoad(cluster, { clients: 6, pauseMs: PAUSE_MS })
    // A node that has served a call knows what was used before; the promise is about such nodes.
    const hasServed = ({ index }: { readonly index: number }) =>
      load.calls.some(({ node, status }) => node === index && status === 200)
    await pollUntil(
      'answers of each node',
      () => load.calls.length > 30 && cluster.nodes.every(hasServed),
      {
        timeoutMs: 60_000,
      },
    )
    const pids = cluster.nodes.map(({ pid }) => pid)
    const before = await Promise.all(pids.map(privateBytes))
    await begin()
    const beganAtMs = performance.now()
    await Bun.sleep(LASTING_MS)
    const endedAtMs = performance.now()
    const after = await Promise.all(pids.map(privateBytes))
    await end()
    // It goes on under load.
    const enough = load.calls.length + 30
    await pollUntil('calls after it', () => load.calls.length > enough, { timeoutMs: 60_000 })
    await load.stop()
    calls.push(...load.calls)
    if (IS_LONG) await expectNothingLost()
    // The same processes: nobody had to start anew.
    expect(cluster.nodes.map(({ pid, isRunning }) => isRunning && pid)).toEqual(pids)
    const growth = Math.max(...after.map((bytes, index) => bytes - (before[index] ?? 0)))
    expect(growth).toBeLessThan(LARGEST_GROWTH_BYTES)
    const within = load.calls.filter(
      (call) => call.beganAtMs >= beganAtMs && call.endedAtMs <= endedAtMs,
    )
    const byStatus = Object.groupBy(within, ({ status }) => String(status))
    const counts = Object.entries(byStatus).map(([status, of]) => `${of?.length} × ${status}`)
    const attempts = cluster.nodes.map(
      ({ postgres }) => postgres.attempts.filter((at) => at >= beganAtMs && at <= endedAtMs).length,
    )
    tellFigures(
      `${what}: ${counts.join(', ')}; memory +${Math.round(growth / 1_048_576)} MB; connections to Postgres asked for: ${attempts.join(', ')}`,
    )
    return { within, attempts, all: load.calls, lastedMs: endedAtMs - beganAtMs }
  }

  async function expectNothingLost(): Promise<void> {
    await cluster.whenShipped(90_000)
    const rows = await readLedger(cluster)
    expect(findMissing(calls, rows)).toEqual([])
    await expectCountedOnce(cluster, rows, budgetId)
  }

  function refusals(seen: readonly SeenCall[]): readonly SeenCall[] {
    return seen.filter(({ status }) => status !== 200)
  }

  function expectNoHerd(attempts: readonly number[], lastedMs: number): void {
    for (const count of attempts) expect(count).toBeLessThan(largestHerd(lastedMs))
  }

  test('Postgres stopped: every call is served, and no node retries without a pause', async () => {
    const asking = new AbortController()
    const { all, attempts, lastedMs } = await during(
      'Postgres stopped',
      async () => {
        await cluster.postgres.stop('immediate')
        // A read of stored data is refused, and does not make the nodes try more often.
        void askAgainAndAgain(asking.signal)
      },
      async () => {
        asking.abort()
        await cluster.postgres.start()
      },
    )
    expect(refusals(all)).toEqual([])
    expectNoHerd(attempts, lastedMs)
  })

  async function askAgainAndAgain(signal: AbortSignal): Promise<void> {
    for (let turn = 0; !signal.aborted; turn += 1) {
      const node = cluster.node(turn % cluster.nodes.length)
      void controlPlaneCall(node, 'GET', '/v1/logs').then(
        (answer) => answer.arrayBuffer(),
        () => {},
      )
      await Bun.sleep(10)
    }
  }

  test('Postgres silent: every call is served', async () => {
    const { all } = await during(
      'Postgres silent',
      async () => {
        for (const { postgres } of cluster.nodes) postgres.freeze()
      },
      async () => cluster.heal(),
    )
    expect(refusals(all)).toEqual([])
  })

  test('Postgres 200 ms away: every call is served', async () => {
    const { all } = await during(
      'Postgres slow',
      async () => {
        for (const { postgres } of cluster.nodes) postgres.slow(200)
      },
      async () => cluster.heal(),
    )
    expect(refusals(all)).toEqual([])
  })

  test('Redis killed, and back without its contents: every call is served', async () => {
    const { all } = await during(
      'Redis killed',
      () => cluster.redis.kill(),
      () => cluster.redis.start(),
    )
    expect(refusals(all)).toEqual([])
  })

  test('Redis silent: every call is served', async () => {
    const { all } = await during(
      'Redis silent',
      async () => cluster.redis.pause(),
      async () => cluster.redis.resume(),
    )
    expect(refusals(all)).toEqual([])
  })

  test('both stopped: calls are served or refused with 503', async () => {
    const { all } = await during(
      'both stopped',
      async () => {
        await cluster.redis.kill()
        await cluster.postgres.stop('immediate')
      },
      async () => {
        await cluster.postgres.start()
        await cluster.redis.start()
      },
    )
    expect(refusals(all).filter(({ status }) => status !== 503)).toEqual([])
    for (const { problem } of refusals(all)) expect(problem).toContain('unavailable')
  })

  test('after all outages every node serves, nothing is missing, and all counts agree', async () => {
    const load = startClusterLoad(cluster, { maxCalls: 60 })
    await load.done
    calls.push(...load.calls)
    expect(refusals(load.calls)).toEqual([])
    await expectNothingLost()
    tellFigures(`outages: ${calls.length} calls in the ledger, each once`)
  })
})
