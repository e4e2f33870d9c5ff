/**
 * Finds out whether a provider accepts a key, by the free request that the provider documents. Only
 * the status of the answer is read.
 */
import type { ProviderKeyProbe } from '../../core/provider-key.ts'
import type { Secret } from '../../core/secret.ts'
import type { Provider } from '../../providers/define.ts'

const TIMEOUT_MS = 5_000

type ProbedProvider = Pick<
  Provider,
  'id' | 'baseUrl' | 'keyCheck' | 'keyHeader' | 'headers' | 'fixedHeaders' | 'signing'
>

export interface KeyProbeOptions {
  readonly timeoutMs?: number
}

/**
 * Never rejects.
 * @param provider at the address that this gateway uses; undefined: no address
 */
export async function probeProviderKey(
  provider: ProbedProvider | undefined,
  key: Secret,
  { timeoutMs = TIMEOUT_MS }: KeyProbeOptions = {},
): Promise<ProviderKeyProbe> {
  if (provider?.baseUrl === undefined)
    return notProbed('The key was not tested: this gateway has no address for the provider.')
  const { id, baseUrl, keyCheck, signing } = provider
  if (keyCheck === undefined)
    return notProbed(
      signing === undefined
        ? `The key was not tested: ${id} documents no free request for it.`
        : `The key was not tested: credentials of ${id} sign requests.`,
    )
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(baseUrl + keyCheck.path, {
      headers: {
        'user-agent': 'gatehouse',
        ...provider.headers,
        ...provider.fixedHeaders,
        ...credentialOf(provider, key),
      },
      decompress: false,
      redirect: 'manual',
      signal: timeout,
    })
    await response.body?.cancel().catch(() => {})
    return judge(provider, response.status)
  } catch {
    const what = timeout.aborted
      ? `did not answer within ${timeoutMs / 1_000} seconds`
      : 'could not be reached'
    return { status: 'unknown', detail: `${id} ${what}.` }
  }
}

function credentialOf({ keyHeader }: ProbedProvider, key: Secret): Record<string, string> {
  return keyHeader === undefined
    ? { authorization: `Bearer ${key.reveal()}` }
    : { [keyHeader]: key.reveal() }
}

function judge({ id, keyCheck }: ProbedProvider, httpStatus: number): ProviderKeyProbe {
  const probed = (status: ProviderKeyProbe['status'], what: string): ProviderKeyProbe => ({
    status,
    httpStatus,
    detail: `${id} ${what} (HTTP ${httpStatus}).`,
  })
  if (httpStatus >= 200 && httpStatus < 300) return probed('accepted', 'accepted the key')
  if (httpStatus === 401 || httpStatus === keyCheck?.refusedWith)
    return probed('refused', 'refused the key')
  if (httpStatus === 403) return probed('refused', 'refused the key, or the key lacks a permission')
  if (httpStatus === 404 || httpStatus === 405)
    return probed('not_probed', 'has no endpoint at its address that could test the key')
  return probed('unknown', 'gave no usable answer')
}

function notProbed(detail: string): ProviderKeyProbe {
  return { status: 'not_probed', detail }
}
