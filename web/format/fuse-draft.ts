/** The fields of a fuse as people type them. */
import { fuse as fuseSchema } from '../../src/contract/fuses.ts'
import { describeProblems, type Problem } from '../../src/contract/problems.ts'
import { joinGroups } from './join-groups.ts'

export interface Fuse {
  readonly usd: number | null
  readonly callsPerMinute: number | null
  readonly forMinutes: number
}

export interface FuseDraft {
  readonly usd: string
  readonly calls: string
  readonly minutes: string
}

export const USUAL_MINUTES = 5

const NO_FUSE: FuseDraft = { usd: '', calls: '', minutes: '' }

/** @param fuse undefined from an earlier version of the gateway */
export function toFuseDraft(fuse: Fuse | null | undefined): FuseDraft {
  if (fuse === null || fuse === undefined) return NO_FUSE
  const { usd, callsPerMinute, forMinutes } = fuse
  return {
    usd: String(usd ?? ''),
    calls: String(callsPerMinute ?? ''),
    minutes: callsPerMinute === null && forMinutes === USUAL_MINUTES ? '' : String(forMinutes),
  }
}

/** Null: every field is empty. Invalid text becomes a number that the schema refuses. */
export function toFuse({ usd, calls, minutes }: FuseDraft): Fuse | null {
  if (`${usd}${calls}${minutes}`.trim() === '') return null
  return {
    usd: toFigure(usd),
    callsPerMinute: toFigure(calls),
    forMinutes: toFigure(minutes) ?? USUAL_MINUTES,
  }
}

/** @returns problems of `fuse.usd` and the other members, or of `fuse` when it sets no limit */
export function findFuseProblems(draft: FuseDraft): readonly Problem[] {
  const fuse = toFuse(draft)
  const checked = fuseSchema.safeParse(fuse)
  if (checked.success) return []
  const issues = checked.error.issues.map((issue) => ({ ...issue, path: ['fuse', ...issue.path] }))
  return describeProblems(issues, { fuse })
}

function toFigure(text: string): number | null {
  const typed = joinGroups(text.trim())
  return typed === '' ? null : Number(typed.replace(',', '.'))
}

export function describeFuse(fuse: Fuse | null | undefined): string {
  if (fuse === null || fuse === undefined) return 'none'
  const { usd, callsPerMinute, forMinutes } = fuse
  const calls = callsPerMinute === 1 ? 'call' : 'calls'
  const minutes = forMinutes === 1 ? 'one minute' : `${forMinutes} minutes`
  return [
    ...(usd === null ? [] : [`$${usd} in an hour`]),
    ...(callsPerMinute === null ? [] : [`${callsPerMinute} ${calls} a minute for ${minutes}`]),
  ].join(' or ')
}
