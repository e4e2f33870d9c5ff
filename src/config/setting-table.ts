/**
 * The table of all settings. The reader, `--help`, the settings page, the schema of the Helm values
 * and `doctor` are derived from this table (docs/decisions/0031).
 */
import { clientSettings, limitSettings } from './setting-table/clients.ts'
import { ledgerSettings } from './setting-table/ledger.ts'
import { commandLineSettings, processSettings } from './setting-table/process.ts'
import { redisSettings, storeSettings } from './setting-table/store.ts'
import { openTelemetrySettings, telemetrySettings } from './setting-table/telemetry.ts'
import { upstreamSettings } from './setting-table/upstreams.ts'
import { userSettings } from './setting-table/users.ts'
import type { Environment, Setting, ValueOf } from './setting-type.ts'

export const SETTINGS = {
  ...processSettings,
  ...storeSettings,
  ...redisSettings,
  ...limitSettings,
  ...clientSettings,
  ...upstreamSettings,
  ...ledgerSettings,
  ...userSettings,
  ...telemetrySettings,
  ...openTelemetrySettings,
  ...commandLineSettings,
}

export type SettingName = keyof typeof SETTINGS

export type SettingValue<Name extends SettingName> = ValueOf<(typeof SETTINGS)[Name]['type']>

export interface Subject {
  readonly title: string
  readonly settings: Readonly<Record<string, Setting>>
}

export const SERVER_SUBJECTS: readonly Subject[] = [
  { title: 'Process', settings: processSettings },
  { title: 'Store', settings: storeSettings },
  { title: 'Redis', settings: redisSettings },
  { title: 'Limits', settings: limitSettings },
  { title: 'Clients', settings: clientSettings },
  { title: 'Upstreams', settings: upstreamSettings },
  { title: 'Log of calls', settings: ledgerSettings },
  { title: 'Users', settings: userSettings },
  { title: 'Metrics and access log', settings: telemetrySettings },
  { title: 'OpenTelemetry', settings: openTelemetrySettings },
]

export const COMMAND_LINE_SUBJECT: Subject = {
  title: 'Command line',
  settings: commandLineSettings,
}

export function unknownVariables(environment: Environment): readonly string[] {
  return Object.keys(environment).filter(
    (name) => name.startsWith('GATEHOUSE_') && !Object.hasOwn(SETTINGS, name),
  )
}
