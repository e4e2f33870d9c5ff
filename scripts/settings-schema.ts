/** The part `settings` of the schema of the Helm values, from the table of settings. */
import { COMMAND_LINE_SUBJECT, SERVER_SUBJECTS } from '../src/config/setting-table.ts'
import type { Setting, SettingType } from '../src/config/setting-type.ts'

export const VALUES_SCHEMA = 'deploy/helm/gatehouse/values.schema.json'

export function withSettings(schema: string): string {
  const parsed = JSON.parse(schema) as { readonly properties: object }
  const properties = { ...parsed.properties, settings: settingsSchema() }
  return `${JSON.stringify({ ...parsed, properties }, null, 2)}\n`
}

function settingsSchema(): object {
  const ofServers = SERVER_SUBJECTS.flatMap(({ settings }) => Object.entries(settings))
  const ofCommands = Object.entries(COMMAND_LINE_SUBJECT.settings)
  const isSecret = ([, { type }]: [string, Setting]) => type.type === 'secret'
  const inClear = ofServers.filter((entry) => !isSecret(entry))
  const secrets = [...ofServers, ...ofCommands].filter(isSecret).map(([name]) => name)
  return {
    $comment:
      'Made by scripts/docs.ts from src/config/setting-table.ts: do not edit, run make fmt.',
    type: 'object',
    propertyNames: {
      pattern: '^[A-Z][A-Z0-9_]*$',
      not: { enum: secrets },
      // A misspelt variable of ours would only cause a warning in the log of every node.
      anyOf: [{ not: { pattern: '^GATEHOUSE_' } }, { enum: inClear.map(([name]) => name) }],
    },
    properties: Object.fromEntries(
      inClear.map(([name, setting]) => [name, settingSchema(setting)]),
    ),
    additionalProperties: { type: ANY },
  }
}

const ANY = ['string', 'number', 'boolean']

function settingSchema({ sentence, type, default: fallback }: Setting): object {
  return {
    description: sentence,
    ...typeSchema(type),
    ...(fallback === undefined ? {} : { default: fallback }),
  }
}

/**
 * A number may be written as a number or a text, which the gateway checks; an empty text means no
 * setting.
 */
function typeSchema(type: SettingType): object {
  switch (type.type) {
    case 'integer':
      return { type: ['integer', 'string'], ...rangeOf(type), pattern: '^[0-9]*$' }
    case 'integerOrAuto':
      return { type: ['integer', 'string'], ...rangeOf(type), pattern: '^([0-9]*|auto)$' }
    case 'share':
      return {
        type: ['number', 'string'],
        minimum: 0,
        maximum: 1,
        pattern: '^([0-9]*\\.?[0-9]+)?$',
      }
    case 'choice':
      return { enum: [...type.choices, ''] }
    default:
      return { type: ANY }
  }
}

function rangeOf({ min, max }: { min: number; max: number }): object {
  return { minimum: min, maximum: max }
}
