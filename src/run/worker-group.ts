/**
 * Keeps a number of workers running until it is asked to end them. Must not know what they serve.
 */

import { backoffMs } from '../core/retry-delay.ts'
import { METRICS, SUPERVISOR_METRICS } from '../telemetry/metric-list.ts'
import { mergeExpositions } from './merge-expositions.ts'
import type { WorkerReady } from './worker-messages.ts'
import type { WorkerEnd, WorkerProcess } from './worker-process.ts'

export interface WorkerGroupOptions {
  /** The indexes of the workers, which are those of their folders. */
  readonly workers: readonly number[]
  /** @param url where the others listen; undefined: this is the first of the run */
  readonly start: (index: number, url: string | undefined) => WorkerProcess
  readonly report: WorkerReport
  /** For metrics: the supervisor reads the configuration first. */
  readonly reloads: { readonly refused: number }
  /**
   * Every worker ends soon after its start, again and again: nothing serves, and nothing is tried
   * any more.
   */
  readonly onHopeless: (reason: string) => void
}

export interface WorkerReport {
  ended(worker: number, reason: string, restartInMs: number): void
  ready(worker: number, pid: number, restarts: number): void
}

interface Member {
  readonly index: number
  process: WorkerProcess | undefined
  isReady: boolean
  startedAtMs: number
  restarts: number
  /** Of an end that was logged, and is not logged again. */
  toldReason: string | undefined
  timer: ReturnType<typeof setTimeout> | undefined
}

export class WorkerGroup {
  readonly #options: WorkerGroupOptions
  readonly #members: readonly Member[]
  readonly #schedule: RestartSchedule
  #url: string | undefined
  #isOpen = false
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
   * The first worker alone, then all others: it finds the port, migrates the store and makes the
   * first key.
   * @returns what the first one said, when all are ready
   * @throws the reason of the first that ends before it is ready; all are killed then
   */
  async open(): Promise<WorkerReady> {
    const [first, ...others] = this.#members
    if (first === undefined) throw new Error('There have to be workers.')
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

  /** The metrics of all workers, and of their supervisor. */
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
   * Lets every worker finish what is open, and kills what has not ended after so long.
   * @returns whether all ended by themselves, in order
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

  /** Has every worker read its configuration again; one that starts meanwhile reads it anyway. */
  reload(): void {
    for (const { process } of this.#members) process?.reload()
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
      // A successor that ends before it is ready comes back here.
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

/** The metric of a single process, which no worker reports. */
function refusedReloads(count: number): string {
  const name = 'gatehouse_config_reloads_refused_total'
  const { type, help } = METRICS[name]
  return `# HELP ${name} ${help}.\n# TYPE ${name} ${type}\n${name} ${count}\n`
}

// A worker that ended has a successor after a while, unless there is no point in another.

/**
 * A worker that ends sooner than this after its start has failed quickly: whatever ended it is
 * still there, most likely.
 */
const QUICK_MS = 10_000
const DELAYS = { firstMs: 200, longestMs: 10_000 }
/** So many quick failures in a row of every worker are some seconds of trying. */
const MOST_QUICK_FAILURES = 5

export class RestartSchedule {
  /** In a row, by worker. */
  readonly #quickFailures: Map<number, number>
  readonly #random: () => number

  /** @param random uniform in [0, 1) */
  constructor(workers: readonly number[], random: () => number = Math.random) {
    this.#quickFailures = new Map(workers.map((worker) => [worker, 0]))
    this.#random = random
  }

  /**
   * Exponential, from half to the whole of the capped value, so that workers do not return to a
   * sick database together.
   * @returns milliseconds to wait
   */
  ended(worker: number, livedMs: number): number {
    const failures = livedMs < QUICK_MS ? (this.#quickFailures.get(worker) ?? 0) + 1 : 0
    this.#quickFailures.set(worker, failures)
    return backoffMs(Math.max(0, failures - 1), DELAYS, this.#random)
  }

  /** True where every worker has only failed quickly, again and again. */
  get isHopeless(): boolean {
    return [...this.#quickFailures.values()].every((failures) => failures >= MOST_QUICK_FAILURES)
  }
}
