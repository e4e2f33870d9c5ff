/**
 * The headers that are forwarded between a caller and an upstream of the same dialect. Other
 * headers are dropped.
 */
/** Lower-case names; a name that ends in `*` is a prefix. */
export interface HeaderLists {
  readonly request: readonly string[]
  readonly answer: readonly string[]
  /** Headers about the paying account, such as its remaining limits. */
  readonly ownAnswer: readonly string[]
}

const COMMON: HeaderLists = {
  request: [
    'accept',
    'accept-language',
    'content-type',
    'user-agent',
    'idempotency-key',
    'traceparent',
    'tracestate',
    'x-stainless-*',
    'x-client-request-id',
    // Hints that let providers route a conversation to a machine that has it cached.
    'x-session-id',
    'x-session-affinity',
    'x-conversation-id',
  ],
  answer: [
    'content-type',
    'retry-after',
    'retry-after-ms',
    'x-should-retry',
    'deprecation',
    'sunset',
  ],
  ownAnswer: [],
}

/** https://github.com/openai/openai-node; Codex adds its session names. */
export const OPENAI_HEADERS: HeaderLists = {
  request: [
    // provider-name-ok: a header of the dialect
    'openai-beta',
    'originator',
    'version',
    'session_id',
    'session-id',
    'conversation_id',
    'x-codex-*',
  ],
  // provider-name-ok: a header of the dialect
  answer: ['openai-processing-ms', 'openai-version', 'openai-model', 'x-reasoning-included'],
  ownAnswer: [],
}

/**
 * https://github.com/anthropics/anthropic-sdk-typescript; Claude Code adds `x-app` and its session.
 */
export const ANTHROPIC_HEADERS: HeaderLists = {
  request: [
    // provider-name-ok: a header of the dialect
    'anthropic-version',
    // provider-name-ok: a header of the dialect
    'anthropic-beta',
    // provider-name-ok: a header of the dialect
    'anthropic-dangerous-direct-browser-access',
    'x-app',
    'x-claude-code-*',
  ],
  // provider-name-ok: a header of the dialect
  answer: ['anthropic-version'],
  // provider-name-ok: a header of the dialect
  ownAnswer: ['anthropic-ratelimit-*'],
}

export const MISTRAL_HEADERS: HeaderLists = {
  request: [],
  answer: [],
  ownAnswer: ['ratelimitbysize-*'],
}

/**
 * Headers that choose the paying account. Calls with an access token lose these headers, even if
 * the operator lists them.
 */
export const PAYER_HEADERS: readonly string[] = [
  // provider-name-ok: a header of the dialect
  'anthropic-workspace-id',
  // provider-name-ok: a header of the dialect
  'anthropic-user-profile-id',
]

const NONE: HeaderLists = { request: [], answer: [], ownAnswer: [] }

export function withCommonHeaders(own: HeaderLists = NONE): HeaderLists {
  return {
    request: [...COMMON.request, ...own.request],
    answer: [...COMMON.answer, ...own.answer],
    ownAnswer: own.ownAnswer,
  }
}
