/**
 * Finds out whether an owned model answers to its credential. It really asks the model for one token: a list of models is
 * open without a key on many servers, says nothing of the model itself, and does not exist in every dialect. What the
 * server says is read only to tell the cases apart and never repeated: it may be any server that a customer has named.
 */
import type { Timekeeper } from '../core/clock.ts'
import type { OwnedModel, OwnedModelDialect } from '../core/owned-model.ts'
import { type AddressGuard, AddressRefusedError } from '../upstream/address-guard.ts'
import type { Exchange, Upstream } from '../upstream/exchange.ts'
import { UpstreamFailure, type UpstreamFailureType } from '../upstream/upstream-failure.ts'
import type { OwnedUpstream } from './ports.ts'

/** For all of it together, in milliseconds. */
const PROBE_TIMEOUT_MS = 3_000
const MAX_REFUSAL_BYTES = 16 * 1024

export interface ProbePorts {
  readonly clock: Pick<Timekeeper, 'elapsed'>
  readonly addresses: Pick<AddressGuard, 'locate'>
  readonly upstream: Upstream
}

export interface ProbeResult {
  readonly status: 'reachable' | 'unreachable'
  readonly latencyMs: number
  readonly httpStatus?: number
  /** For people; holds nothing that the server sent. */
  readonly detail?: string
}

/** Never rejects: what cannot be reached is a result too. */
export async function probeOwnedModel(
  ports: ProbePorts,
  { dialect }: Pick<OwnedModel, 'dialect'>,
  owned: OwnedUpstream,
): Promise<ProbeResult> {
  const startedAt = ports.clock.elapsed()
  const finding = await ask(ports, dialect, owned, startedAt).catch(toFinding)
  return { ...finding, latencyMs: Math.round(ports.clock.elapsed() - startedAt) }
}

type Finding = Omit<ProbeResult, 'latencyMs'>

async function ask(
  { clock, addresses, upstream }: ProbePorts,
  dialect: OwnedModelDialect,
  { provider, model, credential }: OwnedUpstream,
  /** On the clock's `elapsed` scale. */
  startedAt: number,
): Promise<Finding> {
  const path = provider.endpoints[dialect]?.path
  if (path === undefined || credential === undefined) return unreachable('It has no credential.')
  const key = credential.secret.reveal()
  const destination = await addresses.locate(provider.baseUrl + path)
  const leftMs = Math.max(1, PROBE_TIMEOUT_MS - (clock.elapsed() - startedAt))
  const timeouts = { connectMs: leftMs, firstByteMs: leftMs, idleMs: leftMs, totalMs: leftMs }
  const exchange = upstream.open({
    url: destination.url,
    serverName: destination.serverName,
    headers: {
      ...provider.headers,
      ...(provider.keyHeader === undefined
        ? { authorization: `Bearer ${key}` }
        : { [provider.keyHeader]: key }),
      ...(destination.host === undefined ? {} : { host: destination.host }),
      'content-type': 'application/json',
      'accept-encoding': 'identity',
    },
    body: new TextEncoder().encode(JSON.stringify(SMALLEST_REQUESTS[dialect](model))),
    timeouts,
    signal: new AbortController().signal,
  })
  try {
    const { status } = await exchange.send()
    return judge(status, status === 400 || status === 404 ? await readRefusal(exchange) : '')
  } finally {
    exchange.close()
  }
}

const SMALLEST_REQUESTS: Readonly<Record<OwnedModelDialect, (model: string) => object>> = {
  'openai-chat': (model) => ({ model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1 }),
  // The least that this dialect allows.
  'openai-responses': (model) => ({ model, input: 'Hi', max_output_tokens: 16, store: false }),
  'mistral-fim': (model) => ({ model, prompt: 'a', suffix: 'b', max_tokens: 1 }),
  'anthropic-messages': (model) => ({ model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1 }),
}

const NAMES_MODEL = /model/i
const UNKNOWN = /not[ _]?found|does not exist|unknown|invalid[ _]model|no such/i

function judge(status: number, said: string): Finding {
  if (status >= 200 && status < 300) return { status: 'reachable', httpStatus: status }
  const because = (detail: string): Finding => ({ ...unreachable(detail), httpStatus: status })
  if (status === 401 || status === 403) return because('The server refused the credential.')
  if (status >= 300 && status < 400)
    return because('The server answered with a redirect, which is not followed.')
  if (status === 404 || status === 400) {
    if (NAMES_MODEL.test(said) && UNKNOWN.test(said))
      return because('The server does not know the model: is upstreamModelId right?')
    if (status === 404)
      return because('The server has nothing at this address: are baseUrl and dialect right?')
  }
  if (status >= 500) return because('The server failed to answer.')
  if (status === 405) return because('The server takes no such request at this address: is baseUrl right?')
  // A limit that is used up, or a model that wants more than one token: there, and open to this credential.
  return {
    status: 'reachable',
    httpStatus: status,
    detail: 'The server answered, and refused the test request itself.',
  }
}

async function readRefusal(exchange: Exchange): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  while (size < MAX_REFUSAL_BYTES) {
    const chunk = await exchange.read()
    if (chunk === undefined) break
    chunks.push(chunk)
    size += chunk.byteLength
  }
  return Buffer.concat(chunks).toString('utf8', 0, MAX_REFUSAL_BYTES)
}

const TIMED_OUT = 'The server did not answer in time.'
const DETAILS: Partial<Record<UpstreamFailureType, string>> = {
  connect_timeout: TIMED_OUT,
  first_byte_timeout: TIMED_OUT,
  idle_timeout: TIMED_OUT,
  total_timeout: TIMED_OUT,
}

function toFinding(thrown: unknown): Finding {
  if (thrown instanceof AddressRefusedError)
    return unreachable(`The address is not allowed: ${thrown.message}`)
  if (thrown instanceof UpstreamFailure) return unreachable(DETAILS[thrown.type] ?? thrown.message)
  return unreachable('The server could not be reached.')
}

function unreachable(detail: string): Finding {
  return { status: 'unreachable', detail }
}
