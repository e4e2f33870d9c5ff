/**
 * The columns of a call, in the order of the API's answers. Record, journal line, table row,
 * answers, export and dashboard facts are derived from this list (decision 0105).
 */
import type { CallColumns } from './call-column.ts'
import { COST_STATUSES } from './cost.ts'
import { CALL_OUTCOMES } from './usage.ts'

export const CALL_COLUMNS = {
  id: {
    type: 'callId',
    presence: 'always',
    line: 1,
    column: 'id',
    csv: 1,
    body: { description: "The answer's `x-request-id`." },
  },
  accountId: {
    type: 'accountId',
    presence: 'always',
    line: 2,
    column: 'account_id',
    csv: null,
    body: null,
  },
  keyId: {
    type: 'keyId',
    presence: 'always',
    line: 3,
    column: 'key_id',
    csv: 4,
    body: {
      description:
        'The key. For a call of the playground, the id of the member, or `(playground)` for a reader ' +
        'who sees no figures of that member.',
    },
  },
  gateId: {
    type: 'gateId',
    presence: 'always',
    line: 4,
    column: 'gate_id',
    csv: 3,
    body: { description: '`(unknown)`: the call named no gate of the account.' },
  },
  /**
   * The text sent as an unknown gate id: at most 128 characters, and no key (decision 0054).
   * Absent: the call named a gate, or sent no readable name.
   */
  sentGateId: {
    type: 'text',
    presence: 'optional',
    line: 20,
    column: 'sent_gate_id',
    csv: 24,
    body: {
      description:
        'The gate id that was sent when no gate has it: at most 128 characters ' +
        '(`…`: it was longer), with unusual characters percent-encoded. `(looks like a ' +
        'key)` and `(not a name)` stand for text that is not stored. In a row of several calls it is ' +
        'that of the first. Null: the call named a gate, or nothing readable.',
      example: 'gpt-4o',
    },
  },
  dialect: {
    type: 'text',
    presence: 'always',
    line: 5,
    column: 'dialect',
    csv: 5,
    body: { example: 'openai-responses' },
  },
  stream: { type: 'flag', presence: 'always', line: 6, column: 'stream', csv: 6, body: {} },
  /** `provider/model` that answered or was tried last. */
  target: {
    type: 'text',
    presence: 'nullable',
    line: 7,
    column: 'target',
    csv: 7,
    body: { description: '`provider/model` that answered or was tried last.' },
    fact: { title: 'Target', without: 'none was asked' },
  },
  attempts: {
    type: 'count',
    presence: 'always',
    line: 8,
    column: 'attempts',
    csv: 8,
    body: { description: 'The number of attempts at upstreams.' },
  },
  /** `succeeded`: the whole answer was sent. `cancelled`: the client left first. */
  outcome: {
    type: 'choice',
    values: CALL_OUTCOMES,
    presence: 'always',
    line: 9,
    column: 'outcome',
    csv: 9,
    body: {},
  },
  /** The HTTP status of the caller's answer; 499 when the client left before an answer. */
  status: {
    type: 'httpStatus',
    presence: 'always',
    line: 10,
    column: 'status',
    csv: 10,
    body: {
      description: 'The HTTP status that the caller got; 499: the caller left before the answer.',
    },
  },
  errorKind: {
    type: 'errorKind',
    presence: 'nullable',
    line: 11,
    column: 'error_kind',
    csv: 11,
    body: { description: 'Why the call failed; null: the call did not fail.' },
  },
  /**
   * The code of the gateway's own refusal. Absent: an upstream was asked, or the call succeeded.
   */
  refusalCode: {
    type: 'text',
    presence: 'optional',
    line: 21,
    column: 'refusal_code',
    csv: 25,
    body: {
      description:
        'The error code of a call that the gateway itself refused before any upstream was asked. ' +
        'Null: an upstream was asked, the call did not fail, or an older version wrote the row.',
      example: 'price_unknown',
    },
    fact: { title: 'Refused by the gateway' },
  },
  /** The limit that refused the call: a budget's id or the name of another limit. */
  refusedBy: {
    type: 'text',
    presence: 'optional',
    line: 22,
    column: 'refused_by',
    csv: 26,
    body: {
      description:
        'The limit that refused the call: the id of a budget, `monthly_tokens`, `monthly_spend`, ' +
        '`requests_per_minute`, `tokens_per_minute` or `concurrent_calls`; `(budget)` is a deleted ' +
        'budget, or one of a user who is hidden from you. Null: no limit refused the call, or an ' +
        'older version wrote the row.',
      example: 'bud_01a1fbc63aa470d6877cf556d6121edd',
    },
  },
  startedAt: {
    type: 'moment',
    presence: 'always',
    line: 12,
    column: 'started_at',
    csv: 2,
    body: {},
  },
  /** Time from the start to the first upstream byte; null: no byte arrived. */
  firstByteMs: {
    type: 'durationMs',
    presence: 'nullable',
    line: 13,
    column: 'first_byte_ms',
    csv: 12,
    body: {},
  },
  durationMs: {
    type: 'durationMs',
    presence: 'always',
    line: 14,
    column: 'duration_ms',
    csv: 13,
    body: {},
  },
  /**
   * The usage that providers reported, plus an estimate of the rest when the gateway ended the call
   * (`cost.status` is then `estimated`). Null: unknown.
   */
  usage: {
    type: 'usage',
    presence: 'nullable',
    line: 15,
    parts: {
      inputTokens: { type: 'count', column: 'input_tokens', csv: 14 },
      outputTokens: { type: 'count', column: 'output_tokens', csv: 15 },
      cachedInputTokens: { type: 'count', column: 'cached_input_tokens', csv: 16 },
      cacheWriteTokens: { type: 'count', column: 'cache_write_tokens', csv: 17 },
      reasoningTokens: { type: 'count', column: 'reasoning_tokens', csv: 18 },
    },
    body: {
      description:
        'The usage that the provider reported. If the caller left, the unreported part is ' +
        'estimated, and `cost.status` is `estimated`. Null: the usage is unknown.',
    },
  },
  /**
   * The owner of the credential used for `target`; null when no target was asked, and in records of
   * older versions. Calls on the account's `own` credential do not count for the plan's quota.
   */
  credential: {
    type: 'choice',
    values: ['own', 'platform'],
    presence: 'nullable',
    line: 16,
    column: 'credential',
    csv: 19,
    body: {
      description:
        "The owner of the credential used for `target`. Calls with the account's `own` credential do not count " +
        'for its quota. Null: no target was asked, or an older version wrote the row.',
    },
    fact: {
      title: 'Paid with',
      words: { own: 'the account’s own credential', platform: 'the platform’s credential' },
    },
  },
  /** Determined once, when the call ends. Absent: not priced yet. */
  cost: {
    type: 'cost',
    presence: 'optional',
    line: 17,
    parts: {
      nanoUsd: { type: 'count', column: 'cost_nano_usd', csv: 20, heading: 'costUsd' },
      status: {
        type: 'choice',
        values: COST_STATUSES,
        column: 'cost_status',
        csv: 21,
        heading: 'costStatus',
      },
      source: { type: 'text', column: 'price_source', csv: 22, heading: 'priceSource' },
    },
    body: {},
  },
  /**
   * Whether `usage`, or how the call was served, is partly unknown, so that the cost is an estimate
   * at any price. Absent: the cost is exact, or an older version wrote the row.
   */
  isUsageEstimated: {
    type: 'flag',
    presence: 'optional',
    line: 28,
    column: 'usage_estimated',
    csv: null,
    body: null,
  },
  /** A member's id, or `end:` and the hash of a name that was sent (decision 0121). */
  user: {
    type: 'text',
    presence: 'optional',
    line: 23,
    column: 'user_id',
    csv: 28,
    body: {
      description:
        'Who called: the id of a member, `end:` and the hash of an end user’s name, or ' +
        '`(erased)`. Null: no user is known, or the reader sees no figures of this user ' +
        '(`peopleFigures` of `/v1/account/attribution`).',
      example: 'user_01a1fbc63aa470d6877cf556d6121edd',
    },
  },
  session: {
    type: 'text',
    presence: 'optional',
    line: 24,
    column: 'session_id',
    csv: 29,
    body: {
      description: 'The hash of the caller and the session that the call belongs to. Null: none.',
      example: '3fa9c81d00b7e642',
    },
  },
  agent: {
    type: 'text',
    presence: 'optional',
    line: 25,
    column: 'agent_id',
    csv: 30,
    body: {
      description: 'The hash of the subagent’s name within the session. Null: the main agent.',
      example: '91c2ab4480fe77d3',
    },
  },
  parentAgent: {
    type: 'text',
    presence: 'optional',
    line: 26,
    column: 'parent_agent_id',
    csv: 31,
    body: { description: 'The `agent` that started this subagent. Null: the main agent.' },
  },
  /** Hashes of at most 8 tags, separated by spaces, fixed tags first. */
  tags: {
    type: 'text',
    presence: 'optional',
    line: 27,
    column: 'tag_ids',
    csv: 32,
    body: { description: 'The hashes of the call’s tags, separated by spaces. Null: no tags.' },
  },
  /** The budget that changed the call's targets, and how: `<id>; <what>`. */
  steeredBy: {
    type: 'text',
    presence: 'optional',
    line: 29,
    column: 'steered_by',
    csv: 35,
    body: {
      description:
        'The budget that changed which targets were asked, and how: `cheaper`, `free-only`, ' +
        '`preferred` (the target’s `when`) or `kept` (a turn in its middle kept its target). The id ' +
        'is `(budget)` for a deleted budget, or one of a user who is hidden from you. Null: none.',
      example: 'bud_01a1fbc63aa470d6877cf556d6121edd; cheaper',
    },
  },
  /** Number of refused calls that the record represents. Absent: the call was admitted. */
  refusals: {
    type: 'positiveCount',
    presence: 'optional',
    line: 19,
    column: 'refusals',
    csv: 23,
    body: {
      description:
        'The number of calls refused before admission that the row represents. Per key, the first 30 ' +
        'of a minute have their own rows (1); further refused calls are counted in one row per ' +
        'reason. Null: the call was admitted.',
    },
  },
  /** Attempts in order; absent when the first attempt succeeded. */
  attemptDetails: {
    type: 'attempts',
    presence: 'optional',
    line: 18,
    column: 'attempt_details',
    csv: null,
    body: { description: 'Each attempt at an upstream; null: the first attempt succeeded.' },
  },
} as const satisfies CallColumns

/**
 * Names are not columns, because they are looked up for each answer. Their positions in the export
 * are reserved, so no column uses them.
 */
export const NAME_COLUMNS = {
  keyName: {
    after: 'keyId',
    csv: 27,
    body: {
      description:
        'The name of the key, or of the member who used the playground; null: the name is no longer known.',
    },
  },
  userName: {
    after: 'user',
    csv: 33,
    body: { description: 'The name of `user`. Null: the name is not known.' },
  },
  tagNames: {
    after: 'tags',
    csv: 34,
    body: {
      description:
        'The texts of the tags, separated by spaces, such as `team-a repo:gatehouse`. A tag ' +
        'whose text is not known stays a hash. Null: no tags.',
    },
  },
} as const

export type CallNames = { readonly [Name in keyof typeof NAME_COLUMNS]: string | null }
