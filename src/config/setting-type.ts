/**
 * The type of a setting, as data: reader, documents and schemas follow from it. Knows neither names
 * nor the environment.
 */
import type { Secret } from '../core/secret.ts'

/** Of a whole number; undefined: it counts things. */
export type Unit = 'milliseconds' | 'bytes' | 'days'

export interface IntegerType {
  readonly type: 'integer'
  readonly min: number
  readonly max: number
  readonly unit?: Unit
}

/** A whole number, or the word that leaves it to the gateway. */
export interface IntegerOrAutoType {
  readonly type: 'integerOrAuto'
  readonly min: number
  readonly max: number
}

/** From 0 to 1. */
export interface ShareType {
  readonly type: 'share'
}

export interface ChoiceType<Choice extends string = string> {
  readonly type: 'choice'
  readonly choices: readonly [Choice, ...Choice[]]
}

/** Separated by commas; an empty one is left out. */
export interface ListType {
  readonly type: 'list'
  /** Its members, for people: `names of headers`. */
  readonly of: string
  /** Absent: their users check them. */
  readonly accepts?: (item: string) => boolean
}

/** How a text has to be; without one, the user of the text checks it. */
export interface TextForm {
  readonly accepts: (text: string) => boolean
  /** Follows "must be". */
  readonly is: string
}

export interface TextType {
  readonly type: 'text'
  readonly form?: TextForm
}

/** Never repeated in a message, and no chart takes it in clear. */
export interface SecretType {
  readonly type: 'secret'
  readonly form?: TextForm
}

export type SettingType =
  | IntegerType
  | IntegerOrAutoType
  | ShareType
  | ChoiceType
  | ListType
  | TextType
  | SecretType

export type ValueOf<Type extends SettingType> = Type extends IntegerType | ShareType
  ? number
  : Type extends IntegerOrAutoType
    ? number | 'auto'
    : Type extends ChoiceType<infer Choice>
      ? Choice
      : Type extends ListType
        ? readonly string[]
        : Type extends SecretType
          ? Secret
          : string

interface Described {
  /** One line, as `--help` shows it. */
  readonly sentence: string
  /** More of it in Markdown, for the page alone; links begin in `docs/`. */
  readonly note?: string
  /** Nodes on one Postgres compare it, and report where it differs (docs/decisions/0086). */
  readonly isShared?: true
}

/** The default where another setting is given. */
interface OtherDefault<Value> {
  readonly setting: string
  readonly default: Value
}

/** Without a default it says what holds instead. */
type Fallback<Value> =
  | { readonly default: Value; readonly defaultWith?: OtherDefault<Value> }
  | { readonly without: string }

export interface Setting extends Described {
  readonly type: SettingType
  readonly default?: unknown
  readonly defaultWith?: OtherDefault<unknown>
  readonly without?: string
}

export function defineSetting<
  Type extends SettingType,
  Rest extends Described & Fallback<ValueOf<NoInfer<Type>>>,
>(type: Type, rest: Rest): { readonly type: Type } & Rest {
  return { type, ...rest }
}

const DAY_MS = 86_400_000

export function count(min: number, max: number = Number.MAX_SAFE_INTEGER): IntegerType {
  return { type: 'integer', min, max }
}

/** Up to a day, unless it says otherwise. */
export function milliseconds(min = 1, max: number = DAY_MS): IntegerType {
  return { type: 'integer', min, max, unit: 'milliseconds' }
}

export const bytes: IntegerType = {
  type: 'integer',
  min: 1,
  max: Number.MAX_SAFE_INTEGER,
  unit: 'bytes',
}

export const days: IntegerType = { type: 'integer', min: 1, max: 36_500, unit: 'days' }

export const port = count(0, 65_535)

export const share: ShareType = { type: 'share' }

export const text: TextType = { type: 'text' }

export const secret: SecretType = { type: 'secret' }

export function choice<const Choice extends string>(
  choices: readonly [Choice, ...Choice[]],
): ChoiceType<Choice> {
  return { type: 'choice', choices }
}
