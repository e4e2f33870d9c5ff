/**
 * What stands between generator and upstream in a measurement. Each is a small file in contenders/.
 */
import type { PinnedProcess } from './pinned-process.ts'
import type { Plan } from './plan.ts'

/**
 * Load before anything is measured, until compilers have done their work: Portkey doubles its rate
 * in its first ten seconds, and Gatehouse's compilers yield to calls.
 */
export const WARM_UP_SECONDS = 12

export interface RunningContender {
  /** Where the generator sends a chat completion. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The model name that the body has to carry. */
  readonly model: string
  /** Absent when there is nothing in between. */
  readonly process?: PinnedProcess
  /** From being started to its first answer, in milliseconds. */
  readonly startMs?: number
  stop(): Promise<void>
}

export interface StartOptions {
  /** The upstream's base address. */
  readonly url: string
  /** For its files; removed after the run. */
  readonly folder: string
  /** Whether it will relay streams, for those that have to be told. */
  readonly streams: boolean
  /**
   * The file with the certificate that the upstream's own comes from; absent where it speaks plain
   * HTTP.
   */
  readonly authority?: string
}

export interface Contender {
  readonly name: string
  /** What is switched on, for the table's legend. */
  readonly does: string
  /**
   * It answers so few calls that a turn has to be longer: the others would wait for it until their
   * runtimes throw their compiled code away.
   */
  readonly isSlow?: true
  /** Leaves out what it cannot do in a time that anybody would wait, and what nobody asks of it. */
  readonly narrow?: (plan: Plan) => Plan
  /**
   * Installs what is missing, before anything is measured.
   * @throws NotMeasured when it cannot be had here
   */
  prepare?(): void
  /** @returns undefined when nobody asked for it */
  start(upstream: StartOptions): Promise<RunningContender | undefined>
}

/** Its message is the reason, which the page prints. */
export class NotMeasured extends Error {}

/** For the environment of a program on this runtime: it reads its authorities when it starts. */
export function trusting(authority: string | undefined): Readonly<Record<string, string>> {
  return authority === undefined ? {} : { NODE_EXTRA_CA_CERTS: authority }
}
