import { type Command, type Help, Option } from 'commander'
import { SERVER_SUBJECTS, SETTINGS, type Subject } from '../config/setting-table.ts'
import {
  describeDefault,
  describeOtherDefault,
  describeType,
  type Setting,
} from '../config/setting-type.ts'
import type { CliContext, ServeFlags } from './context.ts'
import { example, parsePort, parseWorkers } from './program-parts.ts'
import { DEFAULT_WIDTH, withoutTerminal } from './terminal.ts'

const WORKERS_HELP = `

Several workers need Linux, Postgres (DATABASE_URL) for the store, and Redis or Valkey (REDIS_URL) for limits.`

const { GATEHOUSE_HOST, GATEHOUSE_PORT, GATEHOUSE_DATA_DIR, GATEHOUSE_WORKERS } = SETTINGS

const SETTINGS_HELP = `
Settings are environment variables. Each provider has variables of its own: OPENAI_API_KEY, OPENAI_BASE_URL and so on.
`

export function bindServe(program: Command, context: CliContext): void {
  program
    .command('serve')
    .description(
      'run the gateway; settings come from the variables listed below, which ' +
        'these options override',
    )
    .option('--sandbox', 'mount the sandbox provider and create the gate demo')
    .option('--host <address>', GATEHOUSE_HOST.sentence)
    .option('--port <port>', GATEHOUSE_PORT.sentence, parsePort)
    .option('--data-dir <folder>', GATEHOUSE_DATA_DIR.sentence)
    .option('--workers <number>', GATEHOUSE_WORKERS.sentence, parseWorkers)
    .option(
      '--forget-config',
      'start without the configuration file that this data folder had before, once',
    )
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

function helperOf(command: Command): Help {
  const helper = command.createHelp()
  const helpWidth = command.configureOutput().getOutHelpWidth?.()
  helper.prepareContext(helpWidth === undefined ? {} : { helpWidth })
  return helper
}

const INDENT = '      '

function listSettings(subjects: readonly Subject[], helper: Help): string {
  const width = (helper.helpWidth ?? DEFAULT_WIDTH) - INDENT.length
  return subjects
    .flatMap(({ title, settings }) => [
      `\n${title}:`,
      ...Object.entries(settings).map(([name, setting]) => {
        const lines = helper.boxWrap(describeSetting(setting), width).split('\n')
        return [`  ${name}`, ...lines.map((line) => INDENT + line)].join('\n')
      }),
    ])
    .join('\n')
}

function describeSetting(setting: Setting): string {
  const described = describeDefault(setting)
  const other = describeOtherDefault(setting)
  const fallback = described === undefined ? (setting.without ?? '') : showValue(described)
  const exception = other === undefined ? '' : `, with ${other.setting} ${showValue(other)}`
  const type = describeType(setting.type)
  return `${setting.sentence} (${type === 'text' ? '' : `${type}; `}default: ${fallback}${exception})`
}

function showValue({ written, inWords }: { written: string; inWords: string | undefined }): string {
  return inWords === undefined ? written : `${written} = ${inWords}`
}
