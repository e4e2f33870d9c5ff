/**
 * Rereads a running server's configuration file: it takes over plans and the log level. Everything
 * else says that it waits for a restart. It must not know what triggers that.
 */
import type { Gatehouse } from '../compose/compose.ts'
import type { Settings } from '../config/settings.ts'
import type { LeveledLog } from '../telemetry/log.ts'

export interface ReloadParts {
  readonly log: LeveledLog
  /** The settings in force at the start. */
  readonly settings: Settings
  /** Reads everything anew, and throws at what is wrong. */
  readonly read: () => Promise<Settings>
  /** Undefined in a supervisor, which serves nothing itself. */
  readonly gatehouse: Pick<Gatehouse, 'replacePlans'> | undefined
}

/**
 * @returns what is called at each order to read it again: one after the other, never rejects.
 * Resolves with whether the file could be read
 */
export function createReload({
  log,
  settings,
  read,
  gatehouse,
}: ReloadParts): () => Promise<boolean> {
  let current = settings
  let turn: Promise<unknown> = Promise.resolve()

  async function reload(): Promise<boolean> {
    let next: Settings
    try {
      next = await read()
    } catch (error) {
      log.error(
        { reason: error instanceof Error ? error.message : String(error) },
        'the configuration was not read again: nothing has changed',
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
    log.info({ taken, waitsForRestart: waits }, 'the configuration was read again')
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
