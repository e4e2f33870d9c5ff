import { z } from 'zod'
import { CALL_OUTCOMES, STATUS_CLASSES } from '../core/usage.ts'

const TIME_PROBLEM = 'must be a time such as 2026-11-01T00:00:00Z, or a day such as 2026-11-01'

export const LATEST_MS = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * ISO 8601 with a zone; a day alone begins at midnight UTC. Converted to milliseconds since the
 * Unix epoch.
 */
export const timeParameter = z
  .string({ error: TIME_PROBLEM })
  .regex(/^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/, {
    error: TIME_PROBLEM,
    abort: true,
  })
  .refine(isDayOfItsMonth, { error: TIME_PROBLEM, abort: true })
  .transform((text) => Date.parse(text))
  .refine((time) => time >= 0 && time <= LATEST_MS, { error: TIME_PROBLEM })

/** Without this check the 30th of February would become the 2nd of March. */
function isDayOfItsMonth(text: string): boolean {
  const day = text.slice(0, 10)
  const startsAtMs = Date.parse(day)
  return !Number.isNaN(startsAtMs) && new Date(startsAtMs).toISOString().startsWith(day)
}

export const nameParameter = z
  .string({ error: 'must be given once' })
  .regex(/^[\x20-\x7e]{1,300}$/, { error: 'must be 1 to 300 printable ASCII characters' })

const STATUS_PROBLEM = 'must be an HTTP status from 100 to 599'

export const timeFields = {
  from: timeParameter.optional().meta({
    type: 'string',
    format: 'date-time',
    description: 'Calls that began at this time or later.',
  }),
  to: timeParameter.optional().meta({
    type: 'string',
    format: 'date-time',
    description: 'Calls that began before this time.',
  }),
}

export const nameFields = {
  gate: nameParameter.optional().meta({ description: "A gate's id." }),
  key: nameParameter.optional().meta({ description: "A key's id." }),
  target: nameParameter
    .optional()
    .meta({ description: '`provider/model` that answered or was tried last.' }),
}

const MILLISECONDS_PROBLEM = 'must be a whole number of milliseconds up to 9999999999'

const CALLER_PROBLEM = 'must be 1 to 300 characters'

function callerParameter(description: string) {
  return z
    .string({ error: 'must be given once' })
    .regex(/^[^\p{Cc}]{1,300}$/u, { error: CALLER_PROBLEM })
    .optional()
    .meta({ type: 'string', description })
}

export const callerFields = {
  user: callerParameter(
    'Calls of a user: the id, name or e-mail address of a member, `end:` and the name or the ' +
      'hash of an end user, or `(erased)`.',
  ),
  session: callerParameter(
    'Calls of a session: the hash, or the id as the client sent it. An id is looked up for `key`, ' +
      'or for each key of the account.',
  ),
  agent: callerParameter(
    'Calls of a subagent: the hash, or the name as the client sent it, which needs `session`.',
  ),
  tag: callerParameter('Calls that bear a tag: the text, such as `repo:gatehouse`, or the hash.'),
}

function milliseconds(description: string) {
  return z
    .string({ error: MILLISECONDS_PROBLEM })
    .regex(/^\d{1,10}$/, { error: MILLISECONDS_PROBLEM, abort: true })
    .transform(Number)
    .optional()
    .meta({ type: 'integer', minimum: 0, maximum: 9_999_999_999, description })
}

export const logFilterFields = {
  ...timeFields,
  ...nameFields,
  ...callerFields,
  targetPart: nameParameter.optional().meta({
    description:
      'A part of the target’s name, such as `sonnet`; case is ignored. ' +
      'No character of the text has a special meaning.',
  }),
  status: z
    .string({ error: STATUS_PROBLEM })
    .regex(/^[1-5][0-9]{2}$/, { error: STATUS_PROBLEM, abort: true })
    .transform(Number)
    .optional()
    .meta({ type: 'integer', minimum: 100, maximum: 599 }),
  statusClass: z.enum(STATUS_CLASSES).optional().meta({
    description:
      'The class of the HTTP status; `4xx` includes 499, the status of calls whose caller left.',
  }),
  outcome: z.enum(CALL_OUTCOMES).optional(),
  errorKind: z
    .string({ error: 'must be given once' })
    .regex(/^[a-z_]{1,50}$/, { error: 'must be a kind of error such as upstream_timeout' })
    .optional()
    .meta({ example: 'upstream_timeout' }),
  refused: z
    .string({ error: 'must be given once' })
    .regex(/^[a-z_]{1,50}$/, {
      error: 'must be any, or the code of an error such as price_unknown',
    })
    .optional()
    .meta({
      description:
        'Calls that the gateway itself refused with this code, before any upstream was sent ' +
        'anything; `any`: with any code.',
      example: 'price_unknown',
    }),
  stream: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({ type: 'boolean' }),
  unpriced: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({
      type: 'boolean',
      description:
        'Calls with reported tokens and without a known price, also if their cost was estimated.',
    }),
  durationFromMs: milliseconds('Calls that took at least this time.'),
  durationToMs: milliseconds('Calls that took less than this time.'),
  firstByteFromMs: milliseconds('Calls whose first byte took at least this time.'),
  firstByteToMs: milliseconds('Calls whose first byte took less than this time.'),
}

const REVERSIBLE = [
  ['from', 'to'],
  ['durationFromMs', 'durationToMs'],
  ['firstByteFromMs', 'firstByteToMs'],
] as const

/** For `superRefine`: a range that ends before it begins is a mistake, not an empty answer. */
export function refuseReversedRange(
  query: Readonly<Partial<Record<(typeof REVERSIBLE)[number][number], number | undefined>>>,
  context: z.core.$RefinementCtx,
): void {
  for (const [from, to] of REVERSIBLE) {
    const [begin, end] = [query[from], query[to]]
    if (begin === undefined || end === undefined || begin < end) continue
    const message = to === 'to' ? 'must be later than from' : `must be more than ${from}`
    context.addIssue({ code: 'custom', path: [to], message })
  }
}
