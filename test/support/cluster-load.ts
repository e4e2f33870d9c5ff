/** Clients of all nodes of a cluster, and what each of their calls has seen. Speaks HTTP only. */
import type { Cluster, ClusterNode } from './cluster.ts'

export interface SeenCall {
  /** The call's id in the ledger; undefined where no head of an answer arrived. */
  readonly id: string | undefined
  readonly node: number
  readonly isStream: boolean
  /**
   * As `performance.now()` has it: before the first byte was sent, and when nothing more was to
   * come.
   */
  readonly beganAtMs: number
  readonly endedAtMs: number
  /** 0: no head of an answer arrived. */
  readonly status: number
  /** The client has everything: the whole JSON, or the `[DONE]` of the stream. */
  readonly isComplete: boolean
  /** What the answer said was used; 0 where it did not come to that. */
  readonly tokens: number
  /** Of an answer other than 200, its beginning; of none, the error. */
  readonly problem: string | undefined
}

export interface ClusterLoadOptions {
  /** Calls at once, altogether; each client goes round the nodes. Default 6. */
  readonly clients?: number
  /** Ends by itself after so many. */
  readonly maxCalls?: number
  /** Pause of each client between two of its calls. Default none. */
  readonly pauseMs?: number
  /** Default the cluster's own. */
  readonly key?: string
  readonly gate?: string
  /** Given up, and noted as without an answer, after so long. Default 30 s. */
  readonly timeoutMs?: number
  /** Only these nodes; default all. */
  readonly nodes?: readonly number[]
  /** Every second call is a stream; `false`: none is. */
  readonly hasStreams?: boolean
  readonly onCall?: (call: SeenCall) => void
}

/** What one call asks, where it is not the usual. */
export interface CallShape {
  readonly key: string
  readonly gate?: string
  readonly isStream: boolean
  readonly prompt: string
  readonly timeoutMs?: number
  /** The client leaves: before the answer begins, or after the first bytes of it. */
  readonly leaves?: 'early' | 'midway'
}

export interface ClusterLoad {
  readonly calls: readonly SeenCall[]
  /** Resolves when `maxCalls` were made, or after `stop`. @throws what a client did not expect */
  readonly done: Promise<void>
  /** No new calls; resolves when the last has ended. */
  stop(): Promise<void>
}

/** Some of them while the request is still being sent, some while the upstream thinks. */
const LEAVING_MS = 3

/** Nodes that do not run are passed over. */
export function startClusterLoad(
  cluster: Pick<Cluster, 'key'> & {
    readonly nodes: readonly Pick<ClusterNode, 'index' | 'url' | 'isRunning'>[]
  },
  options: ClusterLoadOptions = {},
) {
  const { clients = 6, maxCalls = Number.POSITIVE_INFINITY, pauseMs = 0 } = options
  const nodes = cluster.nodes.filter(({ index }) => options.nodes?.includes(index) ?? true)
  const calls: SeenCall[] = []
  let isStopped = false
  let next = 0
  const client = async (offset: number): Promise<void> => {
    for (let turn = offset; !isStopped && next < maxCalls; turn += 1) {
      const node = nodes[turn % nodes.length]
      if (node === undefined) throw new Error('a load needs nodes')
      if (!node.isRunning) {
        await Bun.sleep(20)
        continue
      }
      const number = next++
      const isStream = options.hasStreams !== false && number % 2 === 0
      const call = await makeCall(node, {
        key: options.key ?? cluster.key,
        isStream,
        prompt: `call ${'word '.repeat(number % 20)}`,
        ...(options.gate !== undefined && { gate: options.gate }),
        ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
      })
      calls.push(call)
      options.onCall?.(call)
      // A client that is refused or finds nobody does not try as fast as it can.
      if (call.status !== 200) await Bun.sleep(20)
      if (pauseMs > 0) await Bun.sleep(pauseMs)
    }
  }
  const done = Promise.all(Array.from({ length: clients }, (_, offset) => client(offset))).then(
    () => {},
  )
  // `stop` throws what went wrong; until then nobody handles it.
  done.catch(() => {})
  const load: ClusterLoad = {
    calls,
    done,
    stop: async () => {
      isStopped = true
      await done
    },
  }
  return load
}

/** One call of the node. Never rejects. */
export async function makeCall(
  node: Pick<ClusterNode, 'index' | 'url'>,
  { key, gate = 'demo', isStream, prompt, timeoutMs = 30_000, leaves }: CallShape,
): Promise<SeenCall> {
  const beganAtMs = performance.now()
  let seen: Pick<SeenCall, 'id' | 'status' | 'isComplete' | 'tokens' | 'problem'>
  try {
    const response = await fetch(`${node.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        gate_id: gate,
        stream: isStream,
        ...(isStream && { stream_options: { include_usage: true } }),
        messages: [{ role: 'user', content: prompt }],
      }),
      signal: AbortSignal.timeout(leaves === 'early' ? LEAVING_MS : timeoutMs),
    })
    const id = response.headers.get('x-request-id') ?? undefined
    seen = {
      id,
      status: response.status,
      ...(await readAnswer(response, isStream, leaves === 'midway')),
    }
  } catch (error) {
    seen = { id: undefined, status: 0, isComplete: false, tokens: 0, problem: String(error) }
  }
  return { ...seen, node: node.index, isStream, beganAtMs, endedAtMs: performance.now() }
}

async function readAnswer(
  response: Response,
  isStream: boolean,
  isLeft: boolean,
): Promise<Pick<SeenCall, 'isComplete' | 'tokens' | 'problem'>> {
  let text = ''
  try {
    const decoder = new TextDecoder()
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes, { stream: true })
      if (isLeft) break
    }
  } catch {
    // What counts is what had arrived: a stream is complete from its [DONE] on.
    if (!isStream) return { isComplete: false, tokens: 0, problem: 'cut' }
  }
  if (response.status !== 200) return { isComplete: false, tokens: 0, problem: text.slice(0, 300) }
  const isComplete = isStream
    ? text.includes('data: [DONE]\n\n') && !text.includes('data: {"error"')
    : isJson(text)
  const tokens = Number(/"total_tokens":\s*(\d+)/.exec(text)?.[1] ?? 0)
  return { isComplete, tokens, problem: isComplete ? undefined : 'cut' }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
