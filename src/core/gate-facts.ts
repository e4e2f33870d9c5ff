/**
 * The capabilities of a gate: facts set on the gate, or else facts that hold for all of its
 * targets.
 */
import type { Gate } from './gate.ts'
import { MODALITIES, type ModelFacts } from './model-facts.ts'

export type FactName = keyof ModelFacts

/** Set on the gate, or computed from the facts of its targets. */
export const FACT_SOURCES = ['gate', 'targets'] as const
export type FactSource = (typeof FACT_SOURCES)[number]

export type ResolvedFacts = {
  readonly [Name in FactName]?: {
    readonly value: NonNullable<ModelFacts[Name]>
    readonly source: FactSource
  }
}

/** @param factsOf of a target `provider/model`; undefined: nothing is known of the model */
export function resolveFacts(
  { targets, facts: own }: Pick<Gate, 'targets' | 'facts'>,
  factsOf: (target: string) => ModelFacts | undefined,
): ResolvedFacts {
  const shared = shareFacts(targets.map(({ model }) => factsOf(model) ?? {}))
  return Object.fromEntries(
    FACT_NAMES.flatMap((name) => {
      const source: FactSource = own[name] === undefined ? 'targets' : 'gate'
      const value = own[name] ?? shared[name]
      return value === undefined ? [] : [[name, { value, source }]]
    }),
  )
}

const FACT_NAMES = [
  'contextTokens',
  'maxOutputTokens',
  'inputModalities',
  'outputModalities',
  'reasoningEfforts',
] as const satisfies readonly FactName[]

export function factsOfTarget(
  known: { factsOf(providerId: string, model: string): ModelFacts | undefined } | undefined,
  target: string,
): ModelFacts | undefined {
  const slash = target.indexOf('/')
  return known?.factsOf(target.slice(0, slash), target.slice(slash + 1))
}

/** The facts without their sources. */
export function toFacts(resolved: ResolvedFacts): ModelFacts {
  return Object.fromEntries(Object.entries(resolved).map(([name, { value }]) => [name, value]))
}

/** A fact that is unknown for one model is unknown for the gate. */
function shareFacts(models: readonly ModelFacts[]): ModelFacts {
  const inputModalities = intersect(models.map((model) => model.inputModalities))
  const outputModalities = intersect(models.map((model) => model.outputModalities))
  return {
    contextTokens: smallest(models.map((model) => model.contextTokens)),
    maxOutputTokens: smallest(models.map((model) => model.maxOutputTokens)),
    inputModalities: inputModalities && MODALITIES.filter((one) => inputModalities.includes(one)),
    outputModalities:
      outputModalities && MODALITIES.filter((one) => outputModalities.includes(one)),
    reasoningEfforts: intersect(models.map((model) => model.reasoningEfforts)),
  }
}

function smallest(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length < values.length || known.length === 0 ? undefined : Math.min(...known)
}

function intersect<Word>(
  lists: readonly (readonly Word[] | undefined)[],
): readonly Word[] | undefined {
  const known = lists.filter((list) => list !== undefined)
  const [first, ...others] = known
  if (known.length < lists.length || first === undefined) return undefined
  return first.filter((word) => others.every((list) => list.includes(word)))
}
