import { createGateBody } from '../../../src/contract/gates.ts'
import { describeProblems, type Problem } from '../../../src/contract/problems.ts'
import type { AnswerOf, QuestionOf } from '../../api/ask.ts'
import { type FuseDraft, toFuse, toFuseDraft } from '../../format/fuse-draft.ts'
import { joinGroups } from '../../format/join-groups.ts'

export type Gate = AnswerOf<'GET /v1/gates/{id}'>
export type NewGate = NonNullable<QuestionOf<'POST /v1/gates'>[0]>['body']
export type GateSettings = Omit<NewGate, 'id'>
export type Strategy = Gate['strategy']
export type Overrides = Gate['overrides']
export type AdaptMode = Gate['adapt']

export interface TargetDraft {
  /** Stable while the target is moved and renamed. */
  readonly key: string
  readonly model: string
  readonly weight: string
  /** The id of the budget that puts the target first; empty: none. */
  readonly whenBudget: string
  readonly whenPercent: string
}

/** The fields' contents as typed. The gateway replaces empty fields by its defaults. */
export interface GateDraft {
  readonly id: string
  readonly displayName: string
  readonly description: string
  readonly targets: readonly TargetDraft[]
  readonly typedTarget: string
  readonly strategy: Strategy
  readonly hedgeAfterMs: string
  readonly instructions: string
  readonly temperature: string
  readonly topP: string
  readonly maxOutputTokens: string
  readonly reasoningEffort: NonNullable<Gate['defaults']['reasoningEffort']> | ''
  readonly overrides: Overrides
  readonly aliases: string
  readonly unlistedAliases: string
  readonly isCatchAll: boolean
  readonly contextTokens: string
  readonly outputTokens: string
  /** Words separated by commas or spaces, as are the efforts. */
  readonly inputModalities: string
  readonly outputModalities: string
  readonly reasoningEfforts: string
  readonly codexInstructions: string
  readonly usageHeaders: boolean
  readonly budgetHeaders: boolean
  readonly fuse: FuseDraft
  readonly adapt: AdaptMode
  readonly ignoreStore: boolean
  readonly timeoutMs: string
  readonly maxRetries: string
}

export const EMPTY_DRAFT: GateDraft = {
  id: '',
  displayName: '',
  description: '',
  targets: [],
  typedTarget: '',
  strategy: 'fallback',
  hedgeAfterMs: '',
  instructions: '',
  temperature: '',
  topP: '',
  maxOutputTokens: '',
  reasoningEffort: '',
  overrides: 'ignore',
  aliases: '',
  unlistedAliases: '',
  isCatchAll: false,
  contextTokens: '',
  outputTokens: '',
  inputModalities: '',
  outputModalities: '',
  reasoningEfforts: '',
  codexInstructions: '',
  usageHeaders: false,
  budgetHeaders: false,
  fuse: toFuseDraft(null),
  adapt: 'retry',
  ignoreStore: false,
  timeoutMs: '',
  maxRetries: '0',
}

let addedTargets = 0

export function toNewTarget(model: string): TargetDraft {
  addedTargets += 1
  return { key: `added-${addedTargets}`, model, weight: '', whenBudget: '', whenPercent: '' }
}

const NOT_IN_IDS = /[^A-Za-z0-9._-]+/g
const MAX_ID_LENGTH = 64

/**
 * A new gate's draft.
 * @param model `provider/model` of the first target, whose name the gate's id begins as
 */
export function toDraftWith(model: string | undefined): GateDraft {
  if (model === undefined) return EMPTY_DRAFT
  const name = model.slice(model.indexOf('/') + 1)
  const id = name
    .replace(NOT_IN_IDS, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, MAX_ID_LENGTH)
  return { ...EMPTY_DRAFT, id, targets: [toNewTarget(model)] }
}

export function toDraft(gate: Gate): GateDraft {
  const { defaults } = gate
  return {
    id: gate.id,
    displayName: gate.displayName,
    description: gate.description,
    targets: gate.targets.map(({ model, weight, when }, index) => ({
      key: `saved-${index}`,
      model,
      weight: toText(weight),
      whenBudget: when?.budget ?? '',
      whenPercent: when === undefined ? '' : toText(toPercent(when.from)),
    })),
    typedTarget: '',
    strategy: gate.strategy,
    hedgeAfterMs: toText(gate.hedgeAfterMs),
    instructions: defaults.instructions ?? '',
    temperature: toText(defaults.temperature),
    topP: toText(defaults.topP),
    maxOutputTokens: toText(defaults.maxOutputTokens),
    reasoningEffort: defaults.reasoningEffort ?? '',
    overrides: gate.overrides,
    aliases: joinNames(gate.aliases.filter(({ isListed }) => isListed)),
    unlistedAliases: joinNames(gate.aliases.filter(({ isListed }) => !isListed)),
    isCatchAll: gate.isCatchAll,
    contextTokens: toText(gate.facts.contextTokens),
    outputTokens: toText(gate.facts.maxOutputTokens),
    inputModalities: (gate.facts.inputModalities ?? []).join(', '),
    outputModalities: (gate.facts.outputModalities ?? []).join(', '),
    reasoningEfforts: (gate.facts.reasoningEfforts ?? []).join(', '),
    codexInstructions: gate.codexInstructions ?? '',
    usageHeaders: gate.usageHeaders,
    budgetHeaders: gate.budgetHeaders,
    fuse: toFuseDraft(gate.fuse),
    adapt: gate.adapt,
    ignoreStore: gate.ignoreStore,
    timeoutMs: toText(gate.timeoutMs),
    maxRetries: String(gate.maxRetries),
  }
}

export function toSettings(
  draft: GateDraft,
): Required<Omit<GateSettings, 'displayName'>> & GateSettings {
  const name = draft.displayName.trim()
  return {
    ...(name === '' ? {} : { displayName: name }),
    description: draft.description,
    targets: draft.targets.map(({ model, weight, whenBudget, whenPercent }) => ({
      model: model.trim(),
      ...(weight.trim() === '' ? {} : { weight: toWhole(weight) }),
      ...(whenBudget === '' ? {} : { when: { budget: whenBudget, from: toShare(whenPercent) } }),
    })),
    strategy: draft.strategy,
    hedgeAfterMs: toNullable(draft.hedgeAfterMs),
    defaults: {
      ...(draft.instructions.trim() === '' ? {} : { instructions: draft.instructions }),
      ...(draft.temperature.trim() === '' ? {} : { temperature: toNumber(draft.temperature) }),
      ...(draft.topP.trim() === '' ? {} : { topP: toNumber(draft.topP) }),
      ...(draft.maxOutputTokens.trim() === ''
        ? {}
        : { maxOutputTokens: toWhole(draft.maxOutputTokens) }),
      ...(draft.reasoningEffort === '' ? {} : { reasoningEffort: draft.reasoningEffort }),
    },
    overrides: draft.overrides,
    aliases: [
      ...splitNames(draft.aliases),
      ...splitNames(draft.unlistedAliases).map((name) => ({ name, isListed: false })),
    ],
    isCatchAll: draft.isCatchAll,
    facts: {
      ...(draft.contextTokens.trim() === '' ? {} : { contextTokens: toWhole(draft.contextTokens) }),
      ...(draft.outputTokens.trim() === '' ? {} : { maxOutputTokens: toWhole(draft.outputTokens) }),
      ...toWords('inputModalities', draft.inputModalities),
      ...toWords('outputModalities', draft.outputModalities),
      ...toWords('reasoningEfforts', draft.reasoningEfforts),
    },
    codexInstructions: draft.codexInstructions.trim() === '' ? null : draft.codexInstructions,
    usageHeaders: draft.usageHeaders,
    budgetHeaders: draft.budgetHeaders,
    fuse: toFuse(draft.fuse),
    adapt: draft.adapt,
    ignoreStore: draft.ignoreStore,
    timeoutMs: toNullable(draft.timeoutMs),
    maxRetries: draft.maxRetries.trim() === '' ? 0 : toWhole(draft.maxRetries),
  }
}

export function toNewGate(draft: GateDraft): NewGate {
  const id = draft.id.trim()
  return { ...(id === '' ? {} : { id }), ...toSettings(draft) }
}

export function toChanges(gate: Gate, draft: GateDraft): Partial<GateSettings> {
  const before: GateSettings = toSettings(toDraft(gate))
  const after: GateSettings = { displayName: gate.id, ...toSettings(draft) }
  const changed = Object.entries(after).filter(
    ([field, value]) =>
      JSON.stringify(value) !== JSON.stringify(before[field as keyof GateSettings]),
  )
  return Object.fromEntries(changed)
}

/** Without this problem the reader might think that the typed target was saved. */
const NOT_ADDED: Problem = {
  field: 'typedTarget',
  message:
    'The text in the field is not a target yet: press Enter to choose it, or clear the field.',
}

const SHARE_FIELD = /^targets\[\d+\]\.when\.from$/
const WRONG_SHARE = 'must be a percentage above 0 and at most 100, such as 80'

export function findProblems(draft: GateDraft): readonly Problem[] {
  const body = toNewGate(draft)
  const checked = createGateBody.safeParse(body)
  const problems = checked.success ? [] : describeProblems(checked.error.issues, body)
  // The field is in percent, the schema's message is about a share.
  const found = problems.map((problem) =>
    SHARE_FIELD.test(problem.field) ? { ...problem, message: WRONG_SHARE } : problem,
  )
  return draft.typedTarget.trim() === '' ? found : [NOT_ADDED, ...found]
}

export function problemAt(problems: readonly Problem[], field: string): string | undefined {
  return problems.find((problem) => isWithin(problem.field, field))?.message
}

export function isWithin(field: string, parent: string): boolean {
  return field === parent || field.startsWith(`${parent}.`) || field.startsWith(`${parent}[`)
}

/** Each target's share of the calls under `weighted`, from 0 to 1; invalid weights count as 0. */
export function toShares(targets: readonly TargetDraft[]): readonly number[] {
  const weights = targets.map(({ weight }) => {
    const value = weight.trim() === '' ? 1 : toWhole(weight)
    return Number.isFinite(value) && value > 0 ? value : 0
  })
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return weights.map((weight) => (sum === 0 ? 0 : weight / sum))
}

/** NaN for empty text too, because a condition needs a share. */
function toShare(percent: string): number {
  return toNumber(percent.replace('%', '').trim() || 'none') / 100
}

/** Without the digits that a product of fractions adds. */
function toPercent(share: number): number {
  return Number((share * 100).toFixed(6))
}

function joinNames(aliases: Gate['aliases']): string {
  return aliases.map(({ name }) => name).join(', ')
}

function splitNames(text: string): string[] {
  return text.split(/[\s,]+/).filter((name) => name !== '')
}

/** The schema checks the words. */
function toWords(name: keyof NonNullable<GateSettings['facts']>, text: string): object {
  const words = splitNames(text)
  return words.length === 0 ? {} : { [name]: words }
}

function toText(value: number | null | undefined): string {
  return value === null || value === undefined ? '' : String(value)
}

function toNullable(text: string): number | null {
  return text.trim() === '' ? null : toWhole(text)
}

/**
 * Commas may separate thousands: a limit of 1,000 tokens is not one token. Points may separate
 * thousands or decimals, so text with points is not a whole number.
 */
function toWhole(text: string): number {
  return text.includes('.') ? NOT_WHOLE : toNumber(joinGroups(text.trim()))
}

/** Any fraction makes the schema ask for a whole number. */
const NOT_WHOLE = 0.5

/** NaN for invalid text; the schema then says what is expected. */
function toNumber(text: string): number {
  return Number(text.trim().replace(',', '.'))
}
