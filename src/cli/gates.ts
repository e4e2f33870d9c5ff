import { readFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import type { Schemas } from '../contract/api.generated.ts'
import {
  ADAPT_MODES,
  GATE_DEFAULT_NAMES,
  OVERRIDES,
  REASONING_EFFORTS,
  STRATEGIES,
} from '../core/gate.ts'
import { CliError } from './cli-error.ts'
import type { Client } from './client.ts'
import type { CliContext } from './context.ts'
import {
  type Columns,
  formatTable,
  formatTime,
  printJson,
  printLine,
  printThing,
} from './output.ts'
import { parseDecimal, parseWhole } from './program-parts.ts'
import {
  addAct,
  addDelete,
  addList,
  addShow,
  changesOf,
  type Fact,
  idOf,
} from './resource-verbs.ts'

type Gate = Schemas['Gate']

export function bindGates(program: Command, context: CliContext): void {
  const gates = program
    .command('gates')
    .description('gates: names that applications call in place of a model')

  addAct(gates, context, {
    name: 'create',
    argument: ['id', 'the name that calls use as the model'],
    about: 'create a gate, with one --target or more',
    examples: [
      'gatehouse gates create assistant --target openai/gpt-5-mini',
      'gatehouse gates create fast --target groq/llama-3.3-70b-versatile --target openai/gpt-4o-mini',
    ],
    options: withGateOptions,
    toBody(flags: GateFlags, id) {
      const { targets, ...settings } = toGateBody(flags)
      if (targets === undefined)
        throw new CliError('usage', 'A gate needs a target: give --target provider/model.')
      return { id, ...settings, targets }
    },
    send: (client, _, body) => client.call('POST /v1/gates', 'id', { body }),
    show,
  })

  addList(gates, context, {
    ask: 'GET /v1/gates',
    about: 'list the gates, newest first',
    examples: ['gatehouse gates list'],
    columns: async (client) => {
      const fallbacks = await findFallbacks(client)
      return {
        ID: (row) => row.id,
        TARGETS: (row) => targetsOf(row).join(', '),
        ...(fallbacks.length > 0 ? { 'ON FALLBACK': (row) => shareOf(fallbacks, row.id) } : {}),
      }
    },
  })

  addShow(gates, context, {
    ask: 'GET /v1/gates/{id}',
    one: 'gate',
    about: 'show one gate, and why a fallback answers',
    examples: ['gatehouse gates show assistant'],
    show,
    async findFacts(client, id) {
      const found = (await findFallbacks(client)).find(({ gate }) => gate === id)
      return found === undefined
        ? []
        : [['on fallback', `${shareOf([found], id)} of calls lately. ${found.message}`]]
    },
  })

  addAct(gates, context, {
    name: 'update',
    argument: ['id', idOf('gate')],
    about: 'change a gate; only the given options change',
    examples: ['gatehouse gates update assistant --target openai/gpt-5 --max-retries 1'],
    options: (command) =>
      withGateOptions(command)
        .option('--clear-defaults', 'remove all defaults except those given with it')
        .option('--clear-aliases', 'remove all aliases except those given with it')
        .option('--clear-facts', 'remove all facts except those given with it'),
    toBody(flags: GateFlags) {
      changesOf(toGateBody(flags))
      return flags
    },
    async send(client, id, flags) {
      // Defaults change together, so the unchanged defaults are read first.
      const current = setsSomeDefaults(flags)
        ? await client.call('GET /v1/gates/{id}', 'id', { path: { id } })
        : {}
      const body = toGateBody(flags, current)
      return await client.call('PATCH /v1/gates/{id}', 'id', { path: { id }, body })
    },
    show,
  })

  addAct(gates, context, {
    name: 'test',
    argument: ['id', idOf('gate')],
    about: 'send one small call to every target of a gate; these calls count and are logged',
    examples: ['gatehouse gates test assistant'],
    toBody: () => undefined,
    send: (client, id) => client.call('POST /v1/gates/{id}/test', 'results', { path: { id } }),
    show: showTest,
  })

  addDelete(gates, context, {
    ask: 'DELETE /v1/gates/{id}',
    one: 'gate',
    about: 'delete a gate; calls through the gate are refused at once, and its budgets stay',
    examples: ['gatehouse gates delete assistant --yes'],
    findRest: findBudgetsOf,
  })
}

type Fallback = Schemas['GateFallback']

async function findFallbacks(client: Client): Promise<readonly Fallback[]> {
  const asked = client.call('GET /v1/targets/fallbacks', 'data')
  return (await asked.catch((error) => ({ data: ifRefused(error).rows }))).data
}

function shareOf(fallbacks: readonly Fallback[], gateId: string): string {
  const found = fallbacks.find(({ gate }) => gate === gateId)
  return found === undefined ? '-' : `${Math.round(found.share * 100)} %`
}

/** Budgets of a deleted gate remain, and limit a new gate with the same id. */
async function findBudgetsOf(client: Client, gateId: string): Promise<readonly string[]> {
  const { rows } = await client.listAll('GET /v1/budgets', MOST_BUDGETS).catch(ifRefused)
  return rows
    .filter((budget) => budget.gateId === gateId)
    .map(
      ({ id }) =>
        `The budget ${id} of the gate stays, and limits a new gate with this id. ` +
        `Delete it with: gatehouse budgets delete ${id}`,
    )
}

function ifRefused(error: unknown): { readonly rows: readonly [] } {
  if (error instanceof CliError) return { rows: [] }
  throw error
}

const MOST_BUDGETS = 10_000

export function targetsOf({ targets }: Pick<Gate, 'targets'>): string[] {
  return targets.map(({ model }) => model)
}

const NAME_WIDTH = 15

function show(gate: Gate, isJson: boolean, facts: readonly Fact[] = []): void {
  printThing(
    gate,
    isJson,
    [
      ['id', gate.id],
      ['name', gate.displayName],
      ['description', gate.description || '-'],
      ['targets', targetsOf(gate).join(', ')],
      ...facts,
      ['strategy', gate.strategy],
      ['hedge after', gate.hedgeAfterMs === null ? 'never' : `${gate.hedgeAfterMs} ms`],
      ['overrides', gate.overrides],
      ['aliases', describeAliases(gate)],
      ['adapt', gate.adapt],
      ['ignore store', gate.ignoreStore ? 'yes' : 'no'],
      ['catch-all', gate.isCatchAll ? 'yes, for unknown names' : 'no'],
      ...factsShown(gate),
      ['codex prompt', toLine(gate.codexInstructions ?? 'none')],
      ['usage headers', gate.usageHeaders ? 'yes' : 'no'],
      ['budget headers', gate.budgetHeaders ? 'yes' : 'no'],
      ...conditionsOf(gate),
      ...defaultsOf(gate),
      ['timeout', gate.timeoutMs === null ? "the server's limit" : `${gate.timeoutMs} ms`],
      ['retries', String(gate.maxRetries)],
      ['created', formatTime(gate.createdAt)],
      ['updated', formatTime(gate.updatedAt)],
    ],
    NAME_WIDTH,
  )
}

function conditionsOf({ targets }: Gate): (readonly [string, string])[] {
  return targets.flatMap(({ model, when }) =>
    when === undefined
      ? []
      : [['asked first', `${model} from ${when.from} of the budget ${when.budget}`] as const],
  )
}

function describeAliases({ aliases = [] }: Gate): string {
  const names = aliases.map(({ name, isListed }) => (isListed ? name : `${name} (unlisted)`))
  return names.join(', ') || '-'
}

const FACT_WORDS = {
  contextTokens: 'context',
  maxOutputTokens: 'output',
  inputModalities: 'takes',
  outputModalities: 'answers with',
  reasoningEfforts: 'efforts',
} as const

function factsShown({ resolvedFacts = {} }: Gate): (readonly [string, string])[] {
  return Object.entries(resolvedFacts).flatMap(([name, fact]) => {
    if (fact === undefined) return []
    const { value, source } = fact
    const text = typeof value === 'number' ? String(value) : value.join(', ') || 'none'
    return [[FACT_WORDS[name as keyof typeof FACT_WORDS], `${text} (from the ${source})`] as const]
  })
}

const DEFAULT_NAMES: readonly (readonly [keyof Gate['defaults'], string])[] = [
  ['instructions', 'instructions'],
  ['temperature', 'temperature'],
  ['topP', 'top p'],
  ['maxOutputTokens', 'output limit'],
  ['reasoningEffort', 'effort'],
]

function defaultsOf({ defaults }: Gate): (readonly [string, string])[] {
  return DEFAULT_NAMES.filter(([member]) => defaults[member] !== undefined).map(
    ([member, name]) => {
      return [name, toLine(String(defaults[member]))]
    },
  )
}

const MAX_SHOWN = 60

function toLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line
}

type GateTest = Schemas['GateTest']

/** @throws CliError when a target failed, so that scripts notice the failure */
function showTest(test: GateTest, isJson: boolean): void {
  const { results } = test
  if (isJson) printJson(test)
  else {
    printLine(formatTable(TEST_COLUMNS, results))
    // Printed below the table, because a column would cut the messages.
    for (const { target, error } of results)
      if (error !== undefined) printLine(`${target}: ${error.code}: ${error.message}`)
  }
  const failed = results.filter((result) => result.status !== 'ok').length
  if (failed > 0) throw new CliError('failed', `${failed} of ${results.length} targets failed.`)
}

const TEST_COLUMNS: Columns<GateTest['results'][number]> = {
  TARGET: ({ target }) => target,
  STATUS: ({ status }) => status,
  MS: ({ latencyMs }) => String(latencyMs),
  TOKENS: ({ usage }) => (usage === undefined ? '-' : `${usage.inputTokens}+${usage.outputTokens}`),
  ERROR: ({ error }) => error?.code ?? '',
}

type GateBody = Schemas['UpdateGate']
type Defaults = NonNullable<GateBody['defaults']>
type Current = Partial<Schemas['Gate']>

interface GateFlags {
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

function withGateOptions(command: Command): Command {
  return command
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
    .option('--alias <name>', 'another name for calls; again for each further one', collect)
    .option('--unlisted-alias <name>', 'the same, absent from the list of models', collect)
    .option('--catch-all', 'answer calls that name no gate of the account')
    .option('--no-catch-all', 'refuse such calls')
    .option(
      '--fact <name=value>',
      `what clients are told: ${Object.keys(FACT_WORDS).join(', ')}; again for each further one`,
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
    .option('--budget-headers', 'name the budget that steered or refused a call to keys too')
    .option('--no-budget-headers', 'name it to access tokens only')
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
const NONE = 'none'

function noneToNull<Value>(value: Value | typeof NONE | undefined): Value | null | undefined {
  return value === NONE ? null : value
}

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
  const from = parseDecimal(text.slice(colon + 1), { min: 0, max: 10 })
  const when = { budget: text.slice(equals + 1, colon), from }
  return [...(previous ?? []), { model: text.slice(0, equals), when }]
}

function toTargets({ target, weights, when = [] }: GateFlags): GateBody['targets'] {
  if (weights !== undefined && weights.length !== (target?.length ?? 0))
    throw new CliError('usage', 'Give as many --weights as there are --target options.')
  const unknown = when.find(({ model }) => target?.includes(model) !== true)
  if (unknown !== undefined)
    throw new CliError('usage', `--when names ${unknown.model}: give it as --target too.`)
  return target?.map((model, index) => {
    const weight = weights?.[index]
    const condition = when.find((each) => each.model === model)?.when
    return {
      model,
      ...(weight === undefined ? {} : { weight }),
      ...(condition === undefined ? {} : { when: condition }),
    }
  })
}

function setsSomeDefaults(flags: GateFlags): boolean {
  return (
    flags.clearDefaults !== true && GATE_DEFAULT_NAMES.some((name) => flags[name] !== undefined)
  )
}

function toDefaults(flags: GateFlags, current: Current): GateBody['defaults'] {
  const given = GATE_DEFAULT_NAMES.filter((name) => flags[name] !== undefined).map((name) => [
    name,
    flags[name],
  ])
  if (given.length === 0 && flags.clearDefaults !== true) return undefined
  const kept = flags.clearDefaults === true ? {} : current.defaults
  return { ...kept, ...Object.fromEntries(given) }
}

/** As with targets, the given aliases replace all. */
function toAliases({ alias, unlistedAlias, clearAliases }: GateFlags): GateBody['aliases'] {
  if (alias === undefined && unlistedAlias === undefined && clearAliases !== true) return undefined
  return [...(alias ?? []), ...(unlistedAlias ?? []).map((name) => ({ name, isListed: false }))]
}

/**
 * A missing option is undefined, so that a PATCH changes nothing else.
 * @param current the current gate, when some of its defaults change
 */
function toGateBody(flags: GateFlags, current: Current = {}): GateBody {
  const { name, description, strategy, hedgeAfterMs, overrides, timeoutMs, maxRetries } = flags
  return {
    targets: toTargets(flags),
    displayName: name,
    description,
    strategy,
    hedgeAfterMs: noneToNull(hedgeAfterMs),
    overrides,
    defaults: toDefaults(flags, current),
    aliases: toAliases(flags),
    isCatchAll: flags.catchAll,
    facts: flags.fact || flags.clearFacts ? Object.fromEntries(flags.fact ?? []) : undefined,
    codexInstructions: noneToNull(flags.codexInstructions),
    usageHeaders: flags.usageHeaders,
    budgetHeaders: flags.budgetHeaders,
    adapt: flags.adapt,
    ignoreStore: flags.ignoreStore,
    timeoutMs: noneToNull(timeoutMs),
    maxRetries,
  }
}
