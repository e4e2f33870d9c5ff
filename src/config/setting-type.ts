import type { SettingFault } from '../core/configuration-report.ts'
import type { Secret } from '../core/secret.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The message names every fault. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
  readonly faults: readonly SettingFault[]

  constructor(message: string, faults: readonly SettingFault[] = [{ message }]) {
    super(message)
    this.faults = faults
  }
}

export function faultsOf(error: unknown): readonly SettingFault[] {
  return error instanceof SettingsError
    ? error.faults
    : [{ message: error instanceof Error ? error.message : String(error) }]
}

type Unit = 'milliseconds' | 'bytes' | 'days'

export interface IntegerType {
  readonly type: 'integer'
  readonly min: number
  readonly max: number
  readonly unit?: Unit
}

export interface IntegerOrAutoType {
  readonly type: 'integerOrAuto'
  readonly min: number
  readonly max: number
}

export interface ShareType {
  readonly type: 'share'
}

export interface ChoiceType<Choice extends string = string> {
  readonly type: 'choice'
  readonly choices: readonly [Choice, ...Choice[]]
}

/** Separated by commas. Empty entries are ignored. */
export interface ListType {
  readonly type: 'list'
  readonly of: string
  readonly accepts?: (item: string) => boolean
}

export interface TextForm {
  readonly accepts: (text: string) => boolean
  readonly is: string
}

export interface TextType {
  readonly type: 'text'
  readonly form?: TextForm
}

/** Never repeated in a message, and never in clear text in a Helm value. */
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
  readonly sentence: string
  readonly note?: string
  /**
   * Whether nodes on one Postgres compare the setting and report differences (docs/decisions/0086).
   */
  readonly isShared?: true
}

interface OtherDefault<Value> {
  readonly setting: string
  readonly default: Value
}

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

export function describeType(type: SettingType): string {
  switch (type.type) {
    case 'integer':
      return `${type.unit ?? 'whole number'}, ${describeRange(type)}`
    case 'integerOrAuto':
      return `whole number, ${describeRange(type)}, or auto`
    case 'share':
      return 'number from 0 to 1'
    case 'choice':
      return type.choices.join(', ')
    case 'list':
      return `${type.of}, separated by commas`
    case 'text':
      return type.form?.is ?? 'text'
    case 'secret':
      return `secret${type.form === undefined ? '' : `: ${type.form.is}`}`
  }
}

function describeRange({ min, max }: { min: number; max: number }): string {
  return max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `${min} to ${max}`
}

interface DescribedValue {
  readonly written: string
  readonly inWords: string | undefined
}

export function describeDefault({ type, default: value }: Setting): DescribedValue | undefined {
  return value === undefined ? undefined : describeValue(type, value)
}

export function describeOtherDefault({
  type,
  defaultWith,
}: Setting): (DescribedValue & { readonly setting: string }) | undefined {
  if (defaultWith === undefined) return undefined
  return { ...describeValue(type, defaultWith.default), setting: defaultWith.setting }
}

function describeValue(type: SettingType, value: unknown): DescribedValue {
  const unit = type.type === 'integer' ? type.unit : undefined
  const inWords =
    unit !== undefined && typeof value === 'number' ? inLargerUnit(value, unit) : undefined
  return { written: String(value), inWords }
}

const LARGER_UNITS: Readonly<Record<Unit, readonly (readonly [size: number, name: string])[]>> = {
  milliseconds: [
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1_000, 's'],
  ],
  bytes: [
    [1024 ** 3, 'GiB'],
    [1024 ** 2, 'MiB'],
    [1024, 'KiB'],
  ],
  days: [],
}

/** The largest unit in which the value is a whole number. */
function inLargerUnit(value: number, unit: Unit): string | undefined {
  const fitting = LARGER_UNITS[unit].find(([size]) => value > 0 && value % size === 0)
  return fitting === undefined ? undefined : `${value / fitting[0]} ${fitting[1]}`
}
