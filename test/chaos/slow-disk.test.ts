/**
 * The disk of a node's journal stands still again and again: its calls wait for it, and none is
 * lost.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { IS_LONG, tellFigures } from '../support/chaos-form.ts'
import { type Cluster, canStartCluster, startCluster } from '../support/cluster.ts'
import { findMissing, readLedger } from '../support/cluster-ledger.ts'
import { type SeenCall, startClusterLoad } from '../support/cluster-load.ts'
import { privateBytes } from '../support/process-figures.ts'
import { describeIf } from '../support/skip-unless.ts'
import { canSlowDisk, mountSlowDisk, type SlowDisk } from '../support/slow-disk.ts'

setDefaultTimeout(180_000)

const STILL_MS = 200
const GOING_MS = 50
const LASTING_MS = 30_000

// It mounts a file system, which is not everybody's idea of `make test`.
const NEEDS =
  'needs the long form (make chaos) as root, with loop devices, ext4, Postgres and redis-server'

describeIf(IS_LONG && canStartCluster() && canSlowDisk(), NEEDS)('a node with a slow disk', () => {
  let cluster: Cluster
  let disk: SlowDisk | undefined
  beforeAll(async () => {
    cluster = await startCluster()
    await cluster.node(0).stop()
    disk = await mountSlowDisk(cluster.node(0).dataFolder)
    await cluster.node(0).restart()
  })
  afterAll(async () => {
    await cluster?.node(0).kill()
    await disk?.remove()
    await cluster?.remove()
  })

  test('serves more slowly, and loses nothing; the others are not affected', async () => {
    const before = await privateBytes(cluster.node(0).pid)
    const load = startClusterLoad(cluster, { clients: 8 })
    const stalls = disk?.stall(STILL_MS, GOING_MS)
    await Bun.sleep(LASTING_MS)
    const growth = (await privateBytes(cluster.node(0).pid)) - before
    await stalls?.end()
    await load.stop()
    await cluster.whenShipped()
    expect(load.calls.filter(({ status }) => status !== 200)).toEqual([])
    expect(findMissing(load.calls, await readLedger(cluster))).toEqual([])
    expect(growth).toBeLessThan(100 * 1024 * 1024)
    const medianOf = (calls: readonly SeenCall[]) =>
      calls.map(({ beganAtMs, endedAtMs }) => endedAtMs - beganAtMs).sort((a, b) => a - b)[
        Math.floor(calls.length / 2)
      ] ?? Number.NaN
    const [slow, others] = [
      load.calls.filter(({ node }) => node === 0),
      load.calls.filter(({ node }) => node !== 0),
    ]
    tellFigures(
      `slow disk: ${slow.length} calls there, median ${medianOf(slow).toFixed(0)} ms; ${others.length} on the others, median ${medianOf(others).toFixed(0)} ms; memory +${Math.round(growth / 1_048_576)} MB`,
    )
  })
})
