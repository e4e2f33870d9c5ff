import type { Command } from 'commander'
import type { FileFlags, PushFlags } from './account-configuration/commands.ts'
import type { CliContext } from './context.ts'
import { asJson, example } from './program-parts.ts'

const DEFAULT_FILE = 'gatehouse.config.yaml'

export function bindConfig(program: Command, context: CliContext): void {
  const config = program
    .command('config')
    .description(
      'gates, owned models, budgets, webhooks and tags as a YAML file, for review in version control',
    )

  withFile(config.command('pull'))
    .description('write the file from what is on the server; no secret is ever in it')
    .addHelpText('after', example('gatehouse config pull', 'gatehouse config pull --file - | less'))
    .action(async (flags: FileFlags, command: Command) => {
      const { pull } = await import('./account-configuration/commands.ts')
      await pull(context, flags, asJson(command))
    })

  withFile(config.command('diff'))
    .description(
      'show how file and server differ, with what push would delete only by --prune; exit code 0 ' +
        'when they do not, 1 when they do',
    )
    .addHelpText('after', example('gatehouse config diff', 'gatehouse config diff --json'))
    .action(async (flags: FileFlags, command: Command) => {
      const { diff } = await import('./account-configuration/commands.ts')
      await diff(context, flags, asJson(command))
    })

  withFile(config.command('push'))
    .description(
      'make the server as the file says; the whole file is checked before anything is changed',
    )
    .option(
      '--prune',
      'also delete entries that are only on the server, in the sections of the file',
    )
    .option('--dry-run', 'show the changes without making them')
    .option('--yes', 'do not ask before deleting')
    .addHelpText(
      'after',
      example(
        'gatehouse config push --dry-run',
        'gatehouse config push --prune --yes --file production.yaml',
      ),
    )
    .action(async (flags: PushFlags, command: Command) => {
      const { push } = await import('./account-configuration/commands.ts')
      await push(context, flags, asJson(command))
    })
}

function withFile(command: Command): Command {
  return command.option('--file <path>', "the file; '-' is standard input or output", DEFAULT_FILE)
}
