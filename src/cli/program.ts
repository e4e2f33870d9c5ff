import { Command, CommanderError, Help, type Option } from 'commander'
import { PLAIN_PLACES } from '../contract/plain-resources.ts'
import { CliError, EXIT_CODE_HELP, EXIT_CODES, reportError } from './cli-error.ts'
import type { CliContext } from './context.ts'
import { withTerminal } from './terminal.ts'

const WHERE_TO = `
Commands other than serve, sandbox, connect and token talk to the gateway at GATEHOUSE_URL with the key GATEHOUSE_API_KEY.
Without GATEHOUSE_URL they work on the local data folder, while no server uses it.
doctor looks at both, as far as they can be reached.
models import works on the configuration file of this machine.
master-key always works on the local data folder and the GATEHOUSE_MASTER_KEY variables, beside a server too.
store works on the local data folder while no server uses it.`

export async function runProgram(context: CliContext, argv: readonly string[]): Promise<number> {
  return await withTerminal(context.terminal, () => run(context, argv))
}

async function run(context: CliContext, argv: readonly string[]): Promise<number> {
  const { terminal } = context
  const isJson = argv.includes('--json')
  terminal.onReaderGone((error) => {
    // A signal that ended the command has already set the exit code.
    terminal.exitCode ||=
      'code' in error && error.code === 'EPIPE'
        ? READER_GONE
        : withTerminal(terminal, () => reportError(error, isJson))
  })
  const program = new Command('gatehouse')
    .description('A gateway for applications that call large language models.')
    .version(context.version)
    .option('--json', 'print JSON, errors too')
    .addHelpText('after', WHERE_TO)
    .addHelpText('afterAll', EXIT_CODE_HELP)
    .configureHelp({ optionDescription: describeOption })
    .showHelpAfterError('(add --help for what can be given)')
    .exitOverride()
  program.configureOutput({
    writeOut: terminal.output.write,
    writeErr: isJson ? () => {} : terminal.error.write,
    getOutHelpWidth: () => terminal.output.width,
    getErrHelpWidth: () => terminal.error.width,
  })
  for (const bind of await loadCommands(argv)) bind(program, context)
  inheritSettings(program, program)
  try {
    await program.parseAsync(withHelpBehind(program, argv), { from: 'user' })
    return terminal.exitCode
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportError(toTold(error, context, argv), isJson)
    if (error.exitCode === 0) return 0
    return isJson ? reportError(toUsageError(error), true) : EXIT_CODES.usage
  }
}

/** Commands that ask no server, or report a server's version themselves. */
const LOCAL_COMMANDS: ReadonlySet<string | undefined> = new Set([
  'serve',
  'sandbox',
  'master-key',
  'store',
  'doctor',
])

/**
 * Commands read the members that a gateway of this version sends, and fail when the server is
 * something else or of another version.
 */
function toTold(thrown: unknown, { environment }: CliContext, words: readonly string[]): unknown {
  const isStumble = thrown instanceof TypeError || thrown instanceof RangeError
  const isLocal = LOCAL_COMMANDS.has(words.find((word) => !word.startsWith('-')))
  if (!isStumble || isLocal || !environment.GATEHOUSE_URL) return thrown
  return new CliError(
    'failed',
    `The server at GATEHOUSE_URL sent an answer that this version cannot read (${thrown.message}). ` +
      `Check that GATEHOUSE_URL is the gateway's own address, and that the gateway has this version.`,
  )
}

/** A shell's exit code when the reader of the output has closed it (128 + SIGPIPE). */
const READER_GONE = 141

/**
 * Turns `help COMMAND` into `COMMAND --help`, because commander reads only one argument after
 * `help`. A misspelt command gets no `--help`, and so fails.
 */
function withHelpBehind(program: Command, words: readonly string[]): string[] {
  let within = program
  for (const word of words) {
    if (word === 'help' || word.startsWith('-')) continue
    if (within.commands.length === 0) break
    const named = within.commands.find((command) => command.name() === word)
    if (named === undefined) return words.filter((each) => !HELP_WORDS.includes(each))
    within = named
  }
  const first = words.findIndex((word) => word !== '--json')
  if (words[first] !== 'help' || within === program) return [...words]
  return [...words.toSpliced(first, 1), '--help']
}

const HELP_WORDS: readonly string[] = ['help', '--help', '-h']

/** Commander shows only after an error that an option is required. */
function describeOption(option: Option): string {
  const description = new Help().optionDescription(option)
  return option.mandatory ? `${description} (required)` : description
}

function toUsageError(error: CommanderError): CliError {
  const isCommandMissing = error.code === 'commander.help'
  return new CliError(
    'usage',
    isCommandMissing ? 'A command is missing: see --help.' : error.message.replace(/^error: /, ''),
  )
}

/**
 * @throws CliError for an empty argument: no name or id is empty, and `''` would address another
 * path
 */
function refuseEmpty(command: Command): void {
  const empty = command.registeredArguments.find((_, index) => command.args[index] === '')
  if (empty !== undefined)
    throw new CliError('usage', `<${empty.name()}> is empty: is a variable of the shell not set?`)
}

/**
 * `--json` may be before or after the command, and every command starts and ends in the same way.
 */
function inheritSettings(command: Command, program: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(program)
    if (child.commands.length === 0) {
      child.option('--json', 'print JSON, errors too')
      child.hook('preAction', (_this, command) => refuseEmpty(command))
    }
    inheritSettings(child, program)
  }
}

type BindCommand = (program: Command, context: CliContext) => void

/** In the order of `--help`. */
export const COMMANDS: Readonly<Record<string, () => Promise<BindCommand>>> = {
  serve: async () => (await import('./serve.ts')).bindServe,
  sandbox: async () => (await import('./sandbox.ts')).bindSandbox,
  connect: async () => (await import('./connect/connect.ts')).bindConnect,
  token: async () => (await import('./connect/connect.ts')).bindToken,
  tokens: async () => (await import('./tokens.ts')).bindTokens,
  keys: async () => (await import('./keys.ts')).bindKeys,
  gates: async () => (await import('./gates/gates.ts')).bindGates,
  'owned-models': async () => (await import('./owned-models.ts')).bindOwnedModels,
  'provider-keys': async () => (await import('./provider-keys.ts')).bindProviderKeys,
  'master-key': async () => (await import('./master-key.ts')).bindMasterKey,
  store: async () => (await import('./store.ts')).bindStore,
  providers: async () => (await import('./providers.ts')).bindProviders,
  models: async () => (await import('./models/models.ts')).bindModels,
  audit: async () => (await import('./audit.ts')).bindAudit,
  users: async () => (await import('./users.ts')).bindUsers,
  call: async () => (await import('./call.ts')).bindCall,
  account: async () => (await import('./account.ts')).bindAccount,
  'end-users': async () => (await import('./end-users.ts')).bindEndUsers,
  budgets: async () => (await import('./budgets.ts')).bindBudgets,
  webhooks: async () => (await import('./webhooks.ts')).bindWebhooks,
  ...Object.fromEntries(
    PLAIN_PLACES.map(([, resource]) => [
      resource.place,
      async () => (await import('./resource-commands.ts')).resourceCommands(resource),
    ]),
  ),
  usage: async () => (await import('./usage.ts')).bindUsage,
  logs: async () => (await import('./logs.ts')).bindLogs,
  costs: async () => (await import('./costs.ts')).bindCosts,
  config: async () => (await import('./config.ts')).bindConfig,
  reload: async () => (await import('./reload.ts')).bindReload,
  doctor: async () => (await import('./doctor.ts')).bindDoctor,
}

/**
 * Loads the command that the arguments begin with, or all commands for help and for misspelt names.
 * Loading all takes longer than most commands.
 */
export async function loadCommands(words: readonly string[]): Promise<readonly BindCommand[]> {
  const name = words.find((word) => word !== '--json')
  const load = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  const loads = load === undefined ? Object.values(COMMANDS) : [load]
  return await Promise.all(loads.map((each) => each()))
}
