/** `gatehouse usage export`: charges by the hour for tools of cost management. */
import type { Command } from 'commander'
import { CliError } from './cli-error.ts'
import { withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { printAnswer } from './print-answer.ts'
import { example } from './program-parts.ts'

interface ExportFlags {
  readonly focus?: true
  readonly from?: string
  readonly to?: string
}

export function bindUsageExport(usage: Command, context: CliContext): void {
  usage
    .command('export')
    .description('charges by hour, gate, model, kind of token and tags, as CSV')
    .option('--focus', 'in the format FOCUS 1.2')
    .option('--from <time>', 'charges from this time on; a day before --to when absent')
    .option('--to <time>', 'charges before this time; now when absent')
    .addHelpText(
      'after',
      example('gatehouse usage export --focus --from 2026-11-01 --to 2026-12-01 > november.csv'),
    )
    .action(async (_: unknown, command: Command) => {
      // The command `usage` has options of the same names, and reads them first.
      const { focus, from, to }: ExportFlags = command.optsWithGlobals()
      if (focus !== true) throw new CliError('usage', 'The only format is FOCUS: give --focus.')
      await withClient(context, async (client) => {
        const query = { format: 'focus', from, to } as const
        await printAnswer((signal) => client.open('GET /v1/usage/export', signal, { query }))
      })
    })
}
