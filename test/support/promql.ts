/** The metrics and labels that a PromQL expression names. promtool checks the grammar. */
import { METRICS, SUPERVISOR_METRICS } from '../../src/telemetry/metric-list.ts'

/** Labels of every series: Prometheus' own, a histogram's, and the worker's. */
const LABELS_OF_ALL = ['instance', 'job', 'le', 'worker']
const METRICS_OF_ALL = ['up']

/** @returns what the expression counts on and is not there */
export function unknownIn(expression: string): string[] {
  const unknown: string[] = []
  const known = new Set(LABELS_OF_ALL)
  for (const [, name = '', matchers = ''] of expression.matchAll(
    /\b(gatehouse_\w+|up)\b(?:\{([^}]*)\})?/g,
  )) {
    const labels = labelsOf(name)
    if (labels === undefined) unknown.push(name)
    for (const label of labels ?? []) known.add(label)
    const allowed = [...LABELS_OF_ALL, ...(labels ?? [])]
    for (const [, label = ''] of matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g))
      if (!allowed.includes(label)) unknown.push(`${name}{${label}}`)
  }
  for (const [, list = ''] of expression.matchAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g))
    for (const label of list.split(',').map((part) => part.trim()))
      if (!known.has(label)) unknown.push(`by (${label})`)
  return unknown
}

export function labelsShownIn(text: string): string[] {
  return [...text.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, label = '']) => label)
}

function labelsOf(name: string): readonly string[] | undefined {
  if (METRICS_OF_ALL.includes(name)) return []
  const metrics: Readonly<
    Record<string, { readonly type: string; readonly labels: readonly string[] }>
  > = {
    ...METRICS,
    ...SUPERVISOR_METRICS,
  }
  const own = metrics[name]
  if (own !== undefined) return own.type === 'histogram' ? undefined : own.labels
  const histogram = metrics[name.replace(/_(?:bucket|sum|count)$/, '')]
  return histogram?.type === 'histogram' ? histogram.labels : undefined
}
