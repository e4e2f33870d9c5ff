/** `gatehouse serve`: its options. Must not know how a gateway is made: the context does. */
import { type Command, type Help, Option } from 'commander'
import { SERVER_SUBJECTS, SETTINGS } from '../config/setting-table.ts'
import type { CliContext, ServeFlags } from './context.ts'
import { listSettings } from './list-settings.ts'
import { example, parsePort, parseWorkers } from './program-parts.ts'
import { withoutTerminal } from './terminal.ts'

const WORKERS_HELP = `

With more workers than one, the store is in Postgres (DATABASE_URL) and limits are counted in Redis or Valkey (REDIS_URL). Linux only.`

const { GATEHOUSE_HOST, GATEHOUSE_PORT, GATEHOUSE_DATA_DIR, GATEHOUSE_WORKERS } = SETTINGS

const SETTINGS_HELP = `
Settings are environment variables. Each provider has its own beside these: OPENAI_API_KEY, OPENAI_BASE_URL and so on.
`

export function bindServe(program: Command, context: CliContext): void {
  program
    .command('serve')
    .description(
      'run the gateway; settings come from the variables listed below, which ' +
        'these options override',
    )
    .option('--sandbox', 'mount the sandbox provider and make the gate demo')
    .option('--host <address>', GATEHOUSE_HOST.sentence)
    .option('--port <port>', GATEHOUSE_PORT.sentence, parsePort)
    .option('--data-dir <folder>', GATEHOUSE_DATA_DIR.sentence)
    .option('--workers <number>', GATEHOUSE_WORKERS.sentence, parseWorkers)
    .addOption(new Option('--worker <index>').argParser(Number).hideHelp())
    .addOption(new Option('--first-worker').hideHelp())
    .addHelpText(
      'after',
      example('gatehouse serve --sandbox', 'OPENAI_API_KEY=sk-… gatehouse serve --port 8080') +
        WORKERS_HELP,
    )
    .addHelpText(
      'after',
      ({ command }) => SETTINGS_HELP + listSettings(SERVER_SUBJECTS, helperOf(command)),
    )
    .action((flags: ServeFlags) => withoutTerminal(() => context.serve(flags)))
}

/** As commander makes one for the help itself. */
function helperOf(command: Command): Help {
  const helper = command.createHelp()
  const helpWidth = command.configureOutput().getOutHelpWidth?.()
  helper.prepareContext(helpWidth === undefined ? {} : { helpWidth })
  return helper
}
