/** Lists the commands, and how to load each. Knows nothing of what they do. */
import type { Command } from 'commander'
import { PLAIN_PLACES } from '../contract/plain-resources.ts'
import type { CliContext } from './context.ts'

type BindCommand = (program: Command, context: CliContext) => void

/** In the order of `--help`. */
export const COMMANDS: Readonly<Record<string, () => Promise<BindCommand>>> = {
  serve: async () => (await import('./serve.ts')).bindServe,
  sandbox: async () => (await import('./sandbox.ts')).bindSandbox,
  keys: async () => (await import('./keys.ts')).bindKeys,
  gates: async () => (await import('./gates.ts')).bindGates,
  'owned-models': async () => (await import('./owned-models.ts')).bindOwnedModels,
  'provider-keys': async () => (await import('./provider-keys.ts')).bindProviderKeys,
  'master-key': async () => (await import('./master-key.ts')).bindMasterKey,
  store: async () => (await import('./store.ts')).bindStore,
  providers: async () => (await import('./providers.ts')).bindProviders,
  audit: async () => (await import('./audit.ts')).bindAudit,
  users: async () => (await import('./users.ts')).bindUsers,
  call: async () => (await import('./call.ts')).bindCall,
  account: async () => (await import('./account.ts')).bindAccount,
  budgets: async () => (await import('./budgets.ts')).bindBudgets,
  webhooks: async () => (await import('./webhooks.ts')).bindWebhooks,
  ...Object.fromEntries(
    PLAIN_PLACES.map(([, { place, load }]) => [
      place,
      async () => (await import('./resource-commands.ts')).resourceCommands(await load()),
    ]),
  ),
  usage: async () => (await import('./usage.ts')).bindUsage,
  logs: async () => (await import('./logs.ts')).bindLogs,
  costs: async () => (await import('./costs.ts')).bindCosts,
  config: async () => (await import('./config.ts')).bindConfig,
  doctor: async () => (await import('./doctor.ts')).bindDoctor,
}

/**
 * The one command that the words begin with, or all of them, for help and for those who misspell
 * one. Loading and describing all of them takes longer than most commands do.
 */
export async function loadCommands(words: readonly string[]): Promise<readonly BindCommand[]> {
  const name = words.find((word) => word !== '--json')
  const load = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  const loads = load === undefined ? Object.values(COMMANDS) : [load]
  return await Promise.all(loads.map((each) => each()))
}
