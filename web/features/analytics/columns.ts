/** The table's columns: what each shows of a sum, how it is sorted, and what stands in the CSV. */
import type { AnswerOf } from '../../api/ask.ts'
import { formatCount, formatDuration, formatShare, formatUsd } from '../../format/figures.ts'
import { readErrorRate, readErrors } from '../../format/usage-measures.ts'

export type Sum = AnswerOf<'GET /v1/analytics'>['data'][number]

export interface Column {
  readonly id: string
  readonly label: string
  /** The head in the CSV: with its unit, for there the numbers are plain. */
  readonly csvLabel: string
  readonly read: (sum: Sum) => number | null
  readonly format: (value: number | null) => string
}

function column(
  id: string,
  labels: readonly [label: string, csvLabel: string],
  read: Column['read'],
  format: Column['format'] = formatCount,
): Column {
  const [label, csvLabel] = labels
  return { id, label, csvLabel, read, format }
}

export const COLUMNS: readonly Column[] = [
  column('calls', ['Calls', 'calls'], (sum) => sum.calls),
  column('errors', ['Errors', 'errors'], (sum) => readErrors(sum).errors),
  column('errorRate', ['Error rate', 'error_rate'], readErrorRate, formatShare),
  column('input', ['Tokens in', 'input_tokens'], (sum) => sum.tokens.input),
  column('cached', ['Cached in', 'cached_input_tokens'], (sum) => sum.tokens.cachedInput),
  column('output', ['Tokens out', 'output_tokens'], (sum) => sum.tokens.output),
  column('reasoning', ['Reasoning out', 'reasoning_tokens'], (sum) => sum.tokens.reasoning),
  column('cost', ['Cost', 'cost_usd'], (sum) => sum.cost.usd, formatUsd),
  column('p50', ['p50', 'duration_p50_ms'], (sum) => sum.durationMs.p50, formatDuration),
  column('p95', ['p95', 'duration_p95_ms'], (sum) => sum.durationMs.p95, formatDuration),
  column('p99', ['p99', 'duration_p99_ms'], (sum) => sum.durationMs.p99, formatDuration),
  column(
    'first50',
    ['First token p50', 'first_token_p50_ms'],
    (sum) => sum.firstByteMs.p50,
    formatDuration,
  ),
  column(
    'first95',
    ['First token p95', 'first_token_p95_ms'],
    (sum) => sum.firstByteMs.p95,
    formatDuration,
  ),
]

/** Only in the CSV: the table tells them by marks at the cost. */
const CSV_ONLY: readonly Column[] = [
  column('estimated', ['', 'cost_estimated_calls'], (sum) => sum.cost.estimatedCalls),
  column('unknown', ['', 'cost_unknown_calls'], (sum) => sum.cost.unknownCalls),
  column('refused', ['', 'refused'], (sum) => sum.refused ?? 0),
  column('cancelled', ['', 'cancelled'], (sum) => sum.cancelled),
]

export const CSV_COLUMNS: readonly Column[] = [...COLUMNS, ...CSV_ONLY]

/** Rows without a figure stand last, whichever way. */
export function sortSums(sums: readonly Sum[], sort: string, isAscending: boolean): readonly Sum[] {
  const read = COLUMNS.find(({ id }) => id === sort)?.read
  if (read === undefined)
    return sums.toSorted((left, right) => compareNames(left, right, isAscending))
  return sums.toSorted((left, right) => {
    const [a, b] = [read(left), read(right)]
    if (a === null || b === null) return Number(a === null) - Number(b === null)
    return isAscending ? a - b : b - a
  })
}

function compareNames(left: Sum, right: Sum, isAscending: boolean): number {
  const order = (left.group ?? '').localeCompare(right.group ?? '')
  return isAscending ? order : -order
}
