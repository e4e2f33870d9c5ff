/** The port of the limits to a store that all nodes share. */
import type { SharingMode } from '../core/shared-stores.ts'

export interface SharedScript {
  readonly name: string
  readonly lua: string
}

export interface SharedStore {
  readonly mode: SharingMode
  /** The id of this process: unique, and different at each start of a node. */
  readonly nodeId: string
  readonly nodes: number
  /**
   * @returns the script's answer, a flat list
   * @throws without an answer; the script may have run
   */
  run(
    script: SharedScript,
    key: string,
    args: readonly (string | number)[],
  ): Promise<readonly unknown[]>
}
