/** Branded ids, so that one kind cannot be passed for another. Knows nothing of where they are stored. */

declare const brand: unique symbol
type Id<Name extends string> = string & { readonly [brand]: Name }

export type AccountId = Id<'account'>
export type KeyId = Id<'key'>
export type GateId = Id<'gate'>
export type CallId = Id<'call'>

/** The one account of a gateway that has no sign-up yet; every row carries it all the same. */
export const DEFAULT_ACCOUNT = 'acct_default' as AccountId

/** What a gate id may look like: chosen by the customer, immutable, unique in the account (design §5). */
export const GATE_ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** Time-ordered, so that rows written together lie together: an index on it stays cheap as it grows. */
export function createCallId(): CallId {
  return `req_${Bun.randomUUIDv7('hex').replaceAll('-', '')}` as CallId
}

export function createKeyId(): KeyId {
  return `key_${Bun.randomUUIDv7('hex').replaceAll('-', '')}` as KeyId
}

export function createGateId(): GateId {
  return `gate-${crypto.randomUUID().replaceAll('-', '').slice(0, 12)}` as GateId
}
