import packageJson from '../../package.json' with { type: 'json' }
import type { CliContext } from '../cli/context.ts'

export function createCliContext(
  process: Pick<CliContext, 'environment' | 'folder' | 'terminal' | 'serve'>,
): CliContext {
  const { environment } = process
  return {
    ...process,
    version: packageJson.version,
    async openLocal() {
      const { openLocalGateway } = await import('./open-local-gateway.ts')
      return await openLocalGateway(environment)
    },
    async openLocalUsers() {
      const { openLocalUsers } = await import('./open-local-users.ts')
      return await openLocalUsers(environment)
    },
    masterKey: {
      async status() {
        const { masterKeyStatus } = await import('./rotate-master-key.ts')
        return await masterKeyStatus(environment)
      },
      async rotate() {
        const { rotateMasterKey } = await import('./rotate-master-key.ts')
        return await rotateMasterKey(environment)
      },
    },
    async copyStore(onProgress) {
      const { copyLocalStore } = await import('./local-store.ts')
      return await copyLocalStore(environment, onProgress)
    },
    async acceptStore() {
      const { acceptLocalStore } = await import('./local-store.ts')
      return await acceptLocalStore(environment)
    },
    async adoptStore(isDryRun) {
      const { adoptLocalStore } = await import('./local-store.ts')
      return await adoptLocalStore(environment, isDryRun)
    },
    async examine() {
      const { examine } = await import('../doctor/examine.ts')
      const { ownDescriptors } = await import('../net/open-descriptors.ts')
      const { version, dependencies } = packageJson
      const openFiles = ownDescriptors()?.most
      return await examine({ environment, version, pinnedRuntime: dependencies.bun, openFiles })
    },
  }
}
