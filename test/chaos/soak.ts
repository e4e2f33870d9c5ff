/**
 * `make soak`: three nodes at a steady load with streams, clients that leave and upstreams that
 * fail, for as long as it is told; prints what each process holds over time, and whether that
 * grows. Not a test: it takes its time and needs a quiet machine.
 */
import { parseArgs } from 'node:util'
import {
  askControlPlane,
  type Cluster,
  type ClusterNode,
  startCluster,
} from '../support/cluster.ts'
import { expectCountedOnce, findMissing, readLedger } from '../support/cluster-ledger.ts'
import { type CallShape, makeCall, type SeenCall } from '../support/cluster-load.ts'
import { createGate } from '../support/control-plane.ts'
import {
  countHandles,
  growthPerHour,
  journalBytes,
  privateBytes,
} from '../support/process-figures.ts'

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '30' }, rate: { type: 'string', default: '60' } },
})
const LASTING_MS = Number(values.minutes) * 60_000
/** Calls a second, altogether. */
const RATE = Number(values.rate)
const SAMPLE_MS = Math.min(15_000, LASTING_MS / 8)
const SHORTEST_FOR_SLOPE_MS = 25 * 60_000
const MAX_OPEN = 200
const LARGE_PROMPT = 'word '.repeat(40_000)

const SHAPES: readonly (Partial<CallShape> & {
  readonly parts: number
  readonly status: number
  readonly orStatus?: number
})[] = [
  { parts: 8, isStream: false, status: 200 },
  { parts: 6, isStream: true, prompt: 'repeat 60 words', status: 200 },
  { parts: 1, isStream: false, prompt: LARGE_PROMPT, status: 200 },
  { parts: 1, isStream: true, prompt: 'repeat 200 words', leaves: 'midway', status: 200 },
  { parts: 1, isStream: true, prompt: 'repeat 200 words', leaves: 'early', status: 0 },
  { parts: 1, isStream: false, gate: 'fails', status: 502 },
  { parts: 1, isStream: true, gate: 'cut', status: 200, orStatus: 502 },
  { parts: 1, isStream: false, gate: 'nowhere', status: 404 },
  { parts: 1, isStream: false, key: 'sk-svc-unknown', status: 401 },
]
const ROUND = SHAPES.flatMap((shape) => Array.from({ length: shape.parts }, () => shape))

interface Sample {
  readonly minute: number
  readonly privateMb: number
  readonly handles: number
  readonly journalKb: number
}

async function sample(node: ClusterNode, startedAtMs: number): Promise<Sample> {
  return {
    minute: (performance.now() - startedAtMs) / 60_000,
    privateMb: (await privateBytes(node.pid)) / 1_048_576,
    handles: await countHandles(node.pid),
    journalKb: (await journalBytes(node.dataFolder)) / 1024,
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function run(cluster: Cluster, budgetId: string): Promise<boolean> {
  const startedAtMs = performance.now()
  const complete: SeenCall[] = []
  const surprises = new Map<string, number>()
  const samples = cluster.nodes.map((): Sample[] => [])
  const open = new Set<Promise<void>>()
  let made = 0
  let late = 0
  const call = async (number: number) => {
    const shape = ROUND[number % ROUND.length]
    const node = cluster.node(Math.floor(number / ROUND.length) % cluster.nodes.length)
    if (shape === undefined) return
    const { parts: _, status, orStatus, ...more } = shape
    const seen = await makeCall(node, {
      key: cluster.key,
      isStream: false,
      prompt: `call ${number}`,
      ...more,
    })
    if (seen.isComplete) complete.push(seen)
    if (
      seen.status === status ||
      seen.status === orStatus ||
      (shape.leaves === 'early' && seen.status === 200)
    )
      return
    const what = `${seen.status} for ${status}: ${seen.problem ?? ''}`.slice(0, 160)
    surprises.set(what, (surprises.get(what) ?? 0) + 1)
  }
  let sampledAtMs = startedAtMs
  let toldMinute = 0
  print('minute  node  private MB  handles  journal KB')
  while (performance.now() - startedAtMs < LASTING_MS) {
    while (made < ((performance.now() - startedAtMs) / 1000) * RATE) {
      if (open.size >= MAX_OPEN) {
        late += 1
        break
      }
      const running = call(made++).finally(() => open.delete(running))
      open.add(running)
    }
    await Bun.sleep(10)
    if (performance.now() - sampledAtMs < SAMPLE_MS) continue
    sampledAtMs = performance.now()
    for (const [index, node] of cluster.nodes.entries())
      samples[index]?.push(await sample(node, startedAtMs))
    const { minute = 0 } = samples[0]?.at(-1) ?? {}
    if (minute < toldMinute) continue
    toldMinute += Math.max(1, Number(values.minutes) / 10)
    for (const [index, of] of samples.entries()) {
      const last = of.at(-1)
      if (last !== undefined)
        print(
          `${minute.toFixed(1).padStart(6)}  ${index}     ${last.privateMb.toFixed(1).padStart(9)}  ${String(last.handles).padStart(7)}  ${last.journalKb.toFixed(0).padStart(10)}`,
        )
    }
  }
  await Promise.all(open)
  await cluster.whenShipped()
  const rows = await readLedger(cluster)
  const missing = findMissing(complete, rows)
  const counted = await expectCountedOnce(cluster, rows, budgetId).then(
    () => true,
    (error: unknown) => {
      print(String(error))
      return false
    },
  )
  print(
    `${made} calls, ${complete.length} seen complete, ${rows.size} rows, ${missing.length} missing`,
  )
  if (late > 0) print(`held back ${late} times: more than ${MAX_OPEN} were open`)
  for (const [what, times] of surprises) print(`unexpected, ${times} times: ${what}`)
  let isFlat = true
  for (const [index, of] of samples.entries()) {
    // The first third is for what grows once: compiled code, pools, tables.
    const settled = of.slice(Math.floor(of.length / 3))
    const slope = growthPerHour(settled.map(({ minute, privateMb }) => [minute, privateMb]))
    const handles = settled.map((each) => each.handles)
    const journal = Math.max(...of.map(({ journalKb }) => journalKb))
    print(
      `node ${index}: ${slope.toFixed(1)} MB an hour; handles ${Math.min(...handles)} to ${Math.max(...handles)}; journal at most ${journal.toFixed(0)} KB`,
    )
    // What grows once takes ten minutes to do so; a shorter run says nothing of memory.
    isFlat &&=
      (slope < 20 || LASTING_MS < SHORTEST_FOR_SLOPE_MS) &&
      Math.max(...handles) - Math.min(...handles) < 100 &&
      journal < 1024
  }
  const isGood = isFlat && counted && missing.length === 0 && surprises.size === 0
  print(isGood ? 'verdict: flat' : 'verdict: LOOK AT IT')
  return isGood
}

let budgetId = ''
const cluster = await startCluster({
  eventPauseMs: 2,
  configuration: 'plans: {default: large, definitions: {large: {monthlyTokens: 100000000000}}}',
  prepare: async (first) => {
    await createGate(first, 'fails', 'sandbox/500')
    await createGate(first, 'cut', 'sandbox/cut-mid-stream')
    const body = { gateId: 'demo', limitTokens: 100_000_000_000, period: 'total' }
    budgetId = (
      await askControlPlane<{ id: string }>(first, 'POST', '/v1/budgets', { body, status: 201 })
    ).id
  },
})
try {
  process.exitCode = (await run(cluster, budgetId)) ? 0 : 1
} finally {
  await cluster.remove()
}
process.exit()
