/**
 * The attribution of calls to users, sessions, agents and tags (decision 0121): an account's
 * settings, the kinds of names, and their limits.
 */
import type { AccountId } from './ids.ts'

/** Kinds of names that become hashes. The same text has a different hash in each kind. */
export type HashedKind = 'user' | 'session' | 'agent' | 'tag'

/** Kinds of names that are stored beside the ledger. */
export const NAMED_KINDS = ['user', 'tag'] as const
export type NamedKind = (typeof NAMED_KINDS)[number]

export interface AttributionSettings {
  /** Calls are attributed to members and tags, whose names are stored. */
  readonly membersAndTags: boolean
  /** Calls are attributed to sessions and agents, as hashes. */
  readonly sessions: boolean
  /** Calls are attributed to the users of an application, whose names are stored. */
  readonly endUsers: boolean
}

export const DEFAULT_ATTRIBUTION: AttributionSettings = {
  membersAndTags: true,
  sessions: true,
  endUsers: false,
}

/** Stored names of an account and kind. Further names count by their hash alone. */
export const MOST_STORED_NAMES = 50_000

/** The context of an account's encrypted hash key, so the text cannot be decrypted in another row. */
export function hashKeyBinding(accountId: AccountId): string {
  return `attribution/${accountId}`
}
