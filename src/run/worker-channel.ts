/** A worker's end of the channel to its supervisor. */

export interface WorkerChannel {
  readonly index: number
  readonly isFirst: boolean
  ready(ready: WorkerReady): void
  refuse(message: string): void
  onRender(render: () => Promise<string>): void
  collect(): Promise<string>
  /** Reports reloads of all nodes that this worker has begun, by their ids. */
  reloading(ids: readonly string[]): void
  onReload(reload: () => void): void
  onEnd(end: (reason: string) => void): void
}

/** Longer than the supervisor waits for each worker. */
const COLLECT_TIMEOUT_MS = 5_000

export function openWorkerChannel(index: number, isFirst: boolean): WorkerChannel | undefined {
  if (process.send === undefined || !process.connected) return undefined
  const questions = new Questions()
  let render: (() => Promise<string>) | undefined
  let end: (reason: string) => void = () => process.exit(0)
  let reload: (() => void) | undefined
  let isEnding = false
  const endOnce = (reason: string) => {
    if (isEnding) return
    isEnding = true
    end(reason)
  }
  process.on('message', (received: unknown) => {
    const message = readToWorker(received)
    if (message?.type === 'collected') questions.answer(message.id, message.text)
    if (message?.type === 'render') void answer(message.id)
    if (message?.type === 'reload') reload?.()
  })
  // A worker must not outlive its supervisor, because nobody would restart it, end it or adopt its
  // journal.
  process.on('disconnect', () => endOnce('the supervisor is gone'))
  process.on('SIGTERM', () => endOnce('SIGTERM'))
  // A terminal sends SIGINT to the whole process group; the supervisor gets the signal too and
  // decides.
  process.on('SIGINT', () => {})

  async function answer(id: number): Promise<void> {
    const text = (await render?.().catch(() => undefined)) ?? ''
    send({ type: 'rendered', id, text })
  }
  return {
    index,
    isFirst,
    ready: (ready) => send({ type: 'ready', ...ready }),
    refuse: (message) => send({ type: 'refused', message }),
    onRender(given) {
      render = given
    },
    async collect() {
      const text = await questions.ask(COLLECT_TIMEOUT_MS, (id) => send({ type: 'collect', id }))
      if (text === undefined) throw new Error('The supervisor did not answer.')
      return text
    },
    reloading: (ids) => send({ type: 'reloading', ids }),
    onReload(given) {
      reload = given
    },
    onEnd(given) {
      end = given
    },
  }
}

function send(message: FromWorker): void {
  try {
    process.send?.(message)
  } catch {
    // The supervisor is gone, which is reported separately.
  }
}

export interface WorkerReady {
  readonly url: string
  readonly firstKey: string | null
}

export type FromWorker =
  | ({ readonly type: 'ready' } & WorkerReady)
  | { readonly type: 'refused'; readonly message: string }
  | { readonly type: 'rendered'; readonly id: number; readonly text: string }
  | { readonly type: 'collect'; readonly id: number }
  /** Reloads of all nodes that this worker has begun. */
  | { readonly type: 'reloading'; readonly ids: readonly string[] }

export type ToWorker =
  | { readonly type: 'render'; readonly id: number }
  | { readonly type: 'collected'; readonly id: number; readonly text: string }
  | { readonly type: 'reload' }

/** Unknown messages of another version are ignored. */
export function readFromWorker(message: unknown): FromWorker | undefined {
  return isTyped(message, ['ready', 'refused', 'rendered', 'collect', 'reloading'])
    ? (message as FromWorker)
    : undefined
}

function readToWorker(message: unknown): ToWorker | undefined {
  return isTyped(message, ['render', 'collected', 'reload']) ? (message as ToWorker) : undefined
}

function isTyped(message: unknown, types: readonly string[]): message is { readonly type: string } {
  return (
    typeof message === 'object' &&
    message !== null &&
    'type' in message &&
    types.includes(String(message.type))
  )
}

export class Questions {
  readonly #waiting = new Map<number, (text: string) => void>()
  #next = 1

  async ask(timeoutMs: number, send: (id: number) => void): Promise<string | undefined> {
    const id = this.#next++
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    const timer = setTimeout(() => resolve(undefined), timeoutMs)
    this.#waiting.set(id, resolve)
    try {
      send(id)
      return await promise
    } catch {
      return undefined
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(id)
    }
  }

  answer(id: number, text: string): void {
    this.#waiting.get(id)?.(text)
  }
}
