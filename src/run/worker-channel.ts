/**
 * A worker's end of the line to its supervisor, and how it hears that it has to end. Must not know
 * what a worker does.
 */
import { type FromWorker, Questions, readToWorker, type WorkerReady } from './worker-messages.ts'

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
