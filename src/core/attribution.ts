/**
 * The attribution of calls to users, sessions, agents and tags (decision 0121): an account's
 * settings, the kinds of names, and their limits.
 */
import type { AccountId } from './ids.ts'
import { isVisible } from './visible-text.ts'

/** Kinds of names that become hashes. The same text has a different hash in each kind. */
export const HASHED_KINDS = ['user', 'session', 'agent', 'tag'] as const
export type HashedKind = (typeof HASHED_KINDS)[number]

/** Kinds of names that are stored beside the ledger. */
export const NAMED_KINDS = ['user', 'tag'] as const
export type NamedKind = (typeof NAMED_KINDS)[number]

/** Who sees figures of other people. Everyone sees their own figures. */
export const PEOPLE_FIGURES = ['hidden', 'owner', 'administrators'] as const
export type PeopleFigures = (typeof PEOPLE_FIGURES)[number]

export interface AttributionSettings {
  /** Calls are attributed to members and tags, whose names are stored. */
  readonly membersAndTags: boolean
  /** Calls are attributed to sessions and agents, as hashes. */
  readonly sessions: boolean
  /** Calls are attributed to the users of an application, whose names are stored. */
  readonly endUsers: boolean
  readonly peopleFigures: PeopleFigures
}

export const DEFAULT_ATTRIBUTION: AttributionSettings = {
  membersAndTags: true,
  sessions: true,
  endUsers: false,
  peopleFigures: 'hidden',
}

/** The columns of a call's attribution. */
export const ATTRIBUTION_COLUMNS = ['user', 'session', 'agent', 'parentAgent', 'tags'] as const

/** Precedes the hash of a name that was sent, so such a user is never a member. */
export const END_USER = 'end:'

/** Replaces the member's id as the key of a playground call when the member is hidden. */
export const PLAYGROUND_KEY = '(playground)'
/** Replaces the id of a user's budget in a call when the user is hidden. */
export const HIDDEN_BUDGET = '(budget)'
/** The user that the calls of erased end users count for. */
export const ERASED_USER = '(erased)'
const ID_OF_END_USER = /^(?:end:[0-9a-f]{16}|\(erased\))$/
/** A call counts as erased if it began before the erasure or this much later: clocks differ. */
export const ERASURE_TOLERANCE_MS = 60_000

/** Characters of a user's, session's or agent's name. A longer name counts as absent. */
export const MOST_NAME_CHARACTERS = 255
/** Control characters, and surrogates without their other half, which UTF-8 cannot encode. */
const UNFIT = /[\p{Cc}\p{Cs}]/u
/** Whether a text can name a user, a session or an agent. Calls ignore any other text. */
export function isName(text: string): boolean {
  return text.length <= MOST_NAME_CHARACTERS && !UNFIT.test(text) && isVisible(text)
}
/** A name that has the form of an id could be mistaken for another end user's id. */
export function isEndUserName(text: string): boolean {
  return isName(text) && !ID_OF_END_USER.test(text)
}
/** Fixed and sent tags of one call together. */
export const MOST_TAGS = 8
/** Characters after the colon of `name:value`. */
export const MOST_TAG_VALUE_CHARACTERS = 64
/** Different values of one tag on a day, counted by each node. */
export const MOST_TAG_VALUES = 1_000
/** Stored names of an account and kind. Further names count by their hash alone. */
export const MOST_STORED_NAMES = 50_000

/** The context of an account's encrypted hash key, so the text cannot be decrypted in another row. */
export function hashKeyBinding(accountId: AccountId): string {
  return `attribution/${accountId}`
}
