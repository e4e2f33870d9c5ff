/**
 * The port of a contender: a program between load generator and upstream. Each contender is a file
 * in contenders/.
 */
import type { PinnedProcess } from './pinned-process.ts'
import type { Plan } from './plan.ts'

/**
 * Seconds of load before each measurement, until code is compiled. Portkey doubles its rate in its
 * first ten seconds, and Gatehouse's compilers yield to calls.
 */
export const WARM_UP_SECONDS = 12

export interface RunningContender {
  /** The address for chat completions. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The model name in the request body. */
  readonly model: string
  /** Undefined without a program between generator and upstream. */
  readonly process?: PinnedProcess
  /** Milliseconds from the start of the process to its first answer. */
  readonly startMs?: number
  stop(): Promise<void>
}

export interface StartOptions {
  /** The upstream's base address. */
  readonly url: string
  /** For the contender's files; removed after the run. */
  readonly folder: string
  /** True when the contender will relay streams. Some contenders need this setting. */
  readonly streams: boolean
  /** The file with the authority of the upstream's certificate. Undefined: plain HTTP. */
  readonly authority?: string
}

export interface Contender {
  readonly name: string
  /** The enabled features, for the table's legend. */
  readonly features: string
  /**
   * Answers so few calls that its turns must be longer. Such contenders run separately: while the
   * others wait, their runtimes would discard compiled code.
   */
  readonly isSlow?: true
  /** Removes measurements that would take too long or are irrelevant for this contender. */
  readonly narrow?: (plan: Plan) => Plan
  /**
   * Installs missing programs before the measurements.
   * @throws NotMeasured when a program is unavailable here
   */
  prepare?(): void
  /** @returns undefined when this contender was not requested */
  start(upstream: StartOptions): Promise<RunningContender | undefined>
}

/** The message is the reason, which the page shows. */
export class NotMeasured extends Error {}

/** Environment for a program on this runtime, which reads certificate authorities at its start. */
export function trusting(authority: string | undefined): Readonly<Record<string, string>> {
  return authority === undefined ? {} : { NODE_EXTRA_CA_CERTS: authority }
}
