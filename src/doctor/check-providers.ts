/**
 * Requests the model list of every provider configured on this machine: whether the provider
 * answers, and accepts the key. Shows nothing of the answer.
 */
import type { Environment } from '../config/setting-type.ts'
import type { Settings } from '../config/settings.ts'
import type { Finding } from '../core/finding.ts'
import type { Secret } from '../core/secret.ts'
import { baseUrlVariableOf, keyVariableOf, type Provider } from '../providers/define.ts'
import { codeOf, findingsOf } from './finding.ts'

const WITHIN_MS = 3_000
const { fail, ok, warn } = findingsOf('provider')

interface Configured {
  readonly provider: Provider
  readonly baseUrl: string
  readonly key: Secret
}

export async function checkProviders(
  settings: Settings,
  environment: Environment,
): Promise<Finding[]> {
  const configured: Configured[] = []
  const halves: Finding[] = []
  for (const provider of settings.providers) {
    const key = settings.providerKeys.get(provider.id)
    const baseUrl = settings.providerBaseUrls.get(provider.id) ?? provider.baseUrl
    const keyVariable = keyVariableOf(provider)
    const addressVariable = baseUrlVariableOf(provider)
    if (key !== undefined && baseUrl !== undefined) configured.push({ provider, baseUrl, key })
    else if (environment[keyVariable])
      halves.push(
        warn(`${provider.id} has a key (${keyVariable}) and no address`, `Set ${addressVariable}`),
      )
    else if (environment[addressVariable])
      halves.push(
        warn(`${provider.id} has an address (${addressVariable}) and no key`, `Set ${keyVariable}`),
      )
  }
  return [...(await Promise.all(configured.map(askProvider))), ...halves]
}

async function askProvider({ provider, baseUrl, key }: Configured): Promise<Finding> {
  const isSigned = provider.signing !== undefined
  // Credentials for signing or exchange are never sent themselves, so only the address is tested.
  const url = isSigned ? new URL('/', baseUrl).href : toModelsUrl(provider, baseUrl)
  const header = provider.keyHeader ?? 'authorization'
  const value = provider.keyHeader === undefined ? `Bearer ${key.reveal()}` : key.reveal()
  try {
    const response = await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.timeout(WITHIN_MS),
      headers: {
        ...provider.headers,
        ...provider.fixedHeaders,
        ...(isSigned ? {} : { [header]: value }),
      },
    })
    await response.body?.cancel()
    return judge(provider, { status: response.status, isSigned })
  } catch (error) {
    return explainSilence(provider, codeOf(error))
  }
}

/**
 * The request that tests a key, or else an address beside the called endpoint: `/v1/messages` →
 * `/v1/models`, `/chat/completions` → `/models`.
 */
function toModelsUrl({ endpoints, keyCheck }: Provider, baseUrl: string): string {
  if (keyCheck !== undefined) return baseUrl + keyCheck.path
  const [endpoint] = Object.values(endpoints)
  const version = /^\/v\d+[a-z]*(?=\/)/.exec(endpoint?.path ?? '')?.[0] ?? ''
  return `${baseUrl}${version}/models`
}

function judge(
  provider: Provider,
  { status, isSigned }: { readonly status: number; readonly isSigned: boolean },
): Finding {
  const { id } = provider
  const keyVariable = keyVariableOf(provider)
  const tryIt = 'Try it whole: gatehouse gates test GATE'
  if (isSigned && status < 500) return ok(`${id} answers; its credential is signed with, not tried`)
  if (status < 300) return ok(`${id} answers and does not refuse the key`)
  if (status < 400)
    return warn(
      `${id} answers with a redirect (${status}), and none is followed`,
      `Set ${baseUrlVariableOf(provider)} to the address that it leads to`,
    )
  if (status === 401 || status === 403)
    return fail(
      `${id} refuses the key (${status})`,
      `Set ${keyVariable} to a key that is valid, and restart the server`,
    )
  if (status === 404 || status === 405)
    return ok(`${id} answers; it has no list of models to try the key on`)
  if (status === 429) return warn(`${id} says that it was asked too often (429)`, tryIt)
  if (status >= 500)
    return warn(
      `${id} is in trouble (${status})`,
      "See the vendor's status page; a gate with another target keeps working",
    )
  return warn(`${id} did not take the request (${status}); some say so to a wrong key`, tryIt)
}

function explainSilence(provider: Provider, code: string): Finding {
  const { id } = provider
  const late = code === 'TimeoutError'
  return fail(
    late ? `${id} did not answer within 3 seconds` : `${id} cannot be reached (${code})`,
    `Check ${baseUrlVariableOf(provider)}, the network, a proxy and the ` +
      'firewall of this machine',
  )
}
