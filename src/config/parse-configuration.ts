import { dirname, resolve } from 'node:path'
import {
  type ConfiguredProvider,
  configuration,
  configurationNotes,
} from '../contract/configuration.ts'
import { withoutTrailingSlashes } from '../core/http.ts'
import { ModelOverlay, NO_OVERLAY } from '../core/model-overlay.ts'
import type { PlansSection } from '../core/plan.ts'
import { Secret } from '../core/secret.ts'
import type { Endpoint, Provider } from '../providers/define.ts'
import { readKeyFile } from './key-file.ts'
import { readConfigurationYaml } from './large-list.ts'
import { parseModels } from './parse-models.ts'
import { SettingsError } from './setting-type.ts'
import { toYamlFaults, type YamlFault } from './yaml-document.ts'

export interface ConfigurationText {
  readonly path: string
  readonly text: string
}

export interface Configuration {
  readonly providers: readonly Provider[]
  readonly keysInFiles: ReadonlyMap<string, Secret>
  readonly plans: PlansSection | undefined
  readonly models: ModelOverlay
  readonly logLevel: string | undefined
}

/**
 * @param known providers whose ids are taken
 * @throws SettingsError naming file, line and member of every error (rejects)
 */
export async function parseConfiguration(
  file: ConfigurationText,
  known: readonly Provider[],
): Promise<Configuration> {
  if (file.text.length > MAX_CHARACTERS)
    throw toError(file, [{ line: 1, message: `must have at most ${MAX_CHARACTERS} characters` }])
  const document = readConfigurationYaml(file.text)
  if (!('value' in document)) throw toError(file, document)
  const value = document.value ?? {}
  const { lineOf } = document
  const parsed = configuration.safeParse(value)
  const taken = new Set(known.map((provider) => provider.id))
  const keysInFiles = new Map<string, Secret>()
  const faults: YamlFault[] = parsed.success
    ? []
    : toYamlFaults(parsed.error, { value, lineOf, notes: configurationNotes })
  for (const [index, { id, apiKeyVariable, apiKeyFile }] of providersIn(value).entries()) {
    const report = (member: string, message: string) =>
      faults.push({
        line: lineOf(['providers', index, member]),
        message: `providers[${index}].${member} ${message}`,
      })
    if (typeof id !== 'string') continue
    if (taken.has(id)) report('id', clash(id))
    if (typeof apiKeyFile !== 'string' || apiKeyFile === '') continue
    if (apiKeyVariable !== undefined) report('apiKeyFile', 'must not stand beside apiKeyVariable')
    const key = readKeyFile(resolve(dirname(file.path), apiKeyFile))
    if (key instanceof Secret) keysInFiles.set(id, key)
    else report('apiKeyFile', `names a file that ${key}`)
  }
  // Parsed separately, so that an error in another section does not hide the providers.
  const providers = configuredProviders(value)
  const models = await parseModels({ value, lineOf }, providers && [...known, ...providers])
  faults.push(...models.faults)
  if (!parsed.success || providers === undefined || faults.length > 0) throw toError(file, faults)
  const { plans, logLevel, unpricedPrice } = parsed.data
  const isOverlaid = models.entries.size > 0 || unpricedPrice !== undefined
  return {
    ...{ providers, keysInFiles, plans, logLevel },
    models: isOverlaid ? new ModelOverlay(models.entries, unpricedPrice) : NO_OVERLAY,
  }
}

/** @returns undefined when a provider is faulty */
export function configuredProviders(value: unknown): readonly Provider[] | undefined {
  return configuration.shape.providers
    .safeParse((value as { readonly providers?: unknown }).providers)
    .data?.map(toProvider)
}

/** 8 MiB of ASCII: a table with the maximum number of entries. */
const MAX_CHARACTERS = 8 * 1024 * 1024
const MAX_FAULTS = 200

type Unchecked<Thing> = { readonly [Member in keyof Thing]?: unknown }

function providersIn(value: unknown): readonly Unchecked<ConfiguredProvider>[] {
  const list = (value as { readonly providers?: unknown } | null)?.providers
  return (Array.isArray(list) ? list : []).map((entry: unknown) => ({ ...Object(entry) }))
}

function clash(id: string): string {
  return (
    `must not be '${id}': Gatehouse has a provider of that ` +
    'name. Choose another, or set the address of that provider with its variable.'
  )
}

function toError({ path }: ConfigurationText, faults: readonly YamlFault[]): SettingsError {
  const sorted = faults.toSorted((one, other) => one.line - other.line).slice(0, MAX_FAULTS)
  const places = sorted.map(({ line, message }) => `${path}:${line}: ${message}`)
  const more = faults.length - sorted.length
  if (more > 0) places.push(`and ${more} more`)
  return new SettingsError(
    `The configuration file is invalid and was not applied.\n${places.join('\n')}`,
    [
      ...sorted.map((fault) => ({ file: path, ...fault })),
      ...(more > 0 ? [{ file: path, message: `has ${more} more faults` }] : []),
    ],
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
