import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { loadSettings } from '../config/load-settings.ts'
import { findMasterKeys, masterKeyPath } from '../config/master-key.ts'
import { describeCure, findMasterKeyExposure } from '../config/master-key-file.ts'
import { MasterKeyError } from '../config/master-key-variables.ts'
import {
  FORGET_OPTION,
  type RememberedConfiguration,
  readRemembered,
  setsSomething,
} from '../config/remembered-configuration.ts'
import { type Environment, SettingsError } from '../config/setting-type.ts'
import { readDataFolder, type Settings } from '../config/settings.ts'
import type { SharedSettings } from '../config/shared-settings.ts'
import { objectionToWorkers } from '../config/worker-settings.ts'
import type { Finding } from '../core/finding.ts'
import { Secret } from '../core/secret.ts'
import { createVault } from '../core/vault.ts'
import { sandboxAddresses } from '../providers/sandbox.ts'
import { locateStore, type StoreLocation } from '../store/database/open-database.ts'
import { readServerInfo } from '../store/installation/data-folder.ts'
import { listWorkerFolders, workerFolder } from '../store/installation/worker-folders.ts'
import { SealedRows } from '../store/sealed-rows.ts'
import { checkAccounts, checkGates, checkPlans, checkUnpricedPlans } from './check-accounts.ts'
import { checkDatabase, checkPostgres, type ExaminedDatabase } from './check-database.ts'
import {
  checkDataFolder,
  checkJournal,
  checkPort,
  checkRuntime,
  checkVariables,
} from './check-machine.ts'
import { checkProviders } from './check-providers.ts'
import { checkServer, type ExaminedServer } from './check-server.ts'
import { codeOf, findingsOf, guard, messageOf } from './finding.ts'

export interface ExamineOptions {
  readonly environment: Environment
  readonly version: string
  readonly pinnedRuntime: string
  readonly openFiles: number | undefined
}

export async function examine(options: ExamineOptions): Promise<readonly Finding[]> {
  const { environment, version, pinnedRuntime, openFiles } = options
  const folder = readDataFolder(environment)
  const holder = findHolder(folder)
  const url = environment.GATEHOUSE_URL || holder
  const runtime = { version: process.versions.bun, pinnedVersion: pinnedRuntime, openFiles }
  const findings = [...checkVariables(environment), ...checkRuntime(runtime)]
  const server: ExaminedServer =
    url === undefined
      ? { findings: [] }
      : await checkServer({
          url,
          apiKey: environment.GATEHOUSE_API_KEY,
          metricsToken: metricsTokenOf(environment),
          version,
        })
  findings.push(...server.findings)
  // A command that talks to a remote server has neither its data folder nor the providers' keys.
  const isServersMachine =
    !environment.GATEHOUSE_URL ||
    Boolean(environment.DATABASE_URL) ||
    existsSync(join(folder, 'gatehouse.db'))
  if (!isServersMachine) {
    findings.push(
      ...checkGatesOf(server),
      findingsOf('machine').ok(
        "this is not the server's: run it there too, for its data folder and its providers",
      ),
    )
    return findings
  }
  return [...findings, ...(await examineMachine(options, { folder, holder, server }))]
}

function metricsTokenOf({ GATEHOUSE_METRICS_TOKEN: token }: Environment): Secret | undefined {
  return token === undefined || token === '' ? undefined : new Secret(token)
}

interface Machine {
  readonly folder: string
  readonly holder: string | undefined
  readonly server: ExaminedServer
}

async function examineMachine(
  { environment }: ExamineOptions,
  { folder, holder, server }: Machine,
): Promise<Finding[]> {
  const findings: Finding[] = []
  const add = async (check: string, examination: () => Promise<Finding[]> | Finding[]) => {
    const outcome = await guard(check, examination)
    findings.push(...('found' in outcome ? outcome.found : [outcome.broken]))
  }
  const settings = await readAllSettings(environment, findings)
  const state = { isServing: holder !== undefined, nowMs: Date.now() }
  await add('data folder', () => checkDataFolder(folder))
  const nodes = [folder, ...listWorkerFolders(folder).map((index) => workerFolder(folder, index))]
  const journals = nodes.map((node) => join(node, 'journal'))
  await add('journal', () => checkJournal(journals, state))
  // The invalid setting may be unrelated to the database, so the database of the data folder is
  // checked.
  const given = settings ?? { dataFolder: folder, database: undefined }
  const isLocated = settings !== undefined || !environment.DATABASE_URL
  const database = isLocated
    ? await examineDatabase(locateStore(given), settings?.shared, findings)
    : UNEXAMINED
  if (settings !== undefined) {
    await add('settings', () =>
      checkConfigurationFile(settings, readRemembered(folder), state.isServing),
    )
    findings.push(...checkAccounts(settings))
    findings.push(...checkUnpricedPlans(settings.plans))
    findings.push(...checkPlans(settings.plans, settings.users.signUp === 'open'))
    const objection = objectionToWorkers(settings)
    if (objection !== undefined)
      findings.push(findingsOf('workers').fail(objection.reason, objection.cure))
    await add('master key', () => checkMasterKey(settings, database.gates !== undefined))
    if (holder === undefined && settings.port !== 0) await add('port', () => checkPort(settings))
    const asked = await checkProviders(settings, environment)
    findings.push(...asked)
    if (asked.length === 0 && server.configured === undefined) findings.push(NO_PROVIDER)
  }
  if (server.gates !== undefined) {
    findings.push(
      ...checkGatesOf(server),
      // Only a local server is compared, because other servers may have different keys on purpose.
      ...(settings === undefined || holder === undefined ? [] : checkAgreement(settings, server)),
    )
  } else if (holder === undefined && settings !== undefined && database.gates !== undefined) {
    // A running server has its own variables, so the variables of this command do not show which
    // providers the server can reach.
    const mountable = sandboxAddresses('')
    const configured = new Map(
      settings.providers.map(({ id }) => [id, isConfigured(settings, id) || mountable.has(id)]),
    )
    const withoutAddress = new Set(
      settings.providers
        .filter(({ id }) => !hasAddress(settings, id) && !mountable.has(id))
        .map(({ id }) => id),
    )
    findings.push(
      ...checkGates(database.gates, { configured, withoutAddress, ownKeys: database.ownKeys }),
    )
  }
  return findings
}

const UNEXAMINED: ExaminedDatabase = { findings: [], gates: undefined, ownKeys: new Set() }

async function examineDatabase(
  location: StoreLocation,
  shared: SharedSettings | undefined,
  findings: Finding[],
): Promise<ExaminedDatabase> {
  const outcome = await guard('database', () =>
    'path' in location ? checkDatabase(location.path) : checkPostgres(location, shared),
  )
  if ('found' in outcome) {
    findings.push(...outcome.found.findings)
    return outcome.found
  }
  findings.push(outcome.broken)
  return UNEXAMINED
}

const ofProvider = findingsOf('provider')
const NO_PROVIDER = ofProvider.warn(
  'no provider has a key here',
  "Set <PROVIDER>_API_KEY in the server's environment, or: gatehouse " +
    'provider-keys set PROVIDER',
)

function checkGatesOf({ gates, configured, withoutAddress, ownKeys }: ExaminedServer): Finding[] {
  if (!gates || !configured || !withoutAddress || !ownKeys) return []
  const ready = [...configured].filter(([, isReady]) => isReady).map(([id]) => id)
  const finding: Finding =
    ready.length === 0
      ? { ...NO_PROVIDER, message: 'the server has no key for any provider' }
      : ofProvider.ok(`the server has keys for ${ready.join(', ')}`)
  return [finding, ...checkGates(gates, { configured, withoutAddress, ownKeys })]
}

/**
 * A setting that only this command has was set after the server's start, or never reached the
 * server.
 */
function checkAgreement(settings: Settings, { configured }: ExaminedServer): Finding[] {
  const missing = settings.providers
    .filter(({ id }) => isConfigured(settings, id) && configured?.get(id) === false)
    .map(({ id }) => id)
  if (missing.length === 0) return []
  return [
    ofProvider.warn(
      `the running server has no key for ${missing.join(', ')}, though there is one here`,
      'Restart it with these variables; it reads them at its start',
    ),
  ]
}

function isConfigured(settings: Settings, id: string): boolean {
  return settings.providerKeys.has(id) && hasAddress(settings, id)
}

function hasAddress({ providers, providerBaseUrls }: Settings, id: string): boolean {
  const provider = providers.find((candidate) => candidate.id === id)
  return providerBaseUrls.has(id) || provider?.baseUrl !== undefined
}

async function readAllSettings(
  environment: Environment,
  findings: Finding[],
): Promise<Settings | undefined> {
  try {
    const settings = await loadSettings(environment)
    findings.push(findingsOf('settings').ok('every variable and the configuration file are valid'))
    return settings
  } catch (error) {
    if (!(error instanceof SettingsError || error instanceof MasterKeyError)) throw error
    const cure = 'Correct it: gatehouse serve --help says how each setting has to be'
    findings.push(findingsOf('settings').fail(messageOf(error), cure))
    return undefined
  }
}

function checkConfigurationFile(
  { configurationFile: file }: Settings,
  remembered: RememberedConfiguration | undefined,
  isServing: boolean,
): Finding[] {
  if (remembered === undefined) return []
  const { fail, warn } = findingsOf('settings')
  const path = remembered.path ?? 'that the server had'
  if (!setsSomething(file))
    return [
      fail(
        `the configuration file ${path} is gone or empty, or GATEHOUSE_CONFIG is not set here as ` +
          'it is for the server: a start would stop',
        `Put it back, or start once with ${FORGET_OPTION}`,
      ),
    ]
  if (!isServing || file.digest === remembered.digest) return []
  return [
    warn(
      `the configuration file ${file.path} was changed after the server read it`,
      'Have every node read it: gatehouse reload; or this one: SIGHUP (systemctl reload)',
    ),
  ]
}

async function checkMasterKey(settings: Settings, isReadable: boolean): Promise<Finding[]> {
  const check = 'master key'
  try {
    const keys = findMasterKeys(settings)
    const exposed = checkExposure(settings)
    const rows = isReadable ? await SealedRows.open(locateStore(settings)) : undefined
    const tallies = (await rows?.tally(keys === undefined ? undefined : createVault(keys))) ?? []
    await rows?.close()
    const unopened = tallies.reduce((sum, tally) => sum + tally.unopened, 0)
    if (unopened > 0)
      return [
        findingsOf(check).fail(
          `${unopened} stored credentials cannot be decrypted with the master key that is here`,
          'Give back the right one, or set those credentials again; gatehouse master-key ' +
            'status counts them',
        ),
      ]
    if (keys === undefined && settings.database !== undefined)
      return [
        findingsOf(check).warn(
          'there is none yet, so calls count for members only, and not for users of applications, ' +
            'sessions and tags',
          'Set GATEHOUSE_MASTER_KEY to the same value on every node: openssl rand -hex 32',
        ),
      ]
    const where =
      settings.masterKeys.current === undefined ? 'in the data folder' : 'in GATEHOUSE_MASTER_KEY'
    const message =
      keys === undefined
        ? 'there is none yet; it is created with the first credential'
        : `${where}, and it opens everything`
    return [...exposed, findingsOf(check).ok(message)]
  } catch (error) {
    return [
      findingsOf(check).fail(
        error instanceof MasterKeyError ? messageOf(error) : `it cannot be read (${codeOf(error)})`,
        'Restore it from its copy, and keep it readable by the user that serves',
      ),
    ]
  }
}

/** A start makes its own file private, and stops for a foreign file that everyone can read. */
function checkExposure({ masterKeys, dataFolder }: Settings): Finding[] {
  if (masterKeys.current !== undefined) return []
  const exposure = findMasterKeyExposure(masterKeyPath(dataFolder))
  if (exposure === undefined) return []
  const { path, mode, type } = exposure
  const { fail, warn } = findingsOf('master key')
  if (type === 'everybody')
    return [fail(`everybody may read ${path} (mode ${mode})`, describeCure(exposure))]
  return [warn(`others than its owner may read ${path} (mode ${mode})`, describeCure(exposure))]
}

function findHolder(folder: string): string | undefined {
  const info = readServerInfo(folder)
  if (info === undefined) return undefined
  try {
    process.kill(info.pid, 0)
  } catch (error) {
    // The process exists, but belongs to another user.
    if (codeOf(error) !== 'EPERM') return undefined
  }
  return info.url
}
