/** The command line, one bind call per command. Must not know how a gateway is made: the context does. */
import { Command, CommanderError, Option } from 'commander'
import { bindAccount } from './account.ts'
import { bindAudit } from './audit.ts'
import { bindBudgets } from './budgets.ts'
import { bindCall } from './call.ts'
import { CliError, EXIT_CODE_HELP, EXIT_CODES, reportError } from './cli-error.ts'
import { bindConfig } from './config.ts'
import type { CliContext, ServeFlags } from './context.ts'
import { bindCosts } from './costs.ts'
import { bindDoctor } from './doctor.ts'
import { bindGates } from './gates.ts'
import { bindKeys } from './keys.ts'
import { bindLogs } from './logs.ts'
import { bindMasterKey } from './master-key.ts'
import { bindOwnedModels } from './owned-models.ts'
import { example, parsePort, parseWorkers } from './program-parts.ts'
import { bindProviderKeys } from './provider-keys.ts'
import { bindProviders } from './providers.ts'
import { bindSandbox } from './sandbox.ts'
import { bindStore } from './store.ts'
import { withoutTerminal, withTerminal } from './terminal.ts'
import { bindUsage } from './usage.ts'
import { bindUsers } from './users.ts'
import { bindWebhooks } from './webhooks.ts'

const WHERE_TO = `
Commands other than serve and sandbox talk to the gateway at GATEHOUSE_URL with the key GATEHOUSE_API_KEY.
Without GATEHOUSE_URL they work on the local data folder, while no server uses it.
doctor looks at both, as far as they can be reached.
master-key always works on the local data folder and the GATEHOUSE_MASTER_KEY variables, beside a server too.
store works on the local data folder while no server uses it.`

/** Runs one command. @returns the exit code; of `serve` and `sandbox`, when they have begun */
export async function runProgram(context: CliContext, argv: readonly string[]): Promise<number> {
  return await withTerminal(context.terminal, () => run(context, argv))
}

async function run(context: CliContext, argv: readonly string[]): Promise<number> {
  const { terminal } = context
  const isJson = argv.includes('--json')
  terminal.onReaderGone((error) => {
    // A signal that has ended the command already has named the reason.
    terminal.exitCode ||=
      'code' in error && error.code === 'EPIPE'
        ? READER_GONE
        : withTerminal(terminal, () => reportError(error, isJson))
  })
  const program = new Command('gatehouse')
    .description('A gateway for applications that call large language models.')
    .version(context.version)
    .option('--json', 'print JSON, errors too')
    .addHelpText('after', `${WHERE_TO}\n${EXIT_CODE_HELP}`)
    .showHelpAfterError('(add --help for what can be given)')
    .exitOverride()
  program.configureOutput({
    writeOut: terminal.output.write,
    writeErr: isJson ? () => {} : terminal.error.write,
    getOutHelpWidth: () => terminal.output.width,
    getErrHelpWidth: () => terminal.error.width,
  })
  bindServe(program, context)
  bindSandbox(program)
  bindKeys(program, context)
  bindGates(program, context)
  bindOwnedModels(program, context)
  bindProviderKeys(program, context)
  bindMasterKey(program, context)
  bindStore(program, context)
  bindProviders(program, context)
  bindAudit(program, context)
  bindUsers(program, context)
  bindCall(program, context)
  bindAccount(program, context)
  bindBudgets(program, context)
  bindWebhooks(program, context)
  bindUsage(program, context)
  bindLogs(program, context)
  bindCosts(program, context)
  bindConfig(program, context)
  bindDoctor(program, context)
  inheritSettings(program, program)
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return terminal.exitCode
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportError(error, isJson)
    if (error.exitCode === 0) return 0
    // For people, commander has printed its own message already.
    return isJson ? reportError(toUsageError(error), true) : EXIT_CODES.usage
  }
}

/** What a shell reports of a program whose reader has gone (128 + SIGPIPE). */
const READER_GONE = 141

function toUsageError(error: CommanderError): CliError {
  const isCommandMissing = error.code === 'commander.help'
  return new CliError(
    'usage',
    isCommandMissing ? 'A command is missing: see --help.' : error.message.replace(/^error: /, ''),
  )
}

const WORKERS_HELP = `

With more workers than one, the store is in Postgres (DATABASE_URL) and limits are counted in Redis or Valkey (REDIS_URL). Linux only.`

function bindServe(program: Command, context: CliContext): void {
  program
    .command('serve')
    .description('run the gateway; settings come from GATEHOUSE_* variables, which these options override')
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
      example('gatehouse serve --sandbox', 'OPENAI_API_KEY=sk-… gatehouse serve --port 8080') + WORKERS_HELP,
    )
    .action((flags: ServeFlags) => withoutTerminal(() => context.serve(flags)))
}

/** `--json` may stand before or after the command, and every command ends through the same door. */
function inheritSettings(command: Command, program: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(program)
    if (child.commands.length === 0) child.option('--json', 'print JSON, errors too')
    inheritSettings(child, program)
  }
}
