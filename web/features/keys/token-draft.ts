import type { RowOf } from '../../api/ask.ts'
import { type Expiry, NEVER } from './expiry.ts'

export type AccessToken = RowOf<'GET /v1/access-tokens'>

export const LIMIT_FIELDS = ['requestsPerMinute', 'tokensPerMinute', 'concurrentCalls'] as const

export interface TokenDraft extends Record<(typeof LIMIT_FIELDS)[number], string> {
  readonly name: string
  readonly expiry: Expiry
  readonly gates: readonly string[] | null
  /** `member:ID`, `tag:ID`, or empty. */
  readonly owner: string
  readonly ipRanges: string
  readonly overrides: boolean
  readonly tags: string
}

export function toDraft(token: AccessToken | undefined): TokenDraft {
  const written = (limit: number | null | undefined) => (limit == null ? '' : String(limit))
  return {
    name: token?.name ?? '',
    expiry: token === undefined || token.expiresAt === null ? NEVER : { choice: 'keep', day: '' },
    gates: token?.gates ?? null,
    owner: token?.owner == null ? '' : `${token.owner.type}:${token.owner.id}`,
    requestsPerMinute: written(token?.requestsPerMinute),
    tokensPerMinute: written(token?.tokensPerMinute),
    concurrentCalls: written(token?.concurrentCalls),
    ipRanges: token?.ipRanges?.join('\n') ?? '',
    overrides: token?.overrides ?? false,
    tags: token?.tags.join(', ') ?? '',
  }
}

/** Separated by commas, because a tag's value may contain spaces. */
export function toTags(text: string): string[] {
  const tags = text.split(',').map((tag) => tag.trim())
  return [...new Set(tags.filter((tag) => tag !== ''))]
}

export function parseLimit(text: string): number | null | undefined {
  const digits = text.replaceAll(/[\s,’'_]/g, '')
  if (digits === '') return null
  return /^[0-9]{1,15}$/.test(digits) && Number(digits) > 0 ? Number(digits) : undefined
}

export function isSound(draft: TokenDraft): boolean {
  return (
    draft.gates?.length !== 0 &&
    LIMIT_FIELDS.every((field) => parseLimit(draft[field]) !== undefined)
  )
}

export function toRules(draft: TokenDraft) {
  const [type, id = ''] = draft.owner.split(/:(.*)/s)
  const ranges = draft.ipRanges.split(/[\s,]+/).filter((range) => range !== '')
  return {
    name: draft.name.trim(),
    gates: draft.gates === null ? null : [...draft.gates],
    owner: type === 'member' || type === 'tag' ? ({ type, id } as const) : null,
    requestsPerMinute: parseLimit(draft.requestsPerMinute) ?? null,
    tokensPerMinute: parseLimit(draft.tokensPerMinute) ?? null,
    concurrentCalls: parseLimit(draft.concurrentCalls) ?? null,
    ipRanges: ranges.length === 0 ? null : ranges,
    overrides: draft.overrides,
    tags: toTags(draft.tags),
  }
}

export function changedRules(
  first: TokenDraft,
  now: TokenDraft,
): Partial<ReturnType<typeof toRules>> {
  const before = new Map<string, unknown>(Object.entries(toRules(first)))
  return Object.fromEntries(
    Object.entries(toRules(now)).filter(
      ([rule, value]) => JSON.stringify(value) !== JSON.stringify(before.get(rule)),
    ),
  )
}
