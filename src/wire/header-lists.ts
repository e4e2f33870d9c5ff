/**
 * The headers of a call that pass between its caller and an upstream of the same dialect: by name,
 * as data. A header that is in no list stays here. It must not know what may never pass
 * (upstream/headers.ts).
 */
/** Names in lower case; one that ends in `*` is a beginning. */
export interface HeaderLists {
  readonly request: readonly string[]
  readonly answer: readonly string[]
  /** Of the account that pays: what is left of its limits there. */
  readonly ownAnswer: readonly string[]
}

/** Of every dialect: what SDKs say of themselves and of the conversation, and when to come back. */
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
    // Hints by which vendors keep a conversation on a machine that has it cached.
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

/** https://github.com/openai/openai-node; Codex adds the names of its session. */
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

const NONE: HeaderLists = { request: [], answer: [], ownAnswer: [] }

/** @param own of a dialect, in addition to the headers that pass in every dialect */
export function withCommonHeaders(own: HeaderLists = NONE): HeaderLists {
  return {
    request: [...COMMON.request, ...own.request],
    answer: [...COMMON.answer, ...own.answer],
    ownAnswer: own.ownAnswer,
  }
}
