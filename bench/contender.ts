/** What stands between generator and upstream in a measurement. Each is a small file in contenders/. */
import type { PinnedProcess } from './pinned-process.ts'

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
}

export interface Contender {
  readonly name: string
  /** What is switched on, for the table's legend. */
  readonly does: string
  /** Load before anything is measured, until compilers have done their work. Default 3. */
  readonly warmUpSeconds?: number
  /** @returns undefined when it is not installed here */
  start(upstream: StartOptions): Promise<RunningContender | undefined>
}
