import type { Command } from 'commander'
import type { AdoptedStore, CliContext } from './context.ts'
import { formatTable, printJson, printLine, printNote } from './output.ts'
import { asJson, example } from './program-parts.ts'

const ROWS_PER_NOTE = 50_000

export function bindStore(program: Command, context: CliContext): void {
  const store = program.command('store').description('where keys, gates and calls are kept')

  store
    .command('copy')
    .description(
      "copy the local data folder's SQLite database into the empty Postgres database of " +
        'DATABASE_URL; stop the server first',
    )
    .addHelpText(
      'after',
      example('DATABASE_URL=postgres://gatehouse:…@db/gatehouse gatehouse store copy'),
    )
    .action(async (_flags, command: Command) => {
      const copied = await context.copyStore(({ table, rows }) => {
        if (rows % ROWS_PER_NOTE === 0) printNote(`${table}: ${rows} rows so far`)
      })
      if (asJson(command)) {
        printJson(copied)
        return
      }
      printLine(
        formatTable<(typeof copied.tables)[number]>(
          { TABLE: ({ table }) => table, ROWS: ({ rows }) => String(rows) },
          copied.tables,
        ),
      )
      printLine(`Copied from ${copied.from} to ${copied.to}.`)
      printLine(
        'Start the server with the same DATABASE_URL and data folder: what waits in the ' +
          'journal follows.',
      )
    })

  store
    .command('accept')
    .description(
      'say that the data folder, the store, the master key and Redis belong together, after a ' +
        'start was refused because they did not seem to; stop the server first',
    )
    .addHelpText('after', example('gatehouse store accept'))
    .action(async (_flags, command: Command) => {
      const accepted = await context.acceptStore()
      if (asJson(command)) return printJson(accepted)
      if (accepted.accepted.length === 0)
        printLine(`Nothing to accept: ${accepted.store} is the right store.`)
      for (const each of accepted.accepted) printLine(`Accepted: ${each}`)
      if (accepted.unasked !== null) printNote(accepted.unasked)
    })
  store
    .command('adopt')
    .description(
      'let this version use a database of the last build before the first release; make a ' +
        'backup and stop the server first',
    )
    .option('--dry-run', 'say what the command would do, without changing anything')
    .addHelpText('after', example('gatehouse store adopt --dry-run'))
    .action(async ({ dryRun = false }: { dryRun?: boolean }, command: Command) => {
      const adopted = await context.adoptStore(dryRun)
      if (asJson(command)) return printJson(adopted)
      printLine(`${adopted.store}: ${ADOPTIONS[adopted.state]}`)
    })
}

const ADOPTIONS: Readonly<Record<AdoptedStore['state'], string>> = {
  adoptable: 'can be adopted. All data stays where it is. Nothing was changed.',
  adopted: 'adopted. Start the server.',
  'already adopted': 'already adopted. Nothing was changed.',
}
