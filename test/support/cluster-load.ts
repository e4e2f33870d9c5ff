/** Clients of all nodes of a cluster, and the results of their calls. */
import type { Cluster, ClusterNode } from './cluster.ts'

export interface SeenCall {
  readonly id: string | undefined
  readonly node: number
  readonly isStream: boolean
  /**
   * As `performance.now()` has it: before the first byte was sent, and when nothing more was to
   * come.
   */
  readonly beganAtMs: number
  readonly endedAtMs: number
  readonly status: number
  readonly isComplete: boolean
  readonly tokens: number
  /** Of an answer other than 200, its beginning; of none, the error. */
  readonly problem: string | undefined
}

export interface ClusterLoadOptions {
  readonly clients?: number
  readonly maxCalls?: number
  readonly pauseMs?: number
  readonly key?: string
  readonly gate?: string
  /** Given up, and noted as without an answer, after so long. Default 30 s. */
  readonly timeoutMs?: number
  readonly nodes?: readonly number[]
  readonly hasStreams?: boolean
  readonly onCall?: (call: SeenCall) => void
}

export interface CallShape {
  readonly key: string
  readonly gate?: string
  readonly isStream: boolean
  readonly prompt: string
  readonly timeoutMs?: number
  readonly leaves?: 'early' | 'midway'
}

export interface ClusterLoad {
  readonly calls: readonly SeenCall[]
  readonly done: Promise<void>
  stop(): Promise<void>
}

const LEAVING_MS = 3

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
      // A refused client pauses instead of retrying at full speed.
      if (call.status !== 200) await Bun.sleep(20)
      if (pauseMs > 0) await Bun.sleep(pauseMs)
    }
  }
  const done = Promise.all(Array.from({ length: clients }, (_, offset) => client(offset))).then(
    () => {},
  )
  // `stop` throws the failure; until then nobody handles the rejection.
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
    // A stream counts as complete from its [DONE] on.
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
