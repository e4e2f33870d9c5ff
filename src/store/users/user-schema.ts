/**
 * The tables of users for Kysely. Four belong to better-auth, under our names (`src/identity/`):
 * better-auth writes times as text on SQLite and as timestamps on Postgres, and booleans as the
 * database does.
 */
import type { AccountId, InvitationId, SessionId, UserId } from '../../core/ids.ts'

export interface UserSchema {
  readonly users: UserTable
  readonly user_sessions: UserSessionTable
  readonly user_logins: UserLoginTable
  readonly user_verifications: UserVerificationTable
  readonly members: MemberTable
  readonly invitations: InvitationTable
  readonly sign_in_tries: SignInTryTable
}

export type Role = 'owner' | 'member'

export interface UserTable {
  id: UserId
  name: string
  email: string
  email_verified: number
  image: string | null
  created_at: string
  updated_at: string
}

export interface UserSessionTable {
  id: SessionId
  user_id: UserId
  token: string
  ip_address: string | null
  user_agent: string | null
  expires_at: string
  created_at: string
  updated_at: string
}

export interface UserLoginTable {
  id: string
  user_id: UserId
  issuer: string
  subject: string
  provider_id: string
  /** The password's scrypt hash, in better-auth's form. */
  password: string | null
  /** Never written, because the identity provider is not called later. */
  access_token: string | null
  refresh_token: string | null
  id_token: string | null
  access_token_expires_at: string | null
  refresh_token_expires_at: string | null
  scope: string | null
  created_at: string
  updated_at: string
}

/** The state of a sign-in by OpenID Connect while the browser is at the provider. */
export interface UserVerificationTable {
  id: string
  identifier: string
  value: string
  expires_at: string
  created_at: string
  updated_at: string
}

export interface MemberTable {
  user_id: UserId
  account_id: AccountId
  role: Role
  created_at: number
}

export interface InvitationTable {
  id: InvitationId
  account_id: AccountId
  email: string
  token_sha256: string
  /** The id of a user or a key, or `command-line`. */
  invited_by: string
  created_at: number
  expires_at: number
  accepted_at: number | null
}

export interface SignInTryTable {
  name: string
  wrong: number
  waits_until: number
  proven: number
  forget_at: number
}
