import { existsSync } from 'node:fs'
import type { LocalGateway } from '../cli/context.ts'
import { loadSettings } from '../config/load-settings.ts'
import type { Environment } from '../config/setting-type.ts'
import { generateApiKey } from '../core/api-key.ts'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import { sandboxAddresses, sandbox as sandboxProvider } from '../providers/sandbox.ts'
import { startSandbox } from '../sandbox/start-sandbox.ts'
import { operatorOrigin, withOrigin } from '../store/changes/change-origin.ts'
import { DataFolderInUseError } from '../store/installation/data-folder.ts'
import { createLog } from '../telemetry/log.ts'
import { whenFolderIsFree } from './claim-folders.ts'
import { composeGatehouse } from './compose.ts'

/**
 * @throws SettingsError, DataFolderInUseError with the address of the server that holds the folder,
 * and store errors
 */
export async function openLocalGateway(environment: Environment): Promise<LocalGateway> {
  const settings = await loadSettings({
    ...environment,
    GATEHOUSE_LOG_LEVEL: environment.GATEHOUSE_LOG_LEVEL ?? 'silent',
  })
  // A gate created by `serve --sandbox` works here too.
  const given = settings.providerBaseUrls.get(sandboxProvider.id)
  const sandbox = given === undefined ? startSandbox() : undefined
  const knownAddresses = sandboxAddresses(given ?? sandbox?.url)
  const log = createLog(settings.logLevel)
  const isNew = !existsSync(settings.dataFolder)
  const gatehouse = await whenFolderIsFree(() =>
    composeGatehouse({ settings, log, knownAddresses, plans: settings.plans }),
  ).catch(async (error: unknown) => {
    await sandbox?.stop()
    throw error instanceof DataFolderInUseError ? withWayOut(error) : error
  })
  const key = generateApiKey()
  gatehouse.keys.addEphemeral(key, { accountId: DEFAULT_ACCOUNT, name: 'command line' })
  return {
    madeFolder: isNew ? settings.dataFolder : undefined,
    send: (request) => withOrigin(operatorOrigin, () => gatehouse.handle(request)),
    apiKey: key.reveal(),
    async close() {
      await gatehouse.close()
      await sandbox?.stop()
    },
  }
}

function withWayOut(error: DataFolderInUseError): Error {
  const { folder, holder } = error
  const message =
    holder === undefined
      ? `The data folder ${folder} is in use by another Gatehouse process. Try again when it ` +
        'has ended, or set GATEHOUSE_URL and GATEHOUSE_API_KEY to talk to a server.'
      : `The data folder ${folder} is in use by the server at ${holder.url} (process ` +
        `${holder.pid}). Talk to it: set GATEHOUSE_URL=${holder.url} and GATEHOUSE_API_KEY to ` +
        'one of its keys.'
  return new Error(message, { cause: error })
}
