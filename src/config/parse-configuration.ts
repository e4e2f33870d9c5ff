/**
 * Parses the configuration file's text, or reports each error with its line. Loaded only when there
 * is a file. No message repeats a value of the file, which may be a key put there by mistake.
 */
import {
  type ConfiguredProvider,
  configuration,
  configurationNotes,
} from '../contract/configuration.ts'
import { withoutTrailingSlashes } from '../core/http.ts'
import type { PlansSection } from '../core/plan.ts'
import type { Endpoint, Provider } from '../providers/define.ts'
import { SettingsError } from './setting-type.ts'
import { readYaml, toYamlFaults, type YamlFault } from './yaml-document.ts'

export interface ConfigurationText {
  readonly path: string
  readonly text: string
}

export interface Configuration {
  /** The operator's own providers. */
  readonly providers: readonly Provider[]
  /** Undefined: the built-in plans. */
  readonly plans: PlansSection | undefined
  /** Undefined: the default. The variable has priority. */
  readonly logLevel: string | undefined
}

/**
 * @param known providers whose ids are taken
 * @throws SettingsError naming file, line and member of every error
 */
export function parseConfiguration(
  file: ConfigurationText,
  known: readonly Provider[],
): Configuration {
  const document = readYaml(file.text)
  if (!('value' in document)) throw toError(file, document)
  // An empty file, or one with only comments, sets nothing.
  const value = document.value ?? {}
  const { lineOf } = document
  const parsed = configuration.safeParse(value)
  if (!parsed.success)
    throw toError(file, toYamlFaults(parsed.error, { value, lineOf, notes: configurationNotes }))
  const taken = new Set(known.map((provider) => provider.id))
  const clashes = parsed.data.providers.flatMap(({ id }, index) =>
    taken.has(id)
      ? [
          {
            line: lineOf(['providers', index, 'id']),
            message:
              `providers[${index}].id must not be '${id}': Gatehouse has a provider of that ` +
              `name. Choose another, or set the address of that provider with its variable.`,
          },
        ]
      : [],
  )
  if (clashes.length > 0) throw toError(file, clashes)
  const { plans, logLevel } = parsed.data
  return { providers: parsed.data.providers.map(toProvider), plans, logLevel }
}

function toError({ path }: ConfigurationText, faults: readonly YamlFault[]): SettingsError {
  const places = faults.map(({ line, message }) => `${path}:${line}: ${message}`)
  return new SettingsError(
    `The configuration file is invalid and was not applied.\n${places.join('\n')}`,
  )
}

function toProvider(configured: ConfiguredProvider): Provider {
  const { id, name, baseUrl, dialects, chatPath, countsStreamsOnRequest } = configured
  const { apiKeyVariable, headers, prices, toolFees } = configured
  const endpoints: Record<(typeof dialects)[number], Endpoint> = {
    'openai-chat': { path: chatPath, countsStreamsOnRequest },
    'openai-responses': { path: '/responses' },
    'openai-embeddings': { path: '/embeddings' },
  }
  return {
    id,
    name,
    baseUrl: withoutTrailingSlashes(baseUrl),
    endpoints: Object.fromEntries(dialects.map((dialect) => [dialect, endpoints[dialect]])),
    ...(apiKeyVariable === undefined ? {} : { keyVariable: apiKeyVariable }),
    ...(headers === undefined ? {} : { fixedHeaders: headers }),
    ...(prices === undefined ? {} : { declaredPrices: new Map(Object.entries(prices)) }),
    ...(toolFees === undefined ? {} : { toolFees }),
  }
}
