/** `gatehouse serve`: its options. Must not know how a gateway is made: the context does. */
import { type Command, Option } from 'commander'
import type { CliContext, ServeFlags } from './context.ts'
import { example, parsePort, parseWorkers } from './program-parts.ts'
import { withoutTerminal } from './terminal.ts'

const WORKERS_HELP = `

With more workers than one, the store is in Postgres (DATABASE_URL) and limits are counted in Redis or Valkey (REDIS_URL). Linux only.`

export function bindServe(program: Command, context: CliContext): void {
  program
    .command('serve')
    .description(
      'run the gateway; settings come from GATEHOUSE_* variables, which these options override',
    )
    .option('--sandbox', 'mount the sandbox provider and make the gate demo')
    .option('--host <address>', 'address to listen on')
    .option('--port <port>', 'port to listen on; 0 takes any free one', parsePort)
    .option('--data-dir <folder>', 'folder for the database and the journal')
    .option(
      '--workers <number>',
      'processes that serve on the one port; auto: one for each core',
      parseWorkers,
    )
    .addOption(new Option('--worker <index>').argParser(Number).hideHelp())
    .addOption(new Option('--first-worker').hideHelp())
    .addHelpText(
      'after',
      example('gatehouse serve --sandbox', 'OPENAI_API_KEY=sk-… gatehouse serve --port 8080') +
        WORKERS_HELP,
    )
    .action((flags: ServeFlags) => withoutTerminal(() => context.serve(flags)))
}
