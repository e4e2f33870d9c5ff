/** The options of `gates create` and `gates update`. */
import { readFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import type { Schemas } from '../../contract/api.generated.ts'
import { ADAPT_MODES, OVERRIDES, REASONING_EFFORTS, STRATEGIES } from '../../core/gate.ts'
import { CliError } from '../cli-error.ts'
import { type FuseFlags, withFuseOptions } from '../fuse-verbs.ts'
import { parseDecimal, parseWhole } from '../program-parts.ts'
import { FACT_WORDS } from './show-gate.ts'

export type GateBody = Schemas['UpdateGate']
type Defaults = NonNullable<GateBody['defaults']>

export interface GateFlags extends FuseFlags {
  readonly target?: readonly string[]
  readonly name?: string
  readonly description?: string
  readonly timeoutMs?: number | typeof NONE
  readonly maxRetries?: number
  readonly strategy?: GateBody['strategy']
  readonly weights?: readonly number[]
  readonly when?: readonly Condition[]
  readonly hedgeAfterMs?: number | typeof NONE
  readonly overrides?: GateBody['overrides']
  readonly instructions?: string
  readonly temperature?: number
  readonly topP?: number
  readonly maxOutputTokens?: number
  readonly reasoningEffort?: Defaults['reasoningEffort']
  readonly clearDefaults?: boolean
  readonly alias?: readonly string[]
  readonly unlistedAlias?: readonly string[]
  readonly clearAliases?: boolean
  readonly catchAll?: boolean
  readonly fact?: readonly (readonly [string, unknown])[]
  readonly clearFacts?: boolean
  readonly codexInstructions?: string
  readonly usageHeaders?: boolean
  readonly budgetHeaders?: boolean
  readonly adapt?: GateBody['adapt']
  readonly ignoreStore?: boolean
}

export function withGateOptions(command: Command): Command {
  return withFuseOptions(command)
    .option(
      '--target <provider/model>',
      'a target; repeat the option for more targets, in order',
      collect,
    )
    .option('--name <text>', 'display name')
    .option('--description <text>', 'description of the gate')
    .option(
      '--timeout-ms <ms>',
      "longest call, in milliseconds, or 'none' for the server's limit",
      parseTimeout,
    )
    .addOption(new Option('--strategy <name>', 'which target is asked first').choices(STRATEGIES))
    .option(
      '--weights <n,n,…>',
      'weights of the targets for the strategy weighted, in order',
      parseWeights,
    )
    .option(
      '--when <provider/model=budget:share>',
      'ask this target first from a share of a budget on, such as openai/o3=bud_…:0.8',
      collectCondition,
    )
    .option(
      '--hedge-after-ms <ms>',
      "time without a first byte after which the next target is asked as well, or 'none'",
      parseTimeout,
    )
    .option('--instructions <text>', "put before the caller's own instructions")
    .option('--temperature <n>', 'default, 0 to 2', (text) =>
      parseDecimal(text, { min: 0, max: 2 }),
    )
    .option('--top-p <n>', 'default, 0 to 1', (text) => parseDecimal(text, { min: 0, max: 1 }))
    .option('--max-output-tokens <n>', 'default', (text) =>
      parseWhole(text, { min: 1, max: MAX_LIMIT }),
    )
    .addOption(new Option('--reasoning-effort <word>', 'default').choices(REASONING_EFFORTS))
    .addOption(
      new Option('--overrides <how>', 'effect of a request that contradicts the gate').choices(
        OVERRIDES,
      ),
    )
    .addOption(
      new Option('--adapt <how>', 'leave out optional members that a model refuses').choices(
        ADAPT_MODES,
      ),
    )
    .option('--alias <name>', 'another name for calls; repeat the option for more', collect)
    .option('--unlisted-alias <name>', 'the same, absent from the list of models', collect)
    .option('--catch-all', 'answer calls that name no gate of the account')
    .option('--no-catch-all', 'refuse such calls')
    .option(
      '--fact <name=value>',
      `capability that clients see: ${Object.keys(FACT_WORDS).join(', ')}; repeat the option for more`,
      collectFact,
    )
    .option(
      '--codex-instructions <file>',
      "put the gate into Codex's list of models, with this text as the prompt, or 'none'",
      readInstructions,
    )
    .option('--ignore-store', 'send chat calls with store: true as store: false')
    .option('--no-ignore-store', 'send store as the caller wrote it')
    .option('--usage-headers', 'add cost and tokens to the headers of whole answers')
    .option('--no-usage-headers', 'add no such headers')
    .option('--budget-headers', 'report a budget that steers or refuses a call to API keys too')
    .option('--no-budget-headers', 'report such a budget to access tokens only')
    .option('--max-retries <n>', 'retries of a target, 0 to 5', (text) =>
      parseWhole(text, { min: 0, max: 5 }),
    )
}

const MAX_LIMIT = Number.MAX_SAFE_INTEGER

function collect(value: string, previous: readonly string[] | undefined): readonly string[] {
  return [...(previous ?? []), value]
}

type GivenFact = readonly [name: string, value: unknown]

/** `contextTokens=200000`, `inputModalities=text,image`; an empty list is one without words. */
function collectFact(text: string, previous: readonly GivenFact[] | undefined) {
  const [name = '', ...rest] = text.split('=')
  if (!Object.hasOwn(FACT_WORDS, name) || rest.length === 0)
    throw new CliError(
      'usage',
      `--fact must be name=value, with one of the names ${Object.keys(FACT_WORDS).join(', ')}.`,
    )
  const value = rest.join('=')
  const isNumber = name === 'contextTokens' || name === 'maxOutputTokens'
  const words = value.split(',').filter((word) => word !== '')
  const given: GivenFact = [name, isNumber ? parseWhole(value, { min: 1, max: MAX_LIMIT }) : words]
  return [...(previous ?? []), given]
}

/** Commander replaces a parsed null by an empty text, so the word is kept until the body is made. */
export const NONE = 'none'

function readInstructions(path: string): string {
  if (path === NONE) return NONE
  try {
    return readFileSync(path, 'utf8')
  } catch {
    throw new CliError('usage', `The file ${path} cannot be read.`)
  }
}

function parseTimeout(text: string): number | typeof NONE {
  return text === NONE ? NONE : parseWhole(text, { min: 1, max: 3_600_000 })
}

function parseWeights(text: string): readonly number[] {
  return text.split(',').map((weight) => parseWhole(weight.trim(), { min: 0, max: 1000 }))
}

interface Condition {
  readonly model: string
  readonly when: { readonly budget: string; readonly from: number }
}

/** The target's name may contain both separators, so they are searched from the end. */
function collectCondition(text: string, previous: readonly Condition[] | undefined) {
  const [equals, colon] = [text.lastIndexOf('='), text.lastIndexOf(':')]
  if (equals < 1 || colon < equals)
    throw new CliError('usage', '--when must be provider/model=budget:share.')
  const from = parseDecimal(text.slice(colon + 1), { min: 0, max: 1 })
  const when = { budget: text.slice(equals + 1, colon), from }
  return [...(previous ?? []), { model: text.slice(0, equals), when }]
}
