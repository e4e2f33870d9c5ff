/** The port of the limits to a store that all nodes share. Must not know which one it is. */
import type { SharingMode } from '../core/shared-stores.ts'

/** A step that happens as a whole or not at all. All that it touches is in the one key. */
export interface SharedScript {
  /** Letters only. */
  readonly name: string
  readonly lua: string
}

export interface SharedStore {
  readonly mode: SharingMode
  /** The id of this process: never the same for two, not even for two starts of one node. */
  readonly nodeId: string
  /** Nodes that were alive when last asked, this one included. */
  readonly nodes: number
  /**
   * @returns the script's answer, a flat list
   * @throws when there was none: then the step was taken, or it was not
   */
  run(
    script: SharedScript,
    key: string,
    args: readonly (string | number)[],
  ): Promise<readonly unknown[]>
}
