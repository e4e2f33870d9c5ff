/**
 * Between plan and attempt: who may be sent ids of things that live in a vendor's account (files, vector stores,
 * containers). On a credential that many accounts share they would open what others have put there. Knows no vendor.
 */
import { GatewayError } from '../core/errors.ts'
import type { AcceptedRequest } from '../wire/dialect.ts'
import type { Target } from './plan-targets.ts'

/** Members whose text, or each of whose texts, is such an id. */
const ID_MEMBERS = ['file_id', 'file_ids', 'vector_store_ids', 'container', 'assistant_id', 'thread_id']
/** What the model or the caller's own tools say: nothing in it means anything to the vendor. */
const FREE_MEMBERS = new Set(['input_schema', 'parameters', 'schema', 'metadata', 'arguments'])
const MAX_DEPTH = 64
const NEEDLES = ID_MEMBERS.map((name) => Buffer.from(`"${name}"`))
const decoder = new TextDecoder()

/** @throws GatewayError `invalid_request` with the code `provider_account_id` when no target is left */
export function keepOwnIds(request: AcceptedRequest, targets: readonly Target[]): readonly Target[] {
  if (!targets.some(isShared)) return targets
  const { bytes } = request.body
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  // In text their quotes are escaped: nearly every call ends here.
  if (!NEEDLES.some((needle) => body.includes(needle))) return targets
  const path = findId(JSON.parse(decoder.decode(bytes)), 0)
  if (path === undefined) return targets
  const member = path.slice(1)
  const own = targets.filter((target) => !isShared(target))
  if (own.length > 0) return own
  throw new GatewayError(
    'invalid_request',
    `'${member}' names something in the provider's account, which this gateway's accounts share: calls with it need your own key of the provider. ` +
      'Set one (PUT /v1/provider-keys, or: gatehouse provider-keys set PROVIDER), or send the content itself.',
    { code: 'provider_account_id', param: member },
  )
}

function isShared({ owner }: Target): boolean {
  return owner === 'platform'
}

/** @returns where the first one is, from `value` on; made only when there is one */
function findId(value: unknown, depth: number): string | undefined {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return undefined
  // A call's input is the model's own words, whatever its members are called.
  const isCall = 'type' in value && value.type === 'tool_use'
  const isList = Array.isArray(value)
  for (const name in value) {
    if (FREE_MEMBERS.has(name) || (isCall && name === 'input')) continue
    const inner: unknown = (value as Readonly<Record<string, unknown>>)[name]
    const step = () => (isList ? `[${name}]` : `.${name}`)
    if (!isList && ID_MEMBERS.includes(name) && holdsId(inner)) return step()
    const found = findId(inner, depth + 1)
    if (found !== undefined) return step() + found
  }
  return undefined
}

/** As text, in a list, or as the `id` of an object: a container may be asked for anew (`{"type": "auto"}`). */
function holdsId(value: unknown): boolean {
  if (typeof value === 'string') return true
  if (Array.isArray(value)) return value.some(holdsId)
  return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'
}
