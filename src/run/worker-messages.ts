/**
 * The messages between a supervisor and its workers. Both are the same program, though maybe not of
 * the same day.
 */

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

export function readToWorker(message: unknown): ToWorker | undefined {
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
