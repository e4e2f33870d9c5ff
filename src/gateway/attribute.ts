/**
 * Stage attribute: the user, session, agent and tags of a call (decision 0121). Values that the
 * account fixed come first, then `x-gatehouse-*`, then the clients' own headers, then the body.
 */
import {
  type ATTRIBUTION_COLUMNS,
  type AttributionSettings,
  END_USER,
  isEndUserName,
  isName,
  MOST_NAME_CHARACTERS,
  MOST_TAG_VALUE_CHARACTERS,
  MOST_TAGS,
} from '../core/attribution.ts'
import type { CallRecord } from '../core/call.ts'
import type { HeaderFields } from '../net/fields.ts'
import { CLIENT_HEADERS, readBodyNames, type SentNames } from '../wire/client-names.ts'
import type { AcceptedRequest, Dialect } from '../wire/dialect.ts'
import type { Attributions, CallDimensions, Caller, FixedAttribution } from './ports.ts'

export interface Attribution extends Pick<CallRecord, (typeof ATTRIBUTION_COLUMNS)[number]> {
  /** Names that were sent and do not count, for `x-gatehouse-ignored`. */
  readonly ignored: readonly string[]
}

export interface AttributePorts {
  /** Undefined: calls are not attributed. */
  readonly attributions?: Attributions | undefined
}

export interface AttributedCall {
  readonly caller: Caller
  readonly headers: HeaderFields
  readonly dialect: Dialect
  /** Undefined: the body was not accepted. */
  readonly accepted: AcceptedRequest | undefined
}

const NOTHING: Attribution = { ignored: [] }

export function attribute({ attributions }: AttributePorts, call: AttributedCall): Attribution {
  if (attributions === undefined) return NOTHING
  const settings = attributions.settingsOf(call.caller.accountId)
  const sent = readHeaders(call.headers)
  if (sent === undefined && !mayCount(settings, call)) return NOTHING
  return new Attributing(attributions, settings, call, sent).toAttribution()
}

export function withIgnored(accepted: AcceptedRequest, { ignored }: Attribution): AcceptedRequest {
  if (ignored.length === 0) return accepted
  return { ...accepted, ignored: [...accepted.ignored, ...ignored] }
}

export function toDimensions(
  { gateId }: AcceptedRequest,
  { user, tags }: Attribution,
): CallDimensions {
  return { gateId, user, tags }
}

/** False for a call without any name in its headers that its body cannot change. */
function mayCount(settings: AttributionSettings, { caller, accepted }: AttributedCall): boolean {
  if (settings.membersAndTags && caller.fixed !== undefined) return true
  return (settings.endUsers || settings.sessions) && accepted !== undefined
}

const USER_HEADER = 'x-gatehouse-user'
const SESSION_HEADER = 'x-gatehouse-session'
const TAGS_HEADER = 'x-gatehouse-tags'

const HEADERS: ReadonlySet<string> = new Set([
  ...[USER_HEADER, SESSION_HEADER, TAGS_HEADER],
  ...CLIENT_HEADERS.flatMap(({ session, agent, parentAgent = session }) => [
    ...[session, ...agent, parentAgent],
  ]),
])

/** One pass over the headers, because each lookup by name is a pass. Undefined: no names. */
function readHeaders(headers: HeaderFields): Map<string, string> | undefined {
  let found: Map<string, string> | undefined
  headers.forEach((value, name) => {
    if (value === '' || !HEADERS.has(name)) return
    found ??= new Map()
    found.set(name, NOT_ASCII.test(value) ? Buffer.from(value, 'latin1').toString() : value)
  })
  return found
}

interface SessionNames {
  readonly session?: string | undefined
  readonly agent?: string | undefined
  readonly parentAgent?: string | undefined
}

const NOT_ASCII = /[\x80-\xff]/

class Attributing {
  readonly #ports: Attributions
  readonly #settings: AttributionSettings
  readonly #call: AttributedCall
  readonly #sent: ReadonlyMap<string, string> | undefined
  readonly #ignored: string[] = []
  #body: SentNames | undefined

  constructor(
    ports: Attributions,
    settings: AttributionSettings,
    call: AttributedCall,
    sent: ReadonlyMap<string, string> | undefined,
  ) {
    this.#ports = ports
    this.#settings = settings
    this.#call = call
    this.#sent = sent
  }

  toAttribution(): Attribution {
    const user = this.#member() ?? this.#endUser()
    const { session, agent, parentAgent } = this.#session()
    const tags = this.#tags()
    return { user, session, agent, parentAgent, tags, ignored: this.#ignored }
  }

  #member(): string | undefined {
    const { accountId, fixed } = this.#call.caller
    if (fixed?.user === undefined || !this.#settings.membersAndTags) return undefined
    if (this.#sent?.has(USER_HEADER) === true) this.#ignored.push(USER_HEADER)
    this.#ports.note(accountId, 'user', fixed.user, undefined)
    return fixed.user
  }

  #endUser(): string | undefined {
    const { accountId, token } = this.#call.caller
    let name = this.#sent?.get(USER_HEADER)
    if (name !== undefined && (!this.#settings.endUsers || token !== undefined)) {
      this.#ignored.push(USER_HEADER)
      name = undefined
    }
    if (!this.#settings.endUsers) return undefined
    name = this.#checkedUser(name, USER_HEADER)
    if (name === undefined) {
      const { user, userMember = '' } = this.#bodyNames()
      name = this.#checkedUser(user, userMember)
    }
    if (name === undefined) return undefined
    const hash = this.#ports.hash(accountId, 'user', name)
    if (hash === undefined) return undefined
    const user = END_USER + hash
    this.#ports.note(accountId, 'user', user, name)
    return user
  }

  #session(): Pick<Attribution, 'session' | 'agent' | 'parentAgent'> {
    if (!this.#settings.sessions) {
      if (this.#sent?.has(SESSION_HEADER) === true) this.#ignored.push(SESSION_HEADER)
      return NOTHING
    }
    const { accountId, keyId } = this.#call.caller
    const names = this.#sessionNames()
    if (names.session === undefined) return NOTHING
    const session = this.#ports.hash(accountId, 'session', names.session, keyId)
    if (session === undefined) return NOTHING
    const agent = this.#agentHash(names.agent, session)
    const parentAgent =
      agent === undefined ? undefined : this.#agentHash(names.parentAgent, session)
    return { session, agent, parentAgent }
  }

  #agentHash(name: string | undefined, session: string): string | undefined {
    if (name === undefined) return undefined
    return this.#ports.hash(this.#call.caller.accountId, 'agent', name, session)
  }

  #sessionNames(): SessionNames {
    const sent = this.#sent
    const own = this.#checked(sent?.get(SESSION_HEADER), SESSION_HEADER)
    for (const { session: header, agent: agents, parentAgent } of CLIENT_HEADERS) {
      const session = this.#checked(sent?.get(header), header)
      if (session === undefined) continue
      return {
        session: own ?? session,
        agent: this.#agentName(agents, session),
        parentAgent: parentAgent === undefined ? undefined : this.#agentName(parentAgent, session),
      }
    }
    if (own !== undefined) return { session: own }
    const { session, agent } = this.#bodyNames()
    return {
      session: this.#checked(session, 'session_id'),
      agent: agent === session ? undefined : this.#checked(agent, 'thread_id'),
    }
  }

  /** @returns undefined for the main agent, which has the session's name */
  #agentName(headers: string | readonly string[], session: string): string | undefined {
    for (const header of typeof headers === 'string' ? [headers] : headers) {
      const name = this.#checked(this.#sent?.get(header), header)
      if (name !== undefined) return name === session ? undefined : name
    }
    return undefined
  }

  #tags(): string | undefined {
    const sent = this.#sent?.get(TAGS_HEADER)
    if (!this.#settings.membersAndTags) {
      if (sent !== undefined) this.#ignored.push(TAGS_HEADER)
      return undefined
    }
    const { accountId, fixed } = this.#call.caller
    if (sent === undefined && fixed === undefined) return undefined
    const known = this.#ports.tagsOf(accountId)
    const tags: string[] = []
    if (fixed !== undefined)
      for (const tag of fixedTags(fixed, known))
        if (tags.length < MOST_TAGS && !tags.includes(tag) && isFixedTag(tag, known)) tags.push(tag)
    if (sent !== undefined)
      for (const text of sent.split(',')) {
        const tag = text.trim()
        if (tag === '' || tags.includes(tag)) continue
        if (tags.length < MOST_TAGS && this.#takes(tag, known)) tags.push(tag)
        else this.#ignored.push(`${TAGS_HEADER}:${tag.slice(0, MOST_NAME_CHARACTERS)}`)
      }
    let hashes: string | undefined
    for (const tag of tags) {
      const hash = this.#ports.hash(accountId, 'tag', tag)
      if (hash === undefined) continue
      this.#ports.note(accountId, 'tag', hash, tag)
      hashes = hashes === undefined ? hash : `${hashes} ${hash}`
    }
    return hashes
  }

  #takes(tag: string, known: ReturnType<Attributions['tagsOf']>): boolean {
    const colon = tag.indexOf(':')
    if (colon < 0) return known.has(tag)
    const name = tag.slice(0, colon)
    const value = tag.slice(colon + 1)
    if (!known.has(name) || !isName(value) || value.length > MOST_TAG_VALUE_CHARACTERS) return false
    return this.#ports.takesTagValue(this.#call.caller.accountId, name, value)
  }

  #bodyNames(): SentNames {
    const { accepted, dialect } = this.#call
    this.#body ??= accepted === undefined ? {} : readBodyNames(dialect.id, accepted.body)
    return this.#body
  }

  #checkedUser(name: string | undefined, sentAs: string): string | undefined {
    return this.#checked(name, sentAs, isEndUserName)
  }

  #checked(name: string | undefined, sentAs: string, isFit = isName): string | undefined {
    if (name === undefined || name === '') return undefined
    if (isFit(name)) return name
    this.#ignored.push(sentAs)
    return undefined
  }
}

/** Values that callers sent must not use up the place of a value that the account fixed. */
function isFixedTag(tag: string, known: ReturnType<Attributions['tagsOf']>): boolean {
  const colon = tag.indexOf(':')
  return known.has(colon < 0 ? tag : tag.slice(0, colon))
}

function fixedTags(
  fixed: FixedAttribution,
  known: ReturnType<Attributions['tagsOf']>,
): readonly string[] {
  const { user, ownerTag, tags } = fixed
  const owner = ownerTag === undefined ? undefined : known.nameOf(ownerTag)
  return [
    ...tags,
    ...(owner === undefined ? [] : [owner]),
    ...(user === undefined ? [] : known.teamsOf(user)),
  ]
}
