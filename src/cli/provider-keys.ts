/**
 * `gatehouse provider-keys`: the account's own provider credentials. A key is read from a prompt or
 * standard input.
 */
import type { Command } from 'commander'
import { CliError } from './cli-error.ts'
import { withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { confirmDeletion, readSecret } from './input.ts'
import { formatTime, printJson, printLine, printNote } from './output.ts'
import { asJson, example } from './program-parts.ts'
import { addList } from './resource-verbs.ts'

const A_PROVIDER = 'its id, as providers list shows it'

export function bindProviderKeys(program: Command, context: CliContext): void {
  const keys = program
    .command('provider-keys')
    .description("the account's own keys for providers, used in place of the gateway's")

  addList(keys, context, {
    ask: 'GET /v1/provider-keys',
    about: 'list them, newest first, masked',
    examples: ['gatehouse provider-keys list', 'gatehouse provider-keys list --json'],
    columns: {
      PROVIDER: (row) => row.provider,
      KEY: (row) => row.maskedKey,
      ACTIVE: (row) => (row.active ? 'yes' : 'no'),
      SET: (row) => formatTime(row.updatedAt),
      'LAST USED': (row) => formatTime(row.lastUsedAt),
    },
  })

  keys
    .command('set')
    .argument('<provider>', A_PROVIDER)
    .description(
      'set or replace a key, read from standard input or a hidden prompt, and test it at the provider',
    )
    .option('--inactive', 'keep it, but do not use it yet')
    .addHelpText(
      'after',
      example(
        'gatehouse provider-keys set PROVIDER < key.txt',
        'gatehouse provider-keys set PROVIDER',
      ),
    )
    .action(async (provider: string, flags: { inactive?: boolean }, command: Command) => {
      const key = await readSecret(`The key for ${provider}`)
      if (key === '') throw new CliError('usage', 'There is no key on standard input.')
      const body = { key, active: flags.inactive !== true }
      const saved = await withClient(context, (client) =>
        client.call('PUT /v1/provider-keys/{provider}', 'provider', { path: { provider }, body }),
      )
      for (const { message } of saved.warnings ?? []) printNote(`Warning: ${message}`)
      if (asJson(command)) return printJson(saved)
      // A server of an earlier version tests nothing.
      const tested = saved.probe?.status === 'not_probed' ? ` ${saved.probe.detail}` : ''
      printLine(
        `Set ${saved.maskedKey} for ${saved.provider}${saved.active ? '' : ', inactive'}.${tested}`,
      )
    })

  for (const [name, active, what] of [
    ['activate', true, 'use a key that was deactivated'],
    ['deactivate', false, "keep a key, but use the gateway's own credential in its place"],
  ] as const) {
    keys
      .command(name)
      .argument('<provider>', A_PROVIDER)
      .description(what)
      .addHelpText('after', example(`gatehouse provider-keys ${name} PROVIDER`))
      .action(async (provider: string, _flags, command: Command) => {
        const changed = await withClient(context, (client) =>
          client.call('PATCH /v1/provider-keys/{provider}', 'provider', {
            path: { provider },
            body: { active },
          }),
        )
        if (asJson(command)) return printJson(changed)
        printLine(`The key for ${changed.provider} is ${active ? 'active' : 'inactive'}.`)
      })
  }

  keys
    .command('delete')
    .argument('<provider>', A_PROVIDER)
    .description("delete a key; calls go out with the gateway's own credential, if there is one")
    .option('--yes', 'do not ask')
    .addHelpText('after', example('gatehouse provider-keys delete PROVIDER'))
    .action(async (provider: string, flags: { yes?: boolean }, command: Command) => {
      await confirmDeletion(`the key for ${provider}`, flags.yes === true)
      await withClient(context, (client) =>
        client.remove('DELETE /v1/provider-keys/{provider}', { path: { provider } }),
      )
      if (asJson(command)) return printJson({ provider, deleted: true })
      printLine(`Deleted the key for ${provider}.`)
    })
}
