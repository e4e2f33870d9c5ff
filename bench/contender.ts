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

export interface Contender {
  readonly name: string
  /** What is switched on, for the table's legend. */
  readonly does: string
  /** @returns undefined when it is not installed here */
  start(upstream: {
    readonly url: string
    readonly folder: string
    readonly streams: boolean
  }): Promise<RunningContender | undefined>
}
