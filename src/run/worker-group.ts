import { backoffMs } from '../core/retry-delay.ts'
import { METRICS, SUPERVISOR_METRICS } from '../telemetry/metric-list.ts'
import { mergeExpositions } from './merge-expositions.ts'
import {
  type FromWorker,
  Questions,
  readFromWorker,
  type ToWorker,
  type WorkerReady,
} from './worker-channel.ts'

interface WorkerGroupOptions {
  readonly workers: readonly number[]
  readonly start: (index: number, url: string | undefined) => WorkerProcess
  readonly report: WorkerReport
  readonly reloads: { readonly refused: number }
  /** Called once for each reload of all nodes that workers follow. */
  readonly onReload: () => void
  /**
   * Called when every worker keeps ending soon after its start: nothing serves, and restarts stop.
   */
  readonly onHopeless: (reason: string) => void
}

interface WorkerReport {
  ended(worker: number, reason: string, restartInMs: number): void
  ready(worker: number, pid: number, restarts: number): void
}

interface Member {
  readonly index: number
  process: WorkerProcess | undefined
  isReady: boolean
  startedAtMs: number
  restarts: number
  toldReason: string | undefined
  timer: ReturnType<typeof setTimeout> | undefined
}

/**
 * Maximum number of remembered reload ids: overlapping reloads, multiplied by the number of
 * workers.
 */
const MOST_FOLLOWED = 1_000

export class WorkerGroup {
  readonly #options: WorkerGroupOptions
  readonly #members: readonly Member[]
  readonly #schedule: RestartSchedule
  #url: string | undefined
  #isOpen = false
  #followed: readonly string[] = []
  #isClosing = false

  constructor(options: WorkerGroupOptions) {
    this.#options = options
    this.#schedule = new RestartSchedule(options.workers)
    this.#members = options.workers.map((index) => ({
      index,
      process: undefined,
      isReady: false,
      startedAtMs: 0,
      restarts: 0,
      toldReason: undefined,
      timer: undefined,
    }))
  }

  /**
   * Starts the first worker alone, then all others: the first worker finds the port, migrates the
   * store and creates the first key.
   * @returns the first worker's report, when all are ready
   * @throws the reason of the first worker that ends before it is ready; all are then killed
   */
  async open(): Promise<WorkerReady> {
    const [first, ...others] = this.#members
    if (first === undefined) throw new Error('At least one worker is needed.')
    try {
      const ready = await this.#launch(first)
      this.#url = ready.url
      await Promise.all(others.map((member) => this.#launch(member)))
      this.#isOpen = true
      return ready
    } catch (error) {
      this.#isClosing = true
      await this.#killAll()
      throw error
    }
  }

  async collect(): Promise<string> {
    const pages = await Promise.all(
      this.#members.map(async ({ index, isReady, process }) => {
        const text = isReady ? await process?.render() : undefined
        return text === undefined ? [] : [{ worker: index, text }]
      }),
    )
    const own = supervisorMetrics(
      this.#members.map(({ index, isReady, restarts }) => ({ worker: index, isReady, restarts })),
    )
    const refused = refusedReloads(this.#options.reloads.refused)
    return `${own}\n${refused}\n${mergeExpositions(pages.flat())}`
  }

  /**
   * Lets every worker finish open calls, and kills workers that have not ended in time.
   * @returns whether all ended by themselves without an error
   */
  async close(timeoutMs: number): Promise<boolean> {
    this.#isClosing = true
    const ends = this.#members.flatMap((member) => {
      clearTimeout(member.timer)
      member.process?.end()
      return member.process === undefined ? [] : [member.process.ended]
    })
    const patience = setTimeout(() => void this.#killAll(), timeoutMs)
    const all = await Promise.all(ends)
    clearTimeout(patience)
    return all.every(({ isClean }) => isClean)
  }

  reload(): void {
    for (const { process } of this.#members) process?.reload()
  }

  /**
   * Remembers the reloads of all nodes that workers have begun. Every worker reports each reload.
   */
  follow(ids: readonly string[]): void {
    const isKnown = ids.length > 0 && ids.every((id) => this.#followed.includes(id))
    this.#followed = [...this.#followed, ...ids].slice(-MOST_FOLLOWED)
    if (!isKnown) this.#options.onReload()
  }

  kill(): void {
    this.#isClosing = true
    void this.#killAll()
  }

  async #killAll(): Promise<void> {
    const running = this.#members.flatMap(({ process }) => process ?? [])
    for (const process of running) process.kill()
    await Promise.all(running.map(({ ended }) => ended))
  }

  async #launch(member: Member): Promise<WorkerReady> {
    const process = this.#options.start(member.index, this.#url)
    member.process = process
    member.startedAtMs = performance.now()
    void process.ended.then((end) => this.#ended(member, end))
    const ready = await process.ready
    member.isReady = true
    member.toldReason = undefined
    this.#options.report.ready(member.index, process.pid, member.restarts)
    return ready
  }

  #ended(member: Member, { reason }: WorkerEnd): void {
    const wasReady = member.isReady
    member.process = undefined
    member.isReady = false
    // `open` reports a worker that was never ready at the first start.
    if (this.#isClosing || !(this.#isOpen || wasReady)) return
    const restartInMs = this.#schedule.ended(member.index, performance.now() - member.startedAtMs)
    if (this.#schedule.isHopeless && !this.#members.some(({ isReady }) => isReady)) {
      this.#isClosing = true
      for (const { timer } of this.#members) clearTimeout(timer)
      void this.#killAll().then(() => this.#options.onHopeless(reason))
      return
    }
    if (wasReady || member.toldReason !== reason)
      this.#options.report.ended(member.index, reason, restartInMs)
    member.toldReason = reason
    member.timer = setTimeout(() => {
      if (this.#isClosing) return
      member.restarts += 1
      // If the replacement ends before it is ready, this function runs again.
      this.#launch(member).catch(() => {})
    }, restartInMs)
  }
}

interface WorkerState {
  readonly worker: number
  readonly isReady: boolean
  readonly restarts: number
}

function supervisorMetrics(workers: readonly WorkerState[]): string {
  const figures: Record<keyof typeof SUPERVISOR_METRICS, (state: WorkerState) => number> = {
    gatehouse_worker_up: ({ isReady }) => (isReady ? 1 : 0),
    gatehouse_worker_restarts_total: ({ restarts }) => restarts,
  }
  return Object.entries(SUPERVISOR_METRICS)
    .flatMap(([name, { type, help }]) => [
      `# HELP ${name} ${help}.`,
      `# TYPE ${name} ${type}`,
      ...workers.map(
        (state) =>
          `${name}{worker="${state.worker}"} ` +
          `${figures[name as keyof typeof SUPERVISOR_METRICS](state)}`,
      ),
      '',
    ])
    .join('\n')
}

function refusedReloads(count: number): string {
  const name = 'gatehouse_config_reloads_refused_total'
  const { type, help } = METRICS[name]
  return `# HELP ${name} ${help}.\n# TYPE ${name} ${type}\n${name} ${count}\n`
}

// A worker that ended is replaced after a delay, unless every worker keeps failing.

/** A worker that ends sooner after its start probably fails for a lasting reason. */
const QUICK_MS = 10_000
const DELAYS = { firstMs: 200, longestMs: 10_000 }
/** This many consecutive quick failures of every worker take some seconds. */
const MOST_QUICK_FAILURES = 5

export class RestartSchedule {
  readonly #quickFailures: Map<number, number>
  readonly #random: () => number

  constructor(workers: readonly number[], random: () => number = Math.random) {
    this.#quickFailures = new Map(workers.map((worker) => [worker, 0]))
    this.#random = random
  }

  /**
   * Exponential with jitter, so that workers do not return to an overloaded database together.
   * @returns milliseconds to wait
   */
  ended(worker: number, livedMs: number): number {
    const failures = livedMs < QUICK_MS ? (this.#quickFailures.get(worker) ?? 0) + 1 : 0
    this.#quickFailures.set(worker, failures)
    return backoffMs(Math.max(0, failures - 1), DELAYS, this.#random)
  }

  get isHopeless(): boolean {
    return [...this.#quickFailures.values()].every((failures) => failures >= MOST_QUICK_FAILURES)
  }
}

interface WorkerEnd {
  readonly reason: string
  readonly isClean: boolean
}

interface WorkerProcess {
  readonly pid: number
  readonly ready: Promise<WorkerReady>
  readonly ended: Promise<WorkerEnd>
  render(): Promise<string | undefined>
  reload(): void
  end(): void
  kill(): void
}

interface WorkerCommand {
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly collect: () => Promise<string>
  /** Called with the ids of reloads of all nodes that the worker has begun. */
  readonly onReload: (ids: readonly string[]) => void
}

const RENDER_TIMEOUT_MS = 2_000

export function startWorkerProcess({
  command,
  environment,
  collect,
  onReload,
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
  // The caller awaits either promise, and an unhandled rejection would end the process.
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
      case 'reloading':
        onReload(message.ids)
        return
      case 'collect':
        void collect().then((text) => send({ type: 'collected', id: message.id, text }))
    }
  }

  function send(message: ToWorker): void {
    try {
      child.send(message)
    } catch {
      // The worker has ended, which is reported separately.
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
