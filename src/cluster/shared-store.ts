/** The port of the limits to a store that all nodes share. Must not know which one it is. */
import type { SharingMode } from '../core/shared-stores.ts'

/** An atomic step. Touches only one key. */
export interface SharedScript {
  /** Letters only. */
  readonly name: string
  readonly lua: string
}

export interface SharedStore {
  readonly mode: SharingMode
  /** The id of this process: unique, and different at each start of a node. */
  readonly nodeId: string
  /** Nodes that were alive at the last check, including this one. */
  readonly nodes: number
  /**
   * @returns the script's answer, a flat list
   * @throws without an answer; the step may have been executed
   */
  run(
    script: SharedScript,
    key: string,
    args: readonly (string | number)[],
  ): Promise<readonly unknown[]>
}
