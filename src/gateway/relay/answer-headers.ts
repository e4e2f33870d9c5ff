/** What the gateway tells of a call in headers, since nothing is added to bodies (design §4). */
import type { CallProgress } from '../settle/settle.ts'

export function toAnswerHeaders(progress: CallProgress): Record<string, string> {
  const { target, attempts, ignored, skipped } = progress
  const headers: Record<string, string> = {
    'x-gatehouse-target': encodeText(target ?? ''),
    'x-gatehouse-attempts': String(attempts.length),
  }
  if (ignored.length > 0) headers['x-gatehouse-ignored'] = encodeNames(ignored)
  return skipped.length > 0 ? Object.assign(headers, toSkippedHeader(progress)) : headers
}

export function toSkippedHeader({ skipped }: Pick<CallProgress, 'skipped'>): Record<string, string> {
  return skipped.length === 0 ? {} : { 'x-gatehouse-skipped': encodeNames(skipped) }
}

/** Field names come from the caller: percent-encoded where a header could not hold them, and bounded. */
function encodeNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => encodeText(name.slice(0, 64)))
  return [...shown, ...(names.length > MAX_NAMES ? [`and-${names.length - MAX_NAMES}-more`] : [])].join(', ')
}

const MAX_NAMES = 32

/** What is not in here would break a header or a list of names. */
const PLAIN = /^[\x21-\x2b\x2d-\x7e]*$/

function encodeText(text: string): string {
  if (PLAIN.test(text)) return text
  return text.toWellFormed().replace(/[^\x21-\x2b\x2d-\x7e]/gu, encodeURIComponent)
}
