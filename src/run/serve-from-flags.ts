import { CliError } from '../cli/cli-error.ts'
import type { ServeFlags } from '../cli/context.ts'
import { explainError } from '../cli/explain-error.ts'
import { loadSettings } from '../config/load-settings.ts'
import { assertNotLost } from '../config/remembered-configuration.ts'
import type { Environment } from '../config/setting-type.ts'
import { readDataFolder } from '../config/settings.ts'
import { assertUsable } from '../store/installation/data-folder.ts'
import { workerFolder } from '../store/installation/worker-folders.ts'
import { USERS_CHECKS } from './check-settings.ts'
import { hearSignals } from './hear-signals.ts'
import { openWorkerChannel, type WorkerChannel } from './worker-channel.ts'

export async function serveFromFlags(environment: Environment, flags: ServeFlags): Promise<void> {
  const given: Environment = {
    ...environment,
    ...(flags.host === undefined ? {} : { GATEHOUSE_HOST: flags.host }),
    ...(flags.port === undefined ? {} : { GATEHOUSE_PORT: String(flags.port) }),
    ...(flags.dataDir === undefined ? {} : { GATEHOUSE_DATA_DIR: flags.dataDir }),
    ...(flags.workers === undefined ? {} : { GATEHOUSE_WORKERS: flags.workers }),
  }
  hearSignals()
  const withSandbox = flags.sandbox === true
  if (flags.worker !== undefined) {
    const channel = openWorkerChannel(flags.worker, flags.firstWorker === true)
    if (channel === undefined)
      throw new CliError('usage', 'Workers are started by their supervisor. Use --workers.')
    return await serveAsWorker(given, channel, withSandbox)
  }
  // Checked first, because the configuration file may be in the data folder.
  assertUsable(readDataFolder(given))
  const readSettings = () => loadSettings(given, USERS_CHECKS)
  const settings = await readSettings()
  const isForgetting = flags.forgetConfig === true
  if (!isForgetting) assertNotLost(settings)
  if (settings.workers > 1) {
    const { serveWorkers } = await import('./serve-workers.ts')
    return await serveWorkers({
      ...{ settings, readSettings, environment: given },
      ...{ withSandbox, isForgetting },
    })
  }
  const { serve } = await import('./serve.ts')
  await serve({ settings, readSettings, withSandbox, isForgetting })
}

/** Reports a failed start to the supervisor, which prints the reason once. */
async function serveAsWorker(
  environment: Environment,
  channel: WorkerChannel,
  withSandbox: boolean,
): Promise<void> {
  try {
    const readSettings = async () => {
      const settings = await loadSettings(environment)
      return { ...settings, dataFolder: workerFolder(settings.homeFolder, channel.index) }
    }
    const settings = await readSettings()
    assertNotLost(settings)
    const { serve } = await import('./serve.ts')
    await serve({ settings, readSettings, withSandbox, isForgetting: false, channel })
  } catch (error) {
    channel.refuse(explainError(error instanceof Error ? error : new Error(String(error))))
    process.exit(1)
  }
}
