import { Secret } from '../core/secret.ts'
import { SETTINGS, type SettingName, type SettingValue } from './setting-table.ts'
import {
  type Environment,
  type IntegerType,
  type ListType,
  type Setting,
  SettingsError,
  type TextForm,
} from './setting-type.ts'

export type DefaultedName = {
  [Name in SettingName]: (typeof SETTINGS)[Name] extends { readonly default: unknown }
    ? Name
    : never
}[SettingName]

export function readSetting<Name extends DefaultedName>(
  environment: Environment,
  name: Name,
): SettingValue<Name> {
  return (
    readGiven(environment, name) ?? (defaultOf(environment, SETTINGS[name]) as SettingValue<Name>)
  )
}

export function showSetting(environment: Environment, name: SettingName): string {
  const value = readGiven(environment, name) ?? defaultOf(environment, SETTINGS[name])
  if (value === undefined) return 'not set'
  return value instanceof Secret ? 'set' : String(value)
}

function defaultOf(environment: Environment, { defaultWith, default: fallback }: Setting): unknown {
  return defaultWith !== undefined && environment[defaultWith.setting]
    ? defaultWith.default
    : fallback
}

export function readGiven<Name extends SettingName>(
  environment: Environment,
  name: Name,
): SettingValue<Name> | undefined {
  const given = environment[name]
  if (given === undefined || given === '') return undefined
  // `ValueOf` names the type that `parseSetting` returns for each setting.
  return parseSetting(name, SETTINGS[name], given) as SettingValue<Name>
}

export function parseSetting(
  name: string,
  { type }: Pick<Setting, 'type'>,
  given: string,
): unknown {
  switch (type.type) {
    case 'integer':
      return parseInteger(name, type, given)
    case 'integerOrAuto':
      return given === 'auto' ? given : parseInteger(name, type, given)
    case 'share':
      return parseShare(name, given)
    case 'choice':
      if (type.choices.includes(given)) return given
      throw new SettingsError(
        `${name} must be one of ${type.choices.join(', ')}, but is '${given}'.`,
      )
    case 'list':
      return parseList(name, type, given)
    case 'text':
      return checkForm(name, type.form, given)
    case 'secret':
      return new Secret(checkForm(name, type.form, given))
  }
}

function parseInteger(
  name: string,
  { min, max, unit }: Omit<IntegerType, 'type'>,
  given: string,
): number {
  const value = Number(given)
  if (!/^\d+$/.test(given) || value < min || value > max) {
    const what = unit === undefined ? 'a whole number' : `a whole number of ${unit}`
    throw new SettingsError(`${name} must be ${what} from ${min} to ${max}, but is '${given}'.`)
  }
  return value
}

function parseShare(name: string, given: string): number {
  const value = Number(given)
  if (!/^(?:\d+(?:\.\d+)?|\.\d+)$/.test(given) || value > 1)
    throw new SettingsError(`${name} must be a number from 0 to 1, but is '${given}'.`)
  return value
}

function parseList(name: string, { of, accepts }: ListType, given: string): readonly string[] {
  const items = given
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
  const wrong = accepts === undefined ? undefined : items.find((item) => !accepts(item))
  if (wrong !== undefined)
    throw new SettingsError(`${name} must be ${of}, separated by commas, but holds '${wrong}'.`)
  return items
}

/** The value may contain a password, so messages do not repeat the value. */
function checkForm(name: string, form: TextForm | undefined, given: string): string {
  if (form === undefined || form.accepts(given)) return given
  const around = form.accepts(given.trim()) ? ': remove the space or line break around it' : ''
  throw new SettingsError(`${name} must be ${form.is}${around}.`)
}
