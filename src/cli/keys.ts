/** `gatehouse keys`: create, list, import and delete API keys. */
import type { Command } from 'commander'
import { withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { confirmDeletion, readSecret } from './input.ts'
import { formatTable, formatTime, printJson, printLine, printNote } from './output.ts'
import { asJson, example, parseLimit } from './program-parts.ts'

export function bindKeys(program: Command, context: CliContext): void {
  const keys = program.command('keys').description('API keys of the account')

  keys
    .command('create <name>')
    .description('make a key; it is printed once, alone on standard output')
    .addHelpText('after', example('gatehouse keys create "ci pipeline"', 'KEY=$(gatehouse keys create ci)'))
    .action(async (name: string, _flags, command: Command) => {
      const created = await withClient(context, (client) =>
        client.json('/v1/keys', { method: 'POST', body: { name } }),
      )
      if (asJson(command)) return printJson(created)
      printLine(String(created.key))
      printNote(`Key ${created.id} was made. It is shown only this once: keep it safe.`)
    })

  keys
    .command('list')
    .description('list the keys, newest first')
    .option('--limit <n>', 'at most this many', parseLimit, 100)
    .addHelpText('after', example('gatehouse keys list', 'gatehouse keys list --json'))
    .action(async ({ limit }: { limit: number }, command: Command) => {
      const rows = await withClient(context, (client) => client.list('/v1/keys', limit))
      if (asJson(command)) return printJson(rows)
      printLine(
        formatTable(
          ['ID', 'KEY', 'CREATED', 'LAST USED', 'NAME'],
          rows.map((row) => ({
            ID: String(row.id),
            KEY: String(row.maskedPrefix),
            CREATED: formatTime(row.createdAt),
            'LAST USED': formatTime(row.lastUsedAt),
            NAME: String(row.name),
          })),
        ),
      )
    })

  keys
    .command('import <name>')
    .description(
      'accept a key made elsewhere (sk-svc-…, svc_… or legacy_…), read from standard input or a hidden prompt',
    )
    .addHelpText('after', example('gatehouse keys import "old app" < key.txt'))
    .action(async (name: string, _flags, command: Command) => {
      const key = await readSecret('The key to import')
      const imported = await withClient(context, (client) =>
        client.json('/v1/keys/import', { method: 'POST', body: { name, key } }),
      )
      if (asJson(command)) return printJson(imported)
      printLine(`Imported ${imported.maskedPrefix} as ${imported.id}.`)
    })

  keys
    .command('delete <id>')
    .description('revoke a key; calls with it are refused at once')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('gatehouse keys delete key_01a1fbc63aa470d6877cf556d6121edd'))
    .action(async (id: string, flags: { yes?: boolean }, command: Command) => {
      await confirmDeletion(`the key ${id}`, flags.yes === true)
      await withClient(context, (client) =>
        client.request(`/v1/keys/${encodeURIComponent(id)}`, { method: 'DELETE' }),
      )
      if (asJson(command)) return printJson({ id, deleted: true })
      printLine(`Deleted ${id}.`)
    })
}
