/**
 * `gatehouse provider-keys`: the account's provider credentials. A key comes from a prompt or
 * standard input.
 */
import type { Command } from 'commander'
import { CliError } from './cli-error.ts'
import type { CliContext } from './context.ts'
import { readSecret } from './input.ts'
import { formatTime, printJson, printLine, printNote } from './output.ts'
import { addAct, addDelete, addList } from './resource-verbs.ts'

const A_PROVIDER = 'its id, as providers list shows it'

export function bindProviderKeys(program: Command, context: CliContext): void {
  const keys = program
    .command('provider-keys')
    .description("the account's own keys for providers, used in place of the gateway's")

  addList(keys, context, {
    ask: 'GET /v1/provider-keys',
    about: 'list the provider keys, newest first, masked',
    examples: ['gatehouse provider-keys list', 'gatehouse provider-keys list --json'],
    columns: {
      PROVIDER: (row) => row.provider,
      KEY: (row) => row.maskedKey,
      ACTIVE: (row) => (row.active ? 'yes' : 'no'),
      SET: (row) => formatTime(row.updatedAt),
      'LAST USED': (row) => formatTime(row.lastUsedAt),
    },
  })

  addAct(keys, context, {
    name: 'set',
    argument: ['provider', A_PROVIDER],
    about:
      'set or replace a key, read from standard input or a hidden prompt, and test it at the provider',
    examples: [
      'gatehouse provider-keys set PROVIDER < key.txt',
      'gatehouse provider-keys set PROVIDER',
    ],
    options: (command) => command.option('--inactive', 'store the key without using it yet'),
    async toBody({ inactive }: { inactive?: boolean }, provider) {
      const key = await readSecret(`The key for ${provider}`)
      if (key === '') throw new CliError('usage', 'Standard input contains no key.')
      return { key, active: inactive !== true }
    },
    send: (client, provider, body) =>
      client.call('PUT /v1/provider-keys/{provider}', 'provider', { path: { provider }, body }),
    show(saved, isJson) {
      for (const { message } of saved.warnings ?? []) printNote(`Warning: ${message}`)
      if (isJson) return printJson(saved)
      // A server of an earlier version does not test the key.
      const tested = saved.probe?.status === 'not_probed' ? ` ${saved.probe.detail}` : ''
      printLine(
        `Set ${saved.maskedKey} for ${saved.provider}${saved.active ? '' : ', inactive'}.${tested}`,
      )
    },
  })

  for (const [name, active, about] of [
    ['activate', true, 'use a key that was deactivated'],
    ['deactivate', false, "keep a key, but use the gateway's own credential in its place"],
  ] as const)
    addAct(keys, context, {
      name,
      argument: ['provider', A_PROVIDER],
      about,
      examples: [`gatehouse provider-keys ${name} PROVIDER`],
      toBody: () => ({ active }),
      send: (client, provider, body) =>
        client.call('PATCH /v1/provider-keys/{provider}', 'provider', { path: { provider }, body }),
      show(changed, isJson) {
        if (isJson) return printJson(changed)
        printLine(`The key for ${changed.provider} is ${active ? 'active' : 'inactive'}.`)
      },
    })

  addDelete(keys, context, {
    ask: 'DELETE /v1/provider-keys/{provider}',
    one: 'key',
    argument: A_PROVIDER,
    nameOf: (provider) => `the key for ${provider}`,
    about: "delete a key; calls then use the gateway's own credential, if it has one",
    examples: ['gatehouse provider-keys delete PROVIDER'],
  })
}
