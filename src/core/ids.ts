/** Branded ids, so kinds cannot be confused. */

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
 * Every gateway starts with this account. The first keys belong to it, and the first user owns it.
 */
export const DEFAULT_ACCOUNT = 'acct_default' as AccountId

/**
 * Time-ordered digits: rows written together are stored together, so an index stays fast as it
 * grows. Ids of one millisecond keep their order.
 */
export function createDigits(): string {
  return Bun.randomUUIDv7('buffer').toString('hex')
}

export function createId(prefix: string): string {
  return `${prefix}_${createDigits()}`
}

export const createCallId = () => createId('req') as CallId
export const createKeyId = () => createId('key') as KeyId
export const createReloadId = () => createId('reload')
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

/** Whether an id in the place of a user or a key is that of a member. */
export function isMemberId(id: string): boolean {
  return id.startsWith('user_')
}
