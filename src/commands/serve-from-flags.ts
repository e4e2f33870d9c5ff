/**
 * `gatehouse serve`: reads what the operator has set, and loads what then serves: one process, a
 * worker or a supervisor of workers.
 */
import { CliError } from '../cli/cli-error.ts'
import type { ServeFlags } from '../cli/context.ts'
import { explainError } from '../cli/explain-error.ts'
import type { Environment } from '../config/environment.ts'
import { loadSettings } from '../config/load-settings.ts'
import { hearSignals } from '../process/hear-signals.ts'
import { workerFolder } from '../store/installation/worker-folders.ts'
import { takeWorkerSeat, type WorkerSeat } from '../workers/worker-seat.ts'

/** Options of the command line stand in for the variables they are named after. */
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
    const seat = takeWorkerSeat(flags.worker, flags.firstWorker === true)
    if (seat === undefined)
      throw new CliError('usage', 'A worker is started by its supervisor: use --workers.')
    return await serveAsWorker(given, seat, withSandbox)
  }
  const readSettings = () => loadSettings(given)
  const settings = await readSettings()
  if (settings.workers > 1) {
    const { serveWorkers } = await import('./serve-workers.ts')
    return await serveWorkers({ settings, readSettings, environment: given, withSandbox })
  }
  const { serve } = await import('./serve.ts')
  await serve({ settings, readSettings, withSandbox })
}

/** The supervisor says once what keeps it from serving. */
async function serveAsWorker(
  environment: Environment,
  seat: WorkerSeat,
  withSandbox: boolean,
): Promise<void> {
  try {
    const readSettings = async () => {
      const settings = await loadSettings(environment)
      return { ...settings, dataFolder: workerFolder(settings.homeFolder, seat.index) }
    }
    const settings = await readSettings()
    const { serve } = await import('./serve.ts')
    await serve({ settings, readSettings, withSandbox, seat })
  } catch (error) {
    seat.refuse(explainError(error instanceof Error ? error : new Error(String(error))))
    process.exit(1)
  }
}
