/**
 * Branded ids, so that one kind cannot be passed for another. Knows nothing of where they are
 * stored.
 */

declare const brand: unique symbol
type Id<Name extends string> = string & { readonly [brand]: Name }

export type AccountId = Id<'account'>
export type KeyId = Id<'key'>
export type GateId = Id<'gate'>
export type CallId = Id<'call'>
export type AuditId = Id<'audit'>
export type UserId = Id<'user'>
export type InvitationId = Id<'invitation'>
export type SessionId = Id<'session'>

/**
 * The account that every gateway begins with: the first keys are its keys, and the first user owns
 * it.
 */
export const DEFAULT_ACCOUNT = 'acct_default' as AccountId

/**
 * What a gate id may look like: chosen by the customer, immutable, unique in the account (design
 * §5).
 */
export const GATE_ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/**
 * Time-ordered, so that rows written together lie together: an index on it stays cheap as it grows.
 */
export function createCallId(): CallId {
  // From its bytes: half as long as taking the dashes out, and this is done for every call.
  return `req_${Bun.randomUUIDv7('buffer').toString('hex')}` as CallId
}

export function createKeyId(): KeyId {
  return `key_${Bun.randomUUIDv7('hex').replaceAll('-', '')}` as KeyId
}

/** Time-ordered: changes of one millisecond keep their order. */
export function createAuditId(): AuditId {
  return `audit_${Bun.randomUUIDv7('hex').replaceAll('-', '')}` as AuditId
}

export function createAccountId(): AccountId {
  return `acct_${Bun.randomUUIDv7('hex').replaceAll('-', '')}` as AccountId
}

export function createUserId(): UserId {
  return `user_${Bun.randomUUIDv7('hex').replaceAll('-', '')}` as UserId
}

export function createInvitationId(): InvitationId {
  return `inv_${Bun.randomUUIDv7('hex').replaceAll('-', '')}` as InvitationId
}

export function createSessionId(): SessionId {
  return `sess_${Bun.randomUUIDv7('hex').replaceAll('-', '')}` as SessionId
}

export function createGateId(): GateId {
  return `gate-${crypto.randomUUID().replaceAll('-', '').slice(0, 12)}` as GateId
}
