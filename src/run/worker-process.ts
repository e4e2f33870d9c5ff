/**
 * One worker as its supervisor sees it: a process, and the line to it. Must not know when there
 * should be one.
 */
import {
  type FromWorker,
  Questions,
  readFromWorker,
  type ToWorker,
  type WorkerReady,
} from './worker-messages.ts'

export interface WorkerEnd {
  /** `SIGKILL`, `exit code 1`, or in its own words why it does not serve. */
  readonly reason: string
  readonly isClean: boolean
}

export interface WorkerProcess {
  readonly pid: number
  /** Rejects when it ended before, with the reason as the message. */
  readonly ready: Promise<WorkerReady>
  readonly ended: Promise<WorkerEnd>
  /** Its metrics; undefined when it does not answer. */
  render(): Promise<string | undefined>
  /** Has it read its configuration again. */
  reload(): void
  /** Lets it finish what is open. */
  end(): void
  /** SIGKILL. */
  kill(): void
}

export interface WorkerCommand {
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Asked by the worker for the metrics of all. */
  readonly collect: () => Promise<string>
}

/** A worker that is stopped or busy must not keep the others' figures from being read. */
const RENDER_TIMEOUT_MS = 2_000

export function startWorkerProcess({
  command,
  environment,
  collect,
}: WorkerCommand): WorkerProcess {
  const questions = new Questions()
  const ready = Promise.withResolvers<WorkerReady>()
  let refusal: string | undefined
  const child = Bun.spawn([...command], {
    env: { ...environment },
    stdio: ['ignore', 'inherit', 'inherit'],
    serialization: 'json',
    ipc: (received: unknown) => {
      const message = readFromWorker(received)
      if (message !== undefined) hear(message)
    },
  })
  const ended = child.exited.then((code): WorkerEnd => {
    const reason = refusal ?? String(child.signalCode ?? `exit code ${code}`)
    ready.reject(new Error(reason))
    return { reason, isClean: code === 0 }
  })
  // The caller that starts it awaits one of the two.
  ready.promise.catch(() => {})

  function hear(message: FromWorker): void {
    switch (message.type) {
      case 'ready':
        ready.resolve({ url: message.url, firstKey: message.firstKey })
        return
      case 'refused':
        refusal = message.message
        return
      case 'rendered':
        questions.answer(message.id, message.text)
        return
      case 'collect':
        void collect().then((text) => send({ type: 'collected', id: message.id, text }))
    }
  }

  function send(message: ToWorker): void {
    try {
      child.send(message)
    } catch {
      // It has ended, and its end is reported by itself.
    }
  }

  return {
    pid: child.pid,
    ready: ready.promise,
    ended,
    render: () => questions.ask(RENDER_TIMEOUT_MS, (id) => send({ type: 'render', id })),
    reload: () => send({ type: 'reload' }),
    end: () => child.kill('SIGTERM'),
    kill: () => child.kill('SIGKILL'),
  }
}
