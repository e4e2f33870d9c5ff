/**
 * Reloads a running process's configuration file: applies all of it, or nothing when any part is
 * invalid. Must not know what triggers it.
 */

import {
  assertStillThere,
  FORGET_OPTION,
  rememberConfiguration,
  setsSomething,
} from '../config/remembered-configuration.ts'
import { faultsOf } from '../config/setting-type.ts'
import type { Settings } from '../config/settings.ts'
import type { ConfigurationReport } from '../core/configuration-report.ts'
import type { LeveledLog, Log } from '../telemetry/log.ts'

export interface ReloadParts {
  readonly log: LeveledLog
  readonly settings: Settings
  readonly read: () => Promise<Settings>
  /**
   * Applies the settings to everything that begins from now on. Must not fail.
   * @param changed as in the report
   */
  readonly apply: (next: Settings, changed: readonly string[]) => void
  readonly ownsFolder: boolean
}

/**
 * Called between reading and applying: if it fails, nothing is applied.
 * @param next digest of the file that was read; null: there is none, or it is invalid
 */
export type RecordReload = (inForce: string | null, next: string | null) => Promise<void>

export class ConfigurationReload {
  readonly #parts: ReloadParts
  #settings: Settings
  #report: ConfigurationReport
  #refused = 0
  #turn: Promise<unknown> = Promise.resolve()

  constructor(parts: ReloadParts) {
    this.#parts = parts
    this.#settings = parts.settings
    const digest = digestOf(parts.settings)
    this.#report = { digest, faults: [], changed: [], needsRestart: [] }
  }

  /** The settings in force. */
  get settings(): Settings {
    return this.#settings
  }

  /** The result of the latest reload, or of the start. */
  get report(): ConfigurationReport {
    return this.#report
  }

  /** Failed reloads since the start. */
  get refused(): number {
    return this.#refused
  }

  /** Runs one at a time. @throws only errors of `record` */
  run(record?: RecordReload): Promise<ConfigurationReport> {
    const next = this.#turn.then(() => this.#reload(record))
    this.#turn = next.catch(() => {})
    return next
  }

  async #reload(record: RecordReload | undefined): Promise<ConfigurationReport> {
    const { read, log } = this.#parts
    let next: Settings
    try {
      next = await read()
      assertStillThere(this.#settings.configurationFile, next.configurationFile)
    } catch (error) {
      await record?.(digestOf(this.#settings), null)
      this.#refused += 1
      this.#report = {
        digest: digestOf(this.#settings),
        faults: faultsOf(error),
        changed: [],
        needsRestart: [],
      }
      log.error(
        { reason: error instanceof Error ? error.message : String(error) },
        'the configuration was not reloaded: nothing has changed',
      )
      return this.#report
    }
    await record?.(digestOf(this.#settings), digestOf(next))
    return this.#apply(next)
  }

  #apply(read: Settings): ConfigurationReport {
    const { settings: started, log, apply, ownsFolder } = this.#parts
    const before = this.#settings
    const { models } = started
    const areModelsSame = read.models.current.equals(models.current)
    if (!areModelsSame) models.replace(read.models.current)
    const next = { ...read, models }
    const changed = [
      ...(isSame(next.plans, before.plans) ? [] : ['plans']),
      ...(next.logLevel === before.logLevel ? [] : ['logLevel']),
      ...(areModelsSame ? [] : ['models']),
      ...(isSame(addressesOf(next), addressesOf(before)) ? [] : ['addresses']),
      ...(isSame(keysOf(next), keysOf(before)) ? [] : ['keys']),
    ]
    const needsRestart = providersThatDiffer(started, next).map((id) => `providers.${id}`)
    apply(next, changed)
    log.level = next.logLevel
    this.#settings = next
    this.#report = { digest: digestOf(next), faults: [], changed, needsRestart }
    if (ownsFolder && setsSomething(next.configurationFile)) noteConfiguration(next, log)
    log.info({ taken: changed, waitsForRestart: needsRestart }, 'the configuration was reloaded')
    return this.#report
  }
}

function digestOf({ configurationFile }: Settings): string | null {
  return configurationFile?.digest ?? null
}

function addressesOf({ providers, providerBaseUrls }: Settings): ReadonlyMap<string, unknown> {
  return new Map(providers.map(({ id, baseUrl }) => [id, providerBaseUrls.get(id) ?? baseUrl]))
}

function keysOf({ providerKeys }: Settings): ReadonlyMap<string, string> {
  return new Map(Array.from(providerKeys, ([id, secret]) => [id, secret.reveal()]))
}

/** Ids of providers that were added or removed, or differ in more than address and key. */
function providersThatDiffer(started: Settings, next: Settings): readonly string[] {
  const definitionsOf = ({ providers }: Settings) =>
    new Map(
      providers.map((provider) => [
        provider.id,
        { ...provider, baseUrl: undefined, keyVariable: undefined },
      ]),
    )
  const [before, after] = [definitionsOf(started), definitionsOf(next)]
  const ids = new Set([...before.keys(), ...after.keys()])
  return [...ids].filter((id) => !isSame(before.get(id), after.get(id)))
}

function isSame(one: unknown, other: unknown): boolean {
  return Bun.deepEquals(one, other)
}

export function noteConfiguration(
  settings: Settings,
  log: Pick<Log, 'warn'>,
  isForgetting = false,
): void {
  if (isForgetting && setsSomething(settings.configurationFile))
    log.warn(
      { path: settings.configurationFile.path },
      `${FORGET_OPTION} has no effect: the configuration file exists. Remove the option ` +
        'now, or no later start will notice when the file is lost',
    )
  try {
    rememberConfiguration(settings)
  } catch (error) {
    log.warn(
      { err: error },
      'the data folder could not record the configuration file: if it is lost, the next start ' +
        'will not notice',
    )
  }
}
