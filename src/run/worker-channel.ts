/** A worker's end of the channel to its supervisor. */

export interface WorkerChannel {
  /** The worker's number, which names its data folder. */
  readonly index: number
  readonly isFirst: boolean
  ready(ready: WorkerReady): void
  refuse(message: string): void
  /** Sets how this worker's own metrics are read. */
  onRender(render: () => Promise<string>): void
  collect(): Promise<string>
  onReload(reload: () => void): void
  /**
   * Sets the function that ends the worker, called once with the reason; before, the process ends
   * immediately.
   */
  onEnd(end: (reason: string) => void): void
}

/** Longer than the supervisor waits for each worker. */
const COLLECT_TIMEOUT_MS = 5_000

/** @returns undefined when no supervisor started this process */
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
  /** `http://HOST:PORT` */
  readonly url: string
  /** Shown once. */
  readonly firstKey: string | null
}

export type FromWorker =
  | ({ readonly type: 'ready' } & WorkerReady)
  /** The worker cannot serve, with the reason. */
  | { readonly type: 'refused'; readonly message: string }
  /** This worker's metrics, as requested. */
  | { readonly type: 'rendered'; readonly id: number; readonly text: string }
  | { readonly type: 'collect'; readonly id: number }

export type ToWorker =
  | { readonly type: 'render'; readonly id: number }
  | { readonly type: 'collected'; readonly id: number; readonly text: string }
  /** The operator changed the configuration. */
  | { readonly type: 'reload' }

/** Unknown messages of another version are ignored. */
export function readFromWorker(message: unknown): FromWorker | undefined {
  return isTyped(message, ['ready', 'refused', 'rendered', 'collect'])
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

/** Open requests by number, each with its waiting caller. */
export class Questions {
  readonly #waiting = new Map<number, (text: string) => void>()
  #next = 1

  /** @returns undefined when no answer came in time, or the request could not be sent */
  async ask(timeoutMs: number, send: (id: number) => void): Promise<string | undefined> {
    const id = this.#next++
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    const timer = setTimeout(() => resolve(undefined), timeoutMs)
    this.#waiting.set(id, resolve)
    try {
      send(id)
      return await promise
    } catch {
      // The other process is gone.
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
