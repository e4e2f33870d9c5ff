/**
 * One key on three nodes: together they let through what its limit says, with the bound of
 * docs/decisions/0018.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { IS_LONG, tellFigures } from '../support/chaos-form.ts'
import { type Cluster, canStartCluster, startCluster } from '../support/cluster.ts'
import { type SeenCall, startClusterLoad } from '../support/cluster-load.ts'
import { type CreatedKey, createKey } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { describeIf } from '../support/skip-unless.ts'

setDefaultTimeout(300_000)

const PER_MINUTE = IS_LONG ? 600 : 300
const PER_MS = PER_MINUTE / 60_000
const NODES = 3
/** The places that a node may hold in advance. */
const LEASE = Math.floor(PER_MINUTE / 64)
const LASTING_MS = IS_LONG ? 90_000 : 1_500

describeIf(canStartCluster(), 'needs Postgres and redis-server')(
  `a key with ${PER_MINUTE} requests a minute on three nodes`,
  () => {
    let cluster: Cluster
    const keys: CreatedKey[] = []
    beforeAll(async () => {
      cluster = await startCluster({
        nodes: NODES,
        environment: { GATEHOUSE_REQUESTS_PER_MINUTE: String(PER_MINUTE) },
        prepare: async (first) => {
          for (const name of ['steady', 'killed', 'cut off'])
            keys.push(await createKey(first, name))
        },
      })
    })
    afterAll(() => cluster?.remove())

    /** @returns what was admitted, in the order of its beginning, and the time that it all took */
    async function flood(name: string, disturb: (untilMs: number) => Promise<void>) {
      const key = keys.find((each) => each.name === name)?.key ?? ''
      const startedAtMs = performance.now()
      const load = startClusterLoad(cluster, { key, clients: 9, hasStreams: false })
      await pollUntil(
        'the first minute to be used',
        () => load.calls.some(({ status }) => status === 429),
        {
          timeoutMs: 60_000,
        },
      )
      await disturb(performance.now() + LASTING_MS)
      // A client that is refused has found nothing left: until then, all that there was had been
      // asked for.
      const enoughAtMs = performance.now()
      const isUsedUp = ({ status, beganAtMs }: SeenCall) => status === 429 && beganAtMs > enoughAtMs
      await pollUntil('all of it to be used', () => load.calls.some(isUsedUp), {
        timeoutMs: 60_000,
      })
      await load.stop()
      const lastedMs = performance.now() - startedAtMs
      const admitted = load.calls.filter(({ status }) => status === 200)
      const others = load.calls.filter(
        ({ status }) => status !== 200 && status !== 429 && status !== 0,
      )
      expect(others).toEqual([])
      const askedForMs = enoughAtMs - startedAtMs
      return { admitted, refused: load.calls.length - admitted.length, lastedMs, askedForMs }
    }

    /**
     * How many were admitted beyond what a single counter would have let through in the stretch
     * where they were most.
     */
    function worstExcess(admitted: readonly SeenCall[]): number {
      const began = admitted.map(({ beganAtMs }) => beganAtMs).sort((a, b) => a - b)
      const ended = admitted.map(({ endedAtMs }) => endedAtMs).sort((a, b) => a - b)
      let worst = Number.NEGATIVE_INFINITY
      // Of those that ended by a moment, those that began after another one: at least so many were
      // admitted in between.
      for (let from = 0; from < began.length; from += 1) {
        for (let to = from; to < ended.length; to += 1) {
          const stretchMs = (ended[to] ?? 0) - (began[from] ?? 0)
          worst = Math.max(worst, to - from + 1 - PER_MINUTE - stretchMs * PER_MS)
        }
      }
      return worst
    }

    function tell(
      what: string,
      { admitted, refused, lastedMs }: Awaited<ReturnType<typeof flood>>,
    ): void {
      const rate = PER_MINUTE + lastedMs * PER_MS
      tellFigures(
        `limit, ${what}: ${admitted.length} admitted and ${refused} refused in ${(lastedMs / 1000).toFixed(1)} s; a single counter ${rate.toFixed(0)}, bound of a stretch +${NODES * LEASE}, worst stretch ${worstExcess(admitted).toFixed(1)}`,
      )
    }

    test('under a steady flood: never above it, and not much below', async () => {
      const seen = await flood('steady', (untilMs) => Bun.sleep(untilMs - performance.now()))
      tell('steady', seen)
      expect(seen.admitted.length).toBeLessThanOrEqual(PER_MINUTE + seen.lastedMs * PER_MS)
      expect(worstExcess(seen.admitted)).toBeLessThanOrEqual(NODES * LEASE)
      // What nodes hold in advance, and a call under way at each client.
      expect(seen.admitted.length).toBeGreaterThan(
        PER_MINUTE + (seen.askedForMs - 1_000) * PER_MS - NODES * LEASE,
      )
    })

    test('with nodes killed in the middle: never above it', async () => {
      const seen = await flood('killed', async (untilMs) => {
        while (performance.now() < untilMs) {
          await cluster.node(Math.floor(Math.random() * NODES)).restart()
          await Bun.sleep(IS_LONG ? 2_000 : 300)
        }
      })
      tell('nodes killed', seen)
      expect(worstExcess(seen.admitted)).toBeLessThanOrEqual(NODES * LEASE)
    })

    test('with one node cut off from Redis: above it by no more than that node’s share', async () => {
      const seen = await flood('cut off', async (untilMs) => {
        cluster.node(0).redis.cut()
        await Bun.sleep(untilMs - performance.now())
        cluster.heal()
      })
      tell('a node cut off', seen)
      // It goes on with its part, and the others, which have Redis, with all of it.
      const share = (PER_MINUTE + seen.lastedMs * PER_MS) / NODES
      expect(seen.admitted.length).toBeLessThanOrEqual(PER_MINUTE + seen.lastedMs * PER_MS + share)
      expect(worstExcess(seen.admitted)).toBeLessThanOrEqual(
        NODES * LEASE + (seen.lastedMs * PER_MS) / NODES,
      )
    })
  },
)
