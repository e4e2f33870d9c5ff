/**
 * Reloads a running server's configuration file: applies plans and the log level, and reports that
 * everything else needs a restart.
 */

import {
  assertStillThere,
  FORGET_OPTION,
  rememberConfiguration,
  setsSomething,
} from '../config/remembered-configuration.ts'
import type { Settings } from '../config/settings.ts'
import type { LeveledLog, Log } from '../telemetry/log.ts'
import type { Gatehouse } from './compose.ts'

export interface ReloadParts {
  readonly log: LeveledLog
  readonly settings: Settings
  readonly read: () => Promise<Settings>
  readonly gatehouse: Pick<Gatehouse, 'replacePlans'> | undefined
  readonly ownsFolder: boolean
  readonly count: ReloadCount
}

export interface ReloadCount {
  refused: number
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

export function createReload({
  log,
  settings,
  read,
  gatehouse,
  ownsFolder,
  count,
}: ReloadParts): () => Promise<boolean> {
  let current = settings
  let turn: Promise<unknown> = Promise.resolve()

  async function reload(): Promise<boolean> {
    let next: Settings
    try {
      next = await read()
      assertStillThere(current.configurationFile, next.configurationFile)
    } catch (error) {
      count.refused += 1
      log.error(
        { reason: error instanceof Error ? error.message : String(error) },
        'the configuration was not reloaded: nothing has changed',
      )
      return false
    }
    const taken = [
      ...(isSame(next.plans, current.plans) ? [] : ['plans']),
      ...(next.logLevel === current.logLevel ? [] : ['logLevel']),
    ]
    const waits = isSame(next.providers, settings.providers) ? [] : ['providers']
    gatehouse?.replacePlans(next.plans)
    log.level = next.logLevel
    current = next
    if (ownsFolder && setsSomething(next.configurationFile)) noteConfiguration(next, log)
    log.info({ taken, waitsForRestart: waits }, 'the configuration was reloaded')
    return true
  }

  return () => {
    const next = turn.then(reload)
    turn = next
    return next
  }
}

function isSame(one: unknown, other: unknown): boolean {
  return Bun.deepEquals(one, other)
}
