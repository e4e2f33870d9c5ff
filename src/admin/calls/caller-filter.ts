/** Turns what a person writes for a user, a session, an agent and a tag into ids and hashes. */
import type { HashedKind } from '../../core/attribution.ts'
import type { AccountId, KeyId } from '../../core/ids.ts'
import type { CallerFilter } from '../../store/calls/call-pages.ts'
import type { ControlPlaneDependencies } from '../control-plane-app.ts'
import { refuse } from '../refusals.ts'
import type { PeopleView } from './people-view.ts'

const HASH = /^[0-9a-f]{16}$/
const MEMBER_ID = /^user_[0-9a-f]{1,64}$/
const END_USER = 'end:'
const ERASED = '(erased)'

interface CallerQuery {
  readonly user?: string | undefined
  readonly session?: string | undefined
  readonly agent?: string | undefined
  readonly tag?: string | undefined
  readonly key?: string | undefined
}

export type CallerLookup = Pick<
  ControlPlaneDependencies,
  'members' | 'keys' | 'nameHashes' | 'sessions'
>

/**
 * @throws GatewayError `invalid_request` for an unknown user, `forbidden` for a person whose figures
 * the caller does not see
 */
export async function toCallerFilter(
  lookup: CallerLookup,
  accountId: AccountId,
  { people, ...query }: CallerQuery & { readonly people: PeopleView },
): Promise<CallerFilter> {
  const { user, session, agent, tag, key } = query
  people.assertSeesKey(key)
  const sessionIds =
    session === undefined ? undefined : await toSessions(lookup, accountId, session, key)
  return {
    ...(user !== undefined && { userId: await toUser(lookup, accountId, { text: user, people }) }),
    ...(sessionIds !== undefined && { sessionIds }),
    ...(agent !== undefined && { agentIds: toAgents(lookup, accountId, agent, sessionIds) }),
    ...(tag !== undefined && { tagId: HASH.test(tag) ? tag : hash(lookup, accountId, 'tag', tag) }),
  }
}

async function toUser(
  lookup: CallerLookup,
  accountId: AccountId,
  { text, people }: { readonly text: string; readonly people: PeopleView },
): Promise<string> {
  if (!people.seesAll) return await toSelf(lookup, accountId, { text, people })
  if (MEMBER_ID.test(text) || text === ERASED) return text
  if (HASH.test(text)) return `${END_USER}${text}`
  if (text.startsWith(END_USER)) {
    const name = text.slice(END_USER.length)
    return HASH.test(name) ? text : `${END_USER}${hash(lookup, accountId, 'user', name)}`
  }
  const found = await lookup.members.findNamed(accountId, text)
  const [member] = found
  if (member === undefined)
    throw refuse([
      {
        field: 'user',
        message:
          'is not the id, name or e-mail address of a member of this account. List the members ' +
          'with GET /v1/members, or write an end user as end:NAME',
      },
    ])
  if (found.length > 1)
    throw refuse([
      {
        field: 'user',
        message: `is the name of several members: give an id, ${found.map(({ userId }) => userId).join(' or ')}`,
      },
    ])
  return member.userId
}

/** Names of others and unknown names get the same answer, so that nobody can search for names. */
async function toSelf(
  { members }: CallerLookup,
  accountId: AccountId,
  { text, people }: { readonly text: string; readonly people: PeopleView },
): Promise<string> {
  if (people.self === text) return text
  const found = people.self === undefined ? [] : await members.findNamed(accountId, text)
  const self = found.find(({ userId }) => people.sees(userId))
  if (self === undefined) throw people.refuse('user')
  return self.userId
}

/** A session belongs to a key, so its id has a hash for each. */
async function toSessions(
  lookup: CallerLookup,
  accountId: AccountId,
  text: string,
  key: string | undefined,
): Promise<readonly string[]> {
  if (HASH.test(text)) return [text]
  const keys = key === undefined ? idsOfKeys(lookup, accountId) : [key as KeyId]
  const hashes = keys.map((id) => hash(lookup, accountId, 'session', text, id))
  if (hashes.length === 1) return hashes
  // An account may have thousands of keys, and a statement has a bounded number of parameters.
  const stored = await lookup.sessions.find(accountId, hashes)
  return stored.length === 0 ? hashes.slice(0, 1) : stored.map(({ session_id }) => session_id)
}

/** Hashing for so many keys takes a tenth of a second. */
const MOST_KEYS = 50_000

function idsOfKeys({ keys }: CallerLookup, accountId: AccountId): readonly KeyId[] {
  if (keys.countOf(accountId) > MOST_KEYS)
    throw refuse([
      {
        field: 'session',
        message: `must be a hash, or be given with key, because the account has more than ${MOST_KEYS} keys and access tokens`,
      },
    ])
  return [...keys.list(accountId, 'key'), ...keys.list(accountId, 'token')].map(({ id }) => id)
}

function toAgents(
  lookup: CallerLookup,
  accountId: AccountId,
  text: string,
  sessionIds: readonly string[] | undefined,
): readonly string[] {
  if (HASH.test(text)) return [text]
  if (sessionIds === undefined)
    throw refuse([{ field: 'agent', message: 'must be a hash, or be given with session' }])
  return sessionIds.map((session) => hash(lookup, accountId, 'agent', text, session))
}

type HashedName = [kind: HashedKind, name: string, scope?: string]

function hash(lookup: CallerLookup, accountId: AccountId, ...name: HashedName): string {
  return hashOf(lookup, accountId, name)
}

/** @param field the member of the request, for the refusal */
export function hashOf(
  { nameHashes }: Pick<CallerLookup, 'nameHashes'>,
  accountId: AccountId,
  [kind, name, scope]: HashedName,
  field: string = kind,
): string {
  const found = nameHashes.hash(accountId, kind, name, scope)
  if (found === undefined)
    throw refuse([
      {
        field,
        message:
          'cannot be looked up by its name, because the account has no hash key: give a hash',
      },
    ])
  return found
}
