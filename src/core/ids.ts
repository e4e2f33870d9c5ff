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
 * A new id's digits, time-ordered: rows written together lie together, so an index on them stays
 * cheap as it grows. Ids of one millisecond keep their order.
 */
export function createDigits(): string {
  // From its bytes: half as long as taking the dashes out, and this is done for every call.
  return Bun.randomUUIDv7('buffer').toString('hex')
}

/** @param prefix says what the id is of */
export function createId(prefix: string): string {
  return `${prefix}_${createDigits()}`
}

export const createCallId = () => createId('req') as CallId
export const createKeyId = () => createId('key') as KeyId
export const createAuditId = () => createId('audit') as AuditId
export const createAccountId = () => createId('acct') as AccountId
export const createUserId = () => createId('user') as UserId
export const createInvitationId = () => createId('inv') as InvitationId
export const createSessionId = () => createId('sess') as SessionId

/** @param text of which it is known that it is no text of another kind that begins alike */
export const isSessionId = (text: string): text is SessionId => text.startsWith('sess_')

export function createGateId(): GateId {
  return `gate-${crypto.randomUUID().replaceAll('-', '').slice(0, 12)}` as GateId
}
