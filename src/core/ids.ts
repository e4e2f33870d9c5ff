/** Branded ids, so that kinds cannot be confused. Knows nothing of where they are stored. */

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
 * The account that every gateway starts with: the first keys belong to it, and the first user owns
 * it.
 */
export const DEFAULT_ACCOUNT = 'acct_default' as AccountId

/**
 * A new id's time-ordered digits: rows written together are stored together, so an index stays fast
 * as it grows. Ids of one millisecond keep their order.
 */
export function createDigits(): string {
  // From bytes: takes half as long as removing the dashes, and every call does it.
  return Bun.randomUUIDv7('buffer').toString('hex')
}

/** @param prefix identifies the kind */
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

/** @param text known not to be another kind with the same prefix */
export const isSessionId = (text: string): text is SessionId => text.startsWith('sess_')

export function createGateId(): GateId {
  return `gate-${crypto.randomUUID().replaceAll('-', '').slice(0, 12)}` as GateId
}
