/** `gatehouse reload`: every node reads its configuration file again. */
import type { Command } from 'commander'
import type { Schemas } from '../contract/api.generated.ts'
import { CliError } from './cli-error.ts'
import { withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { printJson, printLine, toPrintable } from './output.ts'
import { asJson, example } from './program-parts.ts'
import { terminal } from './terminal.ts'

export function bindReload(program: Command, context: CliContext): void {
  program
    .command('reload')
    .description(
      'have every node read its configuration file again, and wait for all; exit code 1 when a ' +
        'node refuses its file or does not answer, or the files differ',
    )
    .addHelpText('after', example('gatehouse reload', 'gatehouse reload --json'))
    .action(async (_flags, command: Command) => {
      if (!context.environment.GATEHOUSE_URL)
        throw new CliError(
          'usage',
          'GATEHOUSE_URL is not set: there is no server whose configuration could be reloaded.',
        )
      await withClient(context, async (client) => {
        const reload = await client.call('POST /v1/reload', 'nodes')
        if (asJson(command)) printJson(reload)
        else print(reload)
        if (reload.status !== 'reloaded') terminal().exitCode = 1
      })
    })
}

function print({ nodes, status }: Schemas['Reload']): void {
  for (const node of nodes) {
    printLine(toPrintable(`${nameOf(node)}  ${describe(node)}`))
    for (const { file, line, message } of node.faults)
      printLine(toPrintable(`  ${file === null ? '' : `${file}:${line ?? 1}: `}${message}`))
  }
  if (status === 'incomplete' && nodes.every((node) => node.status === 'reloaded'))
    printLine('The files of the nodes differ.')
}

function nameOf({ node, host, worker }: Schemas['ReloadedNode']): string {
  const names = [host, ...(node === null ? [] : [node])]
  return `${names.join(' ')}${worker === null ? '' : ` (worker ${worker})`}`
}

function describe({ status, digest, changed, needsRestart }: Schemas['ReloadedNode']): string {
  if (status === 'no_answer') return 'did not answer'
  const file = digest === null ? 'no file' : digest.slice(0, DIGEST_CHARACTERS)
  if (status === 'refused') return `refused its file, the settings from before stay (${file})`
  const what = changed.length === 0 ? 'nothing changed' : changed.join(', ')
  const waits = needsRestart.length === 0 ? '' : `; needs a restart: ${needsRestart.join(', ')}`
  return `reloaded ${file}: ${what}${waits}`
}

/** Enough to compare by eye. */
const DIGEST_CHARACTERS = 12
