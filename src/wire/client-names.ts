/**
 * The headers and members in which clients name the session, the agent and the user of a call, as
 * data. Checked with the published clients (test/fixtures/agents). `x-client-request-id` is one per
 * request in most clients, so it names no session.
 */
import type { InboundDialectId } from '../core/dialects.ts'
import { parseJson } from './json-scan.ts'
import type { JsonObject } from './json-splice.ts'
import { presentMember } from './request-fields.ts'

export interface ClientHeaders {
  readonly session: string
  /** The first that is sent. The same name as the session's means the main agent. */
  readonly agent: readonly string[]
  readonly parentAgent?: string
}

/** The first entry whose session is sent applies. */
export const CLIENT_HEADERS: readonly ClientHeaders[] = [
  // Claude Code
  {
    session: 'x-claude-code-session-id',
    agent: ['x-claude-code-agent-id'],
    parentAgent: 'x-claude-code-parent-agent-id',
  },
  // Codex: a subagent is a thread of its own in the session of the thread that started it.
  { session: 'session-id', agent: ['thread-id'], parentAgent: 'x-codex-parent-thread-id' },
  // opencode: a subagent is a session of its own that names its parent.
  {
    session: 'x-parent-session-id',
    agent: ['x-opencode-session', 'x-session-id', 'x-session-affinity'],
  },
  { session: 'x-opencode-session', agent: [] },
  { session: 'x-session-id', agent: [] },
  { session: 'x-session-affinity', agent: [] },
]

export interface SentNames {
  readonly user?: string | undefined
  readonly session?: string | undefined
  readonly agent?: string | undefined
  /** The member that names the user, as `x-gatehouse-ignored` names it. */
  readonly userMember?: string | undefined
}

const NOTHING: SentNames = {}

/** Larger objects are not parsed, because an object of names is small. */
const MOST_BYTES = 16_384

type ReadNames = (body: JsonObject) => SentNames

const BODY_NAMES: Readonly<Partial<Record<InboundDialectId, ReadNames>>> = {
  'openai-chat': readUser,
  'openai-embeddings': readUser,
  'openai-responses': (body) => ({ ...readUser(body), ...readClientMetadata(body) }),
  'anthropic-messages': readUserId,
}

/** The names in a request's body. The body itself stays bytes. */
export function readBodyNames(dialect: InboundDialectId, body: JsonObject): SentNames {
  return BODY_NAMES[dialect]?.(body) ?? NOTHING
}

/** https://platform.openai.com/docs/api-reference/chat/create: `user` is deprecated. */
function readUser(body: JsonObject): SentNames {
  for (const userMember of ['safety_identifier', 'user']) {
    const member = presentMember(body, userMember)
    if (member !== undefined && body.type(member) === 'string')
      return { user: String(body.value(member)), userMember }
  }
  return NOTHING
}

/** Codex repeats its headers in the body. */
function readClientMetadata(body: JsonObject): SentNames {
  const metadata = readObject(body, 'client_metadata')
  return { session: textOf(metadata?.session_id), agent: textOf(metadata?.thread_id) }
}

/**
 * Claude Code sends JSON text with a session, which would be a new user for each session
 * otherwise.
 */
function readUserId(body: JsonObject): SentNames {
  const userId = textOf(readObject(body, 'metadata')?.user_id)
  if (userId === undefined) return NOTHING
  if (!userId.startsWith('{')) return { user: userId, userMember: 'metadata.user_id' }
  try {
    const parsed = parseJson(userId)
    return { session: textOf((parsed as Readonly<Record<string, unknown>>).session_id) }
  } catch (error) {
    if (error instanceof SyntaxError) return { user: userId, userMember: 'metadata.user_id' }
    throw error
  }
}

function readObject(body: JsonObject, key: string): Readonly<Record<string, unknown>> | undefined {
  const member = body.get(key)
  if (member === undefined || body.type(member) !== 'object') return undefined
  if (member.valueEnd - member.valueStart > MOST_BYTES) return undefined
  return body.value(member) as Readonly<Record<string, unknown>>
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
