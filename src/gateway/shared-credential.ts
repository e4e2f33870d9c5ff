/**
 * Decides which targets may use a credential that all accounts share. Requests that select another
 * model, or name objects in the provider's account, need the account's own key.
 */
import { GatewayError } from '../core/errors.ts'
import { MESSAGES_IDS } from '../wire/anthropic-messages/settings.ts'
import type { ChatRequest } from '../wire/chat-request.ts'
import type { AcceptedRequest, Dialect } from '../wire/dialect.ts'
import { countWrittenMembers, Wanted } from '../wire/json-scan.ts'
import { CHAT_IDS } from '../wire/openai-chat/settings.ts'
import { RESPONSES_IDS } from '../wire/openai-responses/settings.ts'
import { askingMember } from '../wire/request-fields.ts'
import type { Target } from './plan/compile-target.ts'

/**
 * @throws GatewayError `invalid_request` with the code `provider_account_id` when no target is left
 */
export function keepWithinGate(
  { body }: AcceptedRequest,
  targets: readonly Target[],
): readonly Target[] {
  return targets.some(hasOwners) ? keepThoseWithin(body, targets) : targets
}

function keepThoseWithin(
  body: AcceptedRequest['body'],
  targets: readonly Target[],
): readonly Target[] {
  const reaching = (target: Target) => (hasOwners(target) ? findReaching(body, target) : undefined)
  const kept = targets.filter((target) => reaching(target) === undefined)
  if (kept.length > 0) return kept.length === targets.length ? targets : kept
  const [member = ''] = targets.map(reaching)
  throw new GatewayError(
    'invalid_request',
    `'${member}' reaches other models than the gate's, or objects in the provider's account, ${describeShared(targets[0])}, or omit '${member}'.`,
    { code: 'provider_account_id', param: member },
  )
}

function hasOwners({ staysWithinGate, ownerMembers, ownerTools }: Target): boolean {
  return staysWithinGate && (ownerMembers !== undefined || ownerTools !== undefined)
}

function findReaching(
  body: AcceptedRequest['body'],
  { ownerMembers, ownerTools }: Target,
): string | undefined {
  const member = ownerMembers?.find((name) => askingMember(body, name) !== undefined)
  return (
    member ??
    (ownerTools !== undefined && findTools(body, ownerTools).length > 0 ? TOOLS : undefined)
  )
}

export const TOOLS = 'tools'

export const INPUT = 'input'

/** Prefixes of tool types that providers run and charge for; a version may follow the prefix. */
export const HOSTED_TOOLS: readonly string[] = [
  'web_search',
  'file_search',
  'code_interpreter',
  'code_execution',
  'image_generation',
  'document_library',
  'x_search',
  // The advisor tool writes with another model, at the price of that model.
  'advisor',
  // The type prefix of a shell's container.
  'container_',
]

/**
 * Lists the types of the request's tools that begin with a prefix. Names of tools do not count,
 * because a caller's function may have such a name. If a member occurs twice, all wanted types
 * count: the provider may read either member.
 * @param options `isInput`: search the items of the input too
 */
export function findTools(
  body: AcceptedRequest['body'],
  types: readonly string[],
  { isInput }: { readonly isInput: boolean } = WITHOUT_INPUT,
): readonly string[] {
  const given = readTypes(body, TOOLS, types)
  const brought = isInput ? readTypes(body, INPUT, types) : NO_TYPES
  if (given === MEMBER_TWICE || brought === MEMBER_TWICE) return types
  return brought.length === 0 ? given : [...given, ...brought]
}

function listTypes(tools: readonly unknown[], types: readonly string[]): readonly string[] {
  return tools
    .map(typeOf)
    .filter((type): type is string => typeof type === 'string')
    .filter((type) => types.some((beginning) => type.startsWith(beginning)))
}

function toolsOfItems(items: readonly unknown[]): readonly unknown[] {
  return items.flatMap((item) => {
    const tools = (item as { tools?: unknown } | null)?.tools
    return Array.isArray(tools) ? (tools as readonly unknown[]) : NOTHING
  })
}

/**
 * A shell tool runs at the provider if it has a container
 * (https://developers.openai.com/api/docs/guides/tools-shell).
 */
function typeOf(tool: unknown): unknown {
  const { type, environment } = (tool ?? {}) as Readonly<Record<string, unknown>>
  return type === 'shell' ? (environment as { type?: unknown } | null | undefined)?.type : type
}

const WITHOUT_INPUT = { isInput: false }
const NO_TYPES: readonly string[] = []
const NOTHING: readonly unknown[] = []
const MEMBER_TWICE: readonly string[] = []
const TOOLS_NAME = Buffer.from(`"${TOOLS}"`)
const TYPE_NAME = Buffer.from('"type"')
const SPACES = Buffer.from(' \n\r\t')
const COLON = 0x3a

function readTypes(
  body: AcceptedRequest['body'],
  name: string,
  types: readonly string[],
): readonly string[] {
  const member = body.get(name)
  if (member === undefined || body.type(member) !== 'array') return NO_TYPES
  const raw = body.raw(member)
  const mayBe =
    mayEscapeName(raw) ||
    (mayBeginSo(body, types) &&
      (name === TOOLS || hasNeedle.call(raw, TOOLS_NAME)) &&
      hasOneOf(raw, types))
  if (!mayBe) return NO_TYPES
  const list = body.value(member) as readonly unknown[]
  const read = listTypes(name === TOOLS ? list : toolsOfItems(list), types)
  const isAllRead = !mayEscapeName(raw) && countWrittenTypes(raw, types) === read.length
  return isAllRead || countWrittenMembers(raw) === countMembers(list) ? read : MEMBER_TWICE
}

/**
 * Counts unescaped `type` members with such a prefix anywhere in the body, which is much cheaper
 * than parsing.
 */
function countWrittenTypes(raw: Uint8Array, types: readonly string[]): number {
  let count = 0
  for (const type of types) {
    const needle = Buffer.from(`"${type}`)
    for (let at = findNeedle.call(raw, needle, 0); at >= 0; ) {
      if (isValueOfType(raw, at)) count += 1
      at = findNeedle.call(raw, needle, at + needle.length)
    }
  }
  return count
}

function isValueOfType(raw: Uint8Array, at: number): boolean {
  const colon = skipSpaceBack(raw, at - 1)
  if (raw[colon] !== COLON) return false
  const end = skipSpaceBack(raw, colon - 1)
  const start = end - TYPE_NAME.length + 1
  return TYPE_NAME.every((byte, index) => raw[start + index] === byte)
}

function skipSpaceBack(raw: Uint8Array, at: number): number {
  let before = at
  while (SPACES.includes(raw[before] ?? 0)) before -= 1
  return before
}

/** The body scan looks only for tools that providers charge for. */
function mayBeginSo({ mayBeginAsWanted }: AcceptedRequest['body'], types: readonly string[]) {
  return mayBeginAsWanted || types !== HOSTED_TOOLS
}

function hasOneOf(raw: Uint8Array, types: readonly string[]): boolean {
  return types.some((type) => hasNeedle.call(raw, `"${type}`))
}

function describeShared(target: Pick<Target, 'isByToken'> | undefined): string {
  return target?.isByToken === true
    ? 'which an access token may not use: call with an API key'
    : "which this gateway's accounts share: calls with it need your own key of the provider. " +
        'Set one (PUT /v1/provider-keys, or: gatehouse provider-keys set PROVIDER)'
}

// With a shared credential, the id of a file, vector store or container could open another
// account's object at the provider. The operator's own account owns these objects and may name ids.

/**
 * The body scan searches for these names with their quotes. A JSON string contains quotes only as
 * escapes, so the scan finds no names in strings.
 */
export const WANTED = new Wanted(
  [...new Set([RESPONSES_IDS, CHAT_IDS, MESSAGES_IDS].flatMap(({ names }) => names))],
  HOSTED_TOOLS,
)
const decoder = new TextDecoder()

/**
 * @throws GatewayError `invalid_request` with the code `provider_account_id` when no target is left
 */
export function keepOwnIds(
  request: AcceptedRequest,
  { vendorIds }: Pick<Dialect, 'vendorIds'>,
  targets: readonly Target[],
): readonly Target[] {
  if (vendorIds === undefined || !targets.some(isShared)) return targets
  const { bytes, mayHaveWanted, memberCount } = request.body
  if (!mayHaveWanted) return targets
  const body: unknown = JSON.parse(decoder.decode(bytes))
  const member = vendorIds.find(body)
  // When a member occurs twice, the provider may read either value.
  if (member === undefined && memberCount === countMembers(body)) return targets
  const own = targets.filter((target) => !isShared(target))
  if (own.length > 0) return own
  if (member === undefined)
    throw new GatewayError(
      'invalid_request',
      'An object of the request body has a member twice, so its meaning is ambiguous.',
      { code: 'invalid_value' },
    )
  throw new GatewayError(
    'invalid_request',
    `'${member}' names something in the provider's account, ${describeShared(targets[0])}, or send the content itself.`,
    { code: 'provider_account_id', param: member },
  )
}

/**
 * A provider opens stored objects with the credential of the call.
 * @throws GatewayError `invalid_request` with the code `provider_account_id`
 */
export function refuseOwnersAddresses(
  { messages }: ChatRequest,
  { isShared, isByToken, ownerHosts }: Pick<Target, 'isShared' | 'isByToken' | 'ownerHosts'>,
): void {
  if (ownerHosts === undefined || !isShared) return
  for (const { content } of messages)
    for (const part of content) {
      if (!('source' in part) || part.source.type !== 'url') continue
      if (!ownerHosts.test(hostOf(part.source.url))) continue
      throw new GatewayError(
        'invalid_request',
        `The address of a picture or document refers to the provider's account, ${describeShared({ isByToken })}, or send the content itself.`,
        { code: 'provider_account_id', param: 'messages' },
      )
    }
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : url
}

/** The beginning of escapes of ASCII and Latin-1, such as `\u00e9` for é. */
const ESCAPE = Buffer.from('\\u00')
/**
 * Escapes of the characters in the names, without the last digit. Clients have no reason to send
 * these escapes.
 */
const NAME_ESCAPES = (
  [
    ['\\u003', 'aA'],
    ['\\u005', 'fF'],
    ['\\u006', '123456789abcdefABCDEF'],
    ['\\u007', '0123456789aA'],
  ] as const
).map(([beginning, digits]) => ({ needle: Buffer.from(beginning), lasts: Buffer.from(digits) }))

/** With more escapes, for example in French text as ASCII, searching for each prefix is cheaper. */
const MOST_EXAMINED_ESCAPES = 64

function mayEscapeName(body: Uint8Array): boolean {
  let at = findNeedle.call(body, ESCAPE, 0)
  for (let looked = 0; at >= 0; looked += 1) {
    if (looked === MOST_EXAMINED_ESCAPES) return hasNameEscape(body, at)
    for (const { needle, lasts } of NAME_ESCAPES)
      if (body[at + 4] === needle[4] && lasts.includes(body[at + 5] ?? 0)) return true
    at = findNeedle.call(body, ESCAPE, at + ESCAPE.length)
  }
  return false
}

function hasNameEscape(body: Uint8Array, from: number): boolean {
  for (const { needle, lasts } of NAME_ESCAPES)
    for (let at = findNeedle.call(body, needle, from); at >= 0; ) {
      const last = at + needle.length
      if (lasts.includes(body[last] ?? 0)) return true
      at = findNeedle.call(body, needle, last)
    }
  return false
}

/** Called on the bytes directly, because creating a `Buffer` view costs more than the search. */
const hasNeedle = Buffer.prototype.includes
const findNeedle = Buffer.prototype.indexOf

function isShared(target: Target): boolean {
  return target.isShared
}

function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner: readonly unknown[] = Object.values(value)
  const own = Array.isArray(value) ? 0 : inner.length
  return inner.reduce<number>((sum, each) => sum + countMembers(each), own)
}
