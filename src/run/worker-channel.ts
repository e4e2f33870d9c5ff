/**
 * A worker's end of the line to its supervisor, and how it hears that it has to end. Must not know
 * what a worker does.
 */

export interface WorkerChannel {
  /** The number of the worker; its data folder is named after it. */
  readonly index: number
  /** The first to start in this run, alone: what is done once for all is done by this one. */
  readonly isFirst: boolean
  ready(ready: WorkerReady): void
  /** Says why there is no serving. */
  refuse(message: string): void
  /** How this worker's own metrics are read. */
  onRender(render: () => Promise<string>): void
  /** The metrics of all workers. @throws when the supervisor does not answer */
  collect(): Promise<string>
  /** Called each time that the operator has changed the configuration. */
  onReload(reload: () => void): void
  /**
   * Called once, with the reason, when it is time to end; before that is set, the process ends at
   * once.
   */
  onEnd(end: (reason: string) => void): void
}

/** The time that the supervisor may wait for each worker, and some more. */
const COLLECT_TIMEOUT_MS = 5_000

/** @returns undefined when no supervisor has started this process */
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
  // Nobody would restart it, end it or give its journal to another: it must not outlive its
  // supervisor, however that ended.
  process.on('disconnect', () => endOnce('the supervisor has gone'))
  process.on('SIGTERM', () => endOnce('SIGTERM'))
  // A terminal sends it to every process of the group; the supervisor, which has it too, decides.
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
    // The supervisor has gone, which is reported by itself.
  }
}

export interface WorkerReady {
  /** `http://HOST:PORT` */
  readonly url: string
  /** To be shown, once. */
  readonly firstKey: string | null
}

export type FromWorker =
  | ({ readonly type: 'ready' } & WorkerReady)
  /** It will not serve, and why. */
  | { readonly type: 'refused'; readonly message: string }
  /** This worker's metrics, as they were asked for. */
  | { readonly type: 'rendered'; readonly id: number; readonly text: string }
  /** Somebody asked this worker for the metrics of all. */
  | { readonly type: 'collect'; readonly id: number }

export type ToWorker =
  | { readonly type: 'render'; readonly id: number }
  | { readonly type: 'collected'; readonly id: number; readonly text: string }
  /** The operator has changed the configuration. */
  | { readonly type: 'reload' }

/** Messages of another version that this one does not know are passed over. */
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

/** Questions by number, each with its waiting caller. */
export class Questions {
  readonly #waiting = new Map<number, (text: string) => void>()
  #next = 1

  /** @returns undefined when there was no answer in time, or it could not be asked */
  async ask(timeoutMs: number, send: (id: number) => void): Promise<string | undefined> {
    const id = this.#next++
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    const timer = setTimeout(() => resolve(undefined), timeoutMs)
    this.#waiting.set(id, resolve)
    try {
      send(id)
      return await promise
    } catch {
      // The other one has gone.
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
