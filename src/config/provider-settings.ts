/** Reads the key and address of each provider from the operator's variables. */
import { withoutTrailingSlashes } from '../core/http.ts'
import { Secret } from '../core/secret.ts'
import {
  baseUrlVariableOf,
  type ComposedAddress,
  keyVariableOf,
  type Provider,
} from '../providers/define.ts'
import { type Environment, SettingsError } from './setting-type.ts'

export interface ProviderSettings {
  readonly providerKeys: ReadonlyMap<string, Secret>
  readonly providerBaseUrls: ReadonlyMap<string, string>
}

/**
 * @param keysInFiles by provider id; no variable of these providers is read
 * @throws SettingsError naming the wrong variable
 */
export function readProviderSettings(
  environment: Environment,
  providers: readonly Provider[],
  keysInFiles: ReadonlyMap<string, Secret> = new Map(),
): ProviderSettings {
  const providerKeys = new Map(keysInFiles)
  const providerBaseUrls = new Map<string, string>()
  for (const provider of providers) {
    const key = environment[keyVariableOf(provider)] || provider.fallbackKey
    if (key !== undefined && !keysInFiles.has(provider.id))
      providerKeys.set(provider.id, readKey(provider, key))
    const address = readBaseUrl(environment, provider)
    if (address !== undefined) providerBaseUrls.set(provider.id, address)
  }
  return { providerKeys, providerBaseUrls }
}

function readKey(provider: Provider, key: string): Secret {
  const trimmed = key.trim()
  // A service account is a document and is never sent in a header.
  const isDocument = provider.signing?.type === 'google' && trimmed.startsWith('{')
  if (!isDocument && !/^[\x21-\x7e]+$/.test(trimmed)) {
    throw new SettingsError(
      `${keyVariableOf(provider)} contains characters that are not allowed in a header.`,
    )
  }
  return new Secret(trimmed)
}

function readBaseUrl(environment: Environment, provider: Provider): string | undefined {
  const name = baseUrlVariableOf(provider)
  const address = environment[name]
  if (!address) {
    const { composedBaseUrl } = provider
    return composedBaseUrl === undefined ? undefined : compose(environment, composedBaseUrl)
  }
  const url = URL.parse(address)
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== '' ||
    url.password !== '' ||
    url.search !== '' ||
    url.hash !== ''
  ) {
    throw new SettingsError(
      `${name} must be an http or https address without credentials, query or fragment.`,
    )
  }
  return withoutTrailingSlashes(address)
}

function compose(environment: Environment, composed: ComposedAddress): string | undefined {
  const parts = new Map<string, string>()
  for (const [name, { variable, fallback }] of Object.entries(composed.parts)) {
    const value = environment[variable] || fallback
    if (value === undefined) return undefined
    // Letters, digits, dots, hyphens, and the colon of a project within an organisation's domain.
    // Other characters could change the host.
    if (!/^[a-z0-9](?:[a-z0-9.:-]*[a-z0-9])?$/i.test(value) || value.includes('..'))
      throw new SettingsError(`${variable} must consist of letters, digits and hyphens.`)
    parts.set(name, value)
  }
  const choosing = parts.get(composed.choosing) ?? ''
  const template = composed.templates.find(([pattern]) => pattern.test(choosing))?.[1]
  return template?.replaceAll(/\{(\w+)\}/g, (_, name: string) => parts.get(name) ?? '')
}
