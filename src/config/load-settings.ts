import { fullGC } from 'bun:jsc'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join, resolve } from 'node:path'
import { NO_OVERLAY } from '../core/model-overlay.ts'
import { catalog } from '../providers/catalog.ts'
import type { SettingCheck } from './name-all-faults.ts'
import type { ConfigurationText } from './parse-configuration.ts'
import { readGiven } from './read-setting.ts'
import { FORGET_OPTION } from './remembered-configuration.ts'
import { type Environment, SettingsError } from './setting-type.ts'
import { readDataFolder, readSettings, type Settings } from './settings.ts'

const FILE_NAME = 'gatehouse.yaml'
/** Every text of the greatest length is shorter. A wrong file must not fill the memory. */
const MOST_BYTES = 32 * 1024 * 1024
/**
 * Reading 8 MB leaves 30 MB of garbage, which an idle process would keep for minutes. A reload has
 * replaced the previous entries by then, so they are collected too. A collection takes about 10 ms.
 */
const COLLECT_AFTER_MS = 1_000

/**
 * @param further checks by the settings' users
 * @throws SettingsError naming every wrong variable, or file and line
 */
export async function loadSettings(
  environment: Environment,
  further: readonly SettingCheck[] = [],
): Promise<Settings> {
  try {
    const settings = await load(environment)
    for (const check of further) check(environment)
    return settings
  } catch (error) {
    const { nameAllFaults } = await import('./name-all-faults.ts')
    throw nameAllFaults(error, environment, further)
  }
}

async function load(environment: Environment): Promise<Settings> {
  const file = await readConfigurationFile(environment)
  if (file === undefined) return readSettings(environment)
  // Imported on demand, so that a start without a file loads neither YAML nor zod.
  const { parseConfiguration } = await import('./parse-configuration.ts')
  const { isLarge } = await import('./large-list.ts')
  const parsing = parseConfiguration(file, catalog)
  const { providers, keysInFiles, plans, models, logLevel } = await parsing.finally(() => {
    if (isLarge(file.text)) setTimeout(fullGC, COLLECT_AFTER_MS).unref()
  })
  const isEmpty =
    providers.length === 0 &&
    Object.keys(plans ?? {}).length === 0 &&
    models === NO_OVERLAY &&
    logLevel === undefined
  return readSettings(environment, {
    providers: [...catalog, ...providers],
    keysInFiles,
    plans,
    models,
    logLevel,
    file: {
      path: file.path,
      digest: createHash('sha256').update(file.text).digest('hex'),
      isEmpty,
    },
  })
}

export function configurationPath(environment: Environment): string {
  const named = readGiven(environment, 'GATEHOUSE_CONFIG')
  return named === undefined ? join(readDataFolder(environment), FILE_NAME) : resolve(named)
}

export async function readConfigurationFile(
  environment: Environment,
): Promise<ConfigurationText | undefined> {
  const named = readGiven(environment, 'GATEHOUSE_CONFIG')
  const path = configurationPath(environment)
  try {
    return { path, text: await readStart(path) }
  } catch (thrown) {
    const code = String((thrown as { code?: unknown }).code)
    if (named === undefined && (code === 'ENOENT' || code === 'ENOTDIR')) return undefined
    const cure =
      named === undefined
        ? 'Make the file readable, or remove it from the data folder.'
        : 'GATEHOUSE_CONFIG must name a readable file. Restore it, or name another. If ' +
          `it was removed on purpose, remove the variable and start once with ${FORGET_OPTION}.`
    throw new SettingsError(`The configuration file ${path} cannot be read (${code}). ${cure}`)
  }
}

async function readStart(path: string): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of createReadStream(path, { end: MOST_BYTES - 1 }))
    pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString()
}
