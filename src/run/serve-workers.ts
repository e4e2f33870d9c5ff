/**
 * `gatehouse serve --workers N`: the supervisor of N processes that serve on one port. Each worker
 * is a node like nodes on other machines (docs/decisions/0020).
 */
import packageJson from '../../package.json' with { type: 'json' }
import { type Environment, SettingsError } from '../config/setting-type.ts'
import type { Settings } from '../config/settings.ts'
import { objectionToWorkers } from '../config/worker-settings.ts'
import { Secret } from '../core/secret.ts'
import { type Listener, listen } from '../net/listen.ts'
import { sandbox as sandboxProvider } from '../providers/sandbox.ts'
import { type Sandbox, startSandbox } from '../sandbox/start-sandbox.ts'
import { describeStore, locateStore } from '../store/database/open-database.ts'
import {
  type DataFolderLock,
  lockDataFolder,
  writeServerInfo,
} from '../store/installation/data-folder.ts'
import { createLog, type Log } from '../telemetry/log.ts'
import { createMetricsEndpoint } from '../telemetry/metrics.ts'
import { adoptionReport, claimWorkerFolders } from './claim-folders.ts'
import { obeySignals } from './hear-signals.ts'
import { listenForMetrics } from './listen-for-metrics.ts'
import { ownCommand } from './prepare-process.ts'
import { ConfigurationReload, noteConfiguration } from './reload-configuration.ts'
import { folderToAdd, welcome } from './welcome.ts'
import { startWorkerProcess, WorkerGroup } from './worker-group.ts'

export interface ServeWorkersOptions {
  readonly settings: Settings
  readonly readSettings: () => Promise<Settings>
  readonly environment: Environment
  readonly withSandbox: boolean
  readonly isForgetting: boolean
}

export async function serveWorkers({
  settings,
  readSettings,
  environment,
  withSandbox,
  isForgetting,
}: ServeWorkersOptions): Promise<void> {
  const objection = objectionToWorkers(settings)
  if (objection !== undefined) throw new SettingsError(`${objection.reason}. ${objection.cure}.`)
  const log = createLog(settings.logLevel)
  for (const name of settings.unknownVariables)
    log.warn({ name }, 'unknown setting: is it misspelt?')
  const parts: Parts = { settings, log, lock: lockDataFolder(settings.dataFolder) }
  const reload = new ConfigurationReload({
    ...{ log, settings, read: readSettings, ownsFolder: true },
    // The supervisor serves nothing itself.
    apply: () => {},
  })
  try {
    await assertPortFree(settings)
    // Noted before the workers start, because they look for the recorded file.
    noteConfiguration(settings, log, isForgetting)
    const sandboxUrl = settings.providerBaseUrls.get(sandboxProvider.id)
    if (withSandbox && sandboxUrl === undefined) parts.sandbox = startSandbox()
    const group: WorkerGroup = new WorkerGroup({
      workers: claimWorkerFolders(settings.dataFolder, settings.workers, adoptionReport(log)),
      start: (index, url) =>
        startWorkerProcess({
          command: [
            ...ownCommand(),
            ...workerArguments(index, { isFirst: url === undefined, withSandbox }),
          ],
          environment: {
            ...environment,
            ...(url === undefined ? {} : { GATEHOUSE_PORT: new URL(url).port }),
            ...(parts.sandbox === undefined ? {} : { SANDBOX_BASE_URL: parts.sandbox.url }),
          },
          collect: () => group.collect(),
          onReload: (ids) => group.follow(ids),
        }),
      reloads: reload,
      // The workers read the file by themselves; this process records it in the data folder.
      onReload: () => void reload.run(),
      report: {
        ready: (worker, pid, restarts) => log.info({ worker, pid, restarts }, 'worker is ready'),
        ended: (worker, reason, restartInMs) =>
          log.error({ worker, reason, restartInMs }, 'a worker ended and is restarted'),
      },
      onHopeless(reason) {
        log.error(
          { reason },
          'every worker ends soon after its start: no worker serves, so the supervisor ends',
        )
        process.stderr.write(`gatehouse: every worker ends soon after its start: ${reason}\n`)
        void close(parts).finally(() => process.exit(1))
      },
    })
    const { url, firstKey } = await group.open()
    parts.group = group
    const answer = createMetricsEndpoint(settings.telemetry.metrics?.token, () => group.collect())
    parts.metrics = listenForMetrics(answer, settings, log)
    writeServerInfo(settings.dataFolder, { pid: process.pid, url })
    obeySignals({
      end: endOnSignal(parts),
      reload: () => void reload.run().then(({ faults }) => faults.length > 0 || group.reload()),
    })
    const store = describeStore(locateStore(settings))
    const { dataFolder, workers } = settings
    log.info({ url, version: packageJson.version, dataFolder, store, workers }, 'ready')
    process.stdout.write(
      welcome(url, {
        firstKey: firstKey === null ? undefined : new Secret(firstKey),
        withSandbox,
        commandFolder: folderToAdd(),
      }),
    )
  } catch (error) {
    await close(parts)
    throw error
  }
}

interface Parts {
  readonly settings: Settings
  readonly log: Log
  readonly lock: DataFolderLock
  sandbox?: Sandbox
  group?: WorkerGroup
  metrics?: Listener | undefined
}

/**
 * Workers share their port with any process that requests it: without this check a second
 * supervisor would get half of the connections.
 */
async function assertPortFree({ host, port }: Settings): Promise<void> {
  if (port === 0) return
  const probe = listen({ host, port }, () => Promise.resolve(new Response(null, { status: 503 })))
  await probe.stop()
}

function workerArguments(
  index: number,
  { isFirst, withSandbox }: { readonly isFirst: boolean; readonly withSandbox: boolean },
): readonly string[] {
  return [
    'serve',
    ...(withSandbox ? ['--sandbox'] : []),
    ...['--worker', String(index)],
    ...(isFirst ? ['--first-worker'] : []),
  ]
}

/** The first signal ends all workers gracefully, the second immediately. */
function endOnSignal(parts: Parts): (signal: NodeJS.Signals) => void {
  const { log, group } = parts
  let isEnding = false
  return (signal) => {
    if (isEnding) {
      group?.kill()
      process.exit(1)
    }
    isEnding = true
    log.info({ signal }, 'shutting down: open calls are finished first')
    close(parts).then(
      (isClean) => process.exit(isClean ? 0 : 1),
      (error) => {
        log.error({ err: error }, 'could not shut down cleanly')
        process.exit(1)
      },
    )
  }
}

/**
 * Extra time for a worker after the limit for open calls, to notify interrupted streams and write
 * remaining records.
 */
const FLUSH_MS = 15_000

async function close({ settings, lock, sandbox, group, metrics }: Parts): Promise<boolean> {
  const isClean = (await group?.close(settings.shutdownTimeoutMs + FLUSH_MS)) ?? true
  await metrics?.stop()
  await sandbox?.stop()
  lock.release()
  return isClean
}
