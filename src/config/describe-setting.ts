/** Type and default of a setting as people read them. Knows no entry, and neither help nor page. */
import type { Setting, SettingType, Unit } from './setting-type.ts'

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

/** A value as it is written, and what that is in a larger unit. */
export interface DescribedValue {
  readonly written: string
  /** `10 min`; undefined: it is said as well by what is written. */
  readonly inWords: string | undefined
}

/** @returns undefined for a setting without a default */
export function describeDefault({ type, default: value }: Setting): DescribedValue | undefined {
  return value === undefined ? undefined : describeValue(type, value)
}

/** That which holds where another setting is given. */
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

/** The largest that it is a whole number of. */
function inLargerUnit(value: number, unit: Unit): string | undefined {
  const fitting = LARGER_UNITS[unit].find(([size]) => value > 0 && value % size === 0)
  return fitting === undefined ? undefined : `${value / fitting[0]} ${fitting[1]}`
}
