/**
 * Reports all errors in the settings instead of only the first, so that an operator can correct
 * them together. Runs only after an error, so unused settings never prevent a start.
 */
import type { SettingFault } from '../core/configuration-report.ts'
import { catalog } from '../providers/catalog.ts'
import { readDatabaseSettings } from './database-settings.ts'
import { readMasterKeyVariables } from './master-key-variables.ts'
import { readProviderSettings } from './provider-settings.ts'
import { readGiven } from './read-setting.ts'
import { readRedisSettings } from './redis-settings.ts'
import { commandLineSettings } from './setting-table/process.ts'
import { openTelemetrySettings } from './setting-table/telemetry.ts'
import { SETTINGS, type SettingName } from './setting-table.ts'
import { type Environment, faultsOf, SettingsError } from './setting-type.ts'
import { readSettings } from './settings.ts'
import { readTelemetrySettings } from './telemetry-settings.ts'
import { readUserSettings } from './user-settings.ts'

export type SettingCheck = (environment: Environment) => unknown

export function nameAllFaults(
  first: unknown,
  environment: Environment,
  further: readonly SettingCheck[],
): unknown {
  if (!(first instanceof Error) || !isFault(first)) return first
  const faults = new Map<string, readonly SettingFault[]>([[first.message, faultsOf(first)]])
  for (const check of [...checksOf(environment), ...further]) {
    try {
      check(environment)
    } catch (error) {
      if (!(error instanceof Error) || !isFault(error)) return first
      faults.set(error.message, faultsOf(error))
    }
  }
  if (faults.size === 1) return first
  const lines = [...faults.keys()].map((message) => `- ${message}`)
  return new SettingsError(
    `${faults.size} settings are wrong:\n${lines.join('\n')}`,
    [...faults.values()].flat(),
  )
}

function isFault({ name }: Error): boolean {
  return /^(?:Settings|MasterKey|TrustedHosts|Proxies)Error$/.test(name)
}

function checksOf(environment: Environment): readonly SettingCheck[] {
  return [
    ...namesOf(environment).map((name) => () => readGiven(environment, name)),
    readDatabaseSettings,
    readRedisSettings,
    readUserSettings,
    readTelemetrySettings,
    readMasterKeyVariables,
    ...catalog.map((provider) => () => readProviderSettings(environment, [provider])),
    readSettings,
  ]
}

/**
 * OpenTelemetry's variables are often set for all programs of a machine, so they are checked only
 * when used.
 */
function namesOf(environment: Environment): readonly SettingName[] {
  const isExporting = Object.entries(environment).some(
    ([name, value]) => /^OTEL_EXPORTER_OTLP_.*ENDPOINT$/.test(name) && value,
  )
  const names = Object.keys(SETTINGS) as SettingName[]
  return names.filter(
    (name) =>
      !Object.hasOwn(commandLineSettings, name) &&
      (isExporting || !Object.hasOwn(openTelemetrySettings, name)),
  )
}
