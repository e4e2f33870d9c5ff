/** Prints a gate, one setting a line. */
import type { Schemas } from '../../contract/api.generated.ts'
import { describeFuse } from '../fuse-verbs.ts'
import { formatTime, printThing } from '../output.ts'
import type { Fact } from '../resource-verbs.ts'

type Gate = Schemas['Gate']

export function targetsOf({ targets }: Pick<Gate, 'targets'>): string[] {
  return targets.map(({ model }) => model)
}

const NAME_WIDTH = 15

export function showGate(gate: Gate, isJson: boolean, facts: readonly Fact[] = []): void {
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
      ['fuse', describeFuse(gate.fuse)],
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

export const FACT_WORDS = {
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
