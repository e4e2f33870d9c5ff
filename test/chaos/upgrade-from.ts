/**
 * A version that was released goes over to this one, a folder first and then two nodes on one
 * Postgres under load, old and new beside each other:
 * `bun test/chaos/upgrade-from.ts --from REF [--from REF]… [--calls 2000] [--part folder|nodes]`,
 * REF a commit of this repository. Prints what clients saw, what the ledger holds and what it adds
 * up to; ends with 1 where they differ. Versions before step 0040 cannot run beside this one: of those
 * take `--part folder`.
 */
import { spawnSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { askControlPlane, type Cluster, startCluster } from '../support/cluster.ts'
import {
  expectCountedOnce,
  findMissing,
  readLedger,
  readQuotaUsed,
  readUsage,
} from '../support/cluster-ledger.ts'
import { makeCall, type SeenCall, startClusterLoad } from '../support/cluster-load.ts'
import { pollUntil } from '../support/poll-until.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'

const REPOSITORY = resolve(import.meta.dir, '../..')
const PLANS = `plans:
  default: counted
  definitions:
    counted:
      monthlyTokens: 1000000000
`
const CLIENTS = 6
/** A client that was sent to a node before it leaves has reached it. */
const LEAVING_MS = 500

const { values } = parseArgs({
  options: {
    from: { type: 'string', multiple: true },
    calls: { type: 'string', default: '2000' },
    part: { type: 'string' },
  },
})
const CALLS = Number(values.calls)

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

let hasDiffered = false

function compare(what: string, wanted: unknown, found: unknown): void {
  const isSame = Bun.deepEquals(wanted, found)
  hasDiffered ||= !isSame
  print(
    `  ${what}: ${JSON.stringify(found)}${isSame ? '' : `, wanted ${JSON.stringify(wanted)}: DIFFERS`}`,
  )
}

/** The sources of a commit, beside the packages of this one. */
async function checkOut(ref: string): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const folder = await createTemporaryFolder()
  const command = `git -C '${REPOSITORY}' archive '${ref}' package.json tsconfig.json src | tar -x -C '${folder.path}'`
  const { status, stderr } = spawnSync('bash', ['-o', 'pipefail', '-c', command])
  if (status !== 0) throw new Error(`There are no sources of ${ref}: ${stderr}`)
  symlinkSync(join(REPOSITORY, 'node_modules'), join(folder.path, 'node_modules'))
  return folder
}

function sumSeen(calls: readonly SeenCall[]): { readonly calls: number; readonly tokens: number } {
  const complete = calls.filter(({ isComplete }) => isComplete)
  return { calls: complete.length, tokens: complete.reduce((sum, { tokens }) => sum + tokens, 0) }
}

async function sumsOf(node: Gatehouse) {
  return { ...(await readUsage(node)), quota: await readQuotaUsed(node) }
}

async function callMany(node: Gatehouse, count: number): Promise<SeenCall[]> {
  const calls: SeenCall[] = []
  const client = async () => {
    while (calls.length < count) {
      const isStream = calls.length % 2 === 0
      calls.push(
        await makeCall(
          { index: 0, url: node.url },
          { key: node.key, isStream, prompt: `call ${calls.length}` },
        ),
      )
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return calls
}

/**
 * Half of the calls are in the store when it goes over, half in the journal of a process that was
 * killed.
 */
async function upgradeFolder(source: string): Promise<void> {
  const folder = await createTemporaryFolder()
  await Bun.write(join(folder.path, 'gatehouse.yaml'), PLANS)
  const start = (
    options: { readonly source?: string; readonly environment?: Record<string, string> },
    key?: string,
  ) =>
    startGatehouse({
      dataFolder: folder.path,
      sandbox: true,
      ...(key === undefined ? {} : { key }),
      ...options,
    })
  try {
    const first = await start({ source })
    const calls = await callMany(first, CALLS / 2)
    await first.stop()
    // It ships nothing before it is killed.
    const second = await start(
      { source, environment: { GATEHOUSE_SHIP_INTERVAL_MS: '60000' } },
      first.key,
    )
    calls.push(...(await callMany(second, CALLS / 2)))
    await second.kill()
    const seen = sumSeen(calls)
    const wanted = { ...seen, quota: seen.tokens }
    compare('calls seen whole of those made', calls.length, seen.calls)
    const opened = await start({}, first.key)
    await pollUntil(
      'the sums of the version before',
      async () => (await readUsage(opened)).calls >= seen.calls,
      {
        timeoutMs: 60_000,
      },
    ).catch(() => {})
    compare('sums of this version on the folder', wanted, await sumsOf(opened))
    calls.push(...(await callMany(opened, 100)))
    await opened.stop()
    const again = await start({}, first.key)
    const all = sumSeen(calls)
    compare(
      'sums after more calls and another start',
      { ...all, quota: all.tokens },
      await sumsOf(again),
    )
    await again.stop()
  } finally {
    await folder.remove()
  }
}

/**
 * Two of the version before; one, then the other becomes this one, and the first goes back and
 * forth again.
 */
async function upgradeNodes(source: string): Promise<void> {
  let budgetId = ''
  const cluster = await startCluster({
    nodes: 2,
    source,
    configuration: PLANS,
    prepare: async (first) => {
      const body = { gateId: 'demo', limitTokens: 1_000_000_000, period: 'total' }
      const made = askControlPlane<{ id: string }>(first, 'POST', '/v1/budgets', {
        body,
        status: 201,
      })
      budgetId = (await made).id
    },
  })
  try {
    const leaving = new Set<number>()
    const nodes = cluster.nodes.map((node) => ({
      index: node.index,
      get url() {
        return node.url
      },
      get isRunning() {
        return node.isRunning && !leaving.has(node.index)
      },
    }))
    const load = startClusterLoad({ key: cluster.key, nodes }, { clients: CLIENTS })
    const replace = async (index: number, by?: string) => {
      leaving.add(index)
      await Bun.sleep(LEAVING_MS)
      const code = await cluster.node(index).stop()
      if (code !== 0) compare(`how node ${index} ended`, 0, code)
      await cluster.node(index).restart(by)
      leaving.delete(index)
      const before = load.calls.length
      await pollUntil('calls', () => load.calls.length >= before + CALLS / 4, {
        timeoutMs: 120_000,
      })
      print(
        `  node ${index} is of ${by === undefined ? 'this version' : 'the version before'}: ${load.calls.length} calls so far`,
      )
    }
    await pollUntil('calls', () => load.calls.length >= CALLS / 4, { timeoutMs: 120_000 })
    await replace(0)
    await replace(1)
    await replace(0, source)
    await replace(0)
    await load.stop()
    await compareLedger(cluster, load.calls, budgetId)
  } finally {
    await cluster.remove()
  }
}

async function compareLedger(
  cluster: Cluster,
  calls: readonly SeenCall[],
  budgetId: string,
): Promise<void> {
  await cluster.whenShipped(60_000)
  const rows = await readLedger(cluster)
  const seen = sumSeen(calls)
  compare('calls that failed', [], calls.filter(({ isComplete }) => !isComplete).slice(0, 3))
  compare('calls without their row', [], findMissing(calls, rows))
  compare('rows', seen.calls, rows.size)
  for (const node of cluster.nodes)
    compare(`sums of node ${node.index}`, seen, await readUsage(node))
  const counted = await expectCountedOnce(cluster, rows, budgetId).then(
    () => 'as the rows say',
    String,
  )
  compare('sums, quota and budget of both nodes', 'as the rows say', counted)
}

for (const ref of values.from ?? []) {
  const old = await checkOut(ref)
  try {
    if (values.part !== 'nodes') {
      print(`${ref}, a folder`)
      await upgradeFolder(old.path)
    }
    if (values.part !== 'folder') {
      print(`${ref}, two nodes on one Postgres under load`)
      await upgradeNodes(old.path)
    }
  } finally {
    await old.remove()
  }
}
print(hasDiffered ? 'Something differs.' : 'Nothing differs.')
process.exit(hasDiffered ? 1 : 0)
