/**
 * Checks periodically that the store is still the store of this process's start, and not an older
 * copy. The data folder remembers the latest change.
 */
import { systemClock } from '../../core/clock.ts'
import { StoreFileGoneError } from '../database/store-file-gone-error.ts'
import type { InstallationTableStore } from './installation.ts'
import {
  type RememberedInstallation,
  readInstallationFile,
  writeInstallationFile,
} from './installation-file.ts'

const LOOK_EVERY_MS = 2_000

/**
 * `other`: the store of another installation, or a new store. `gone`: the store's file was removed
 * or replaced.
 */
export type StoreStanding = 'ok' | 'other' | 'gone'

export interface SetBack {
  readonly from: number
  readonly to: number
  readonly noticedAt: number
}

export interface WatchInstallationOptions {
  readonly folder: string
  readonly installation: Pick<InstallationTableStore, 'read'>
  readonly joined: RememberedInstallation
  readonly assertThere: () => void
  readonly sync: () => Promise<void>
  readonly onStanding: (standing: StoreStanding) => void
  readonly onSetBack: (setBack: SetBack) => void
}

export class InstallationWatch {
  readonly #options: WatchInstallationOptions
  #remembered: RememberedInstallation
  #standing: StoreStanding = 'ok'
  #setBack: SetBack | undefined
  #setBacks = 0
  #lowest: number
  #looking: Promise<void> = Promise.resolve()
  readonly #endLooking: () => void

  constructor(options: WatchInstallationOptions) {
    this.#options = options
    this.#remembered = options.joined
    this.#lowest = options.joined.change
    this.#endLooking = systemClock.every(LOOK_EVERY_MS, () => void this.look())
  }

  get standing(): StoreStanding {
    return this.#standing
  }

  get setBacks(): number {
    return this.#setBacks
  }

  get setBack(): SetBack | undefined {
    return this.#setBack
  }

  /** Never rejects, because an unavailable store is reported elsewhere. */
  look(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#look()).catch(() => {})
    return this.#looking
  }

  /** Records a set-back that the follower of changes has noticed first. */
  noteSetBack(from: number, to: number): void {
    if (to >= this.#lowest && this.#setBack !== undefined && this.#setBack.to === to) return
    this.#setBacks += 1
    this.#setBack = { from, to, noticedAt: Date.now() }
    this.#lowest = to
    // Remembered, so that a later start on this store is stopped too.
    if (from > this.#remembered.change) this.#remember({ ...this.#remembered, change: from })
    this.#options.onSetBack(this.#setBack)
  }

  async close(): Promise<void> {
    this.#endLooking()
    await this.look()
  }

  async #look(): Promise<void> {
    const { folder, installation, joined, assertThere, sync } = this.#options
    try {
      assertThere()
    } catch (error) {
      if (!(error instanceof StoreFileGoneError)) throw error
      return this.#stand('gone')
    }
    const found = await installation.read()
    if (found?.id !== joined.id) return this.#stand('other')
    this.#stand('ok')
    if (found.change < this.#lowest) this.noteSetBack(this.#lowest, found.change)
    this.#lowest = found.change
    const { change, masterKeyId } = this.#remembered
    if (found.change <= change && found.masterKeyId === masterKeyId) return
    // The store must be durable before the folder records the store's change number.
    await sync()
    // Another worker may have recorded a higher number.
    const other = readInstallationFile(folder)?.change ?? 0
    this.#remember({ ...found, change: Math.max(change, found.change, other) })
  }

  #remember(remembered: RememberedInstallation): void {
    writeInstallationFile(this.#options.folder, remembered)
    this.#remembered = remembered
  }

  #stand(standing: StoreStanding): void {
    if (standing === this.#standing) return
    this.#standing = standing
    this.#options.onStanding(standing)
  }
}
