/** docs/generated/metrics.md: every metric, from the code. */
import { METRICS, type Metric, SUPERVISOR_METRICS } from '../src/telemetry/metric-list.ts'

export const METRICS_PAGE = 'docs/generated/metrics.md'

const ALL: Readonly<Record<string, Metric>> = { ...METRICS, ...SUPERVISOR_METRICS }

export function metricsPage(metrics = ALL): string {
  const rows = Object.entries(metrics).map(([name, { type, labels, help, note }]) =>
    [
      `\`${name}\``,
      type,
      labels.map((label) => `\`${label}\``).join(', ') || '–',
      note === undefined ? help : `${help}. ${note}`,
    ].join(' | '),
  )
  return [
    '# Metrics',
    '',
    '<!-- Made by scripts/docs.ts from src/telemetry/metric-list.ts: do not edit, run make fmt. -->',
    '',
    'What `/metrics` tells Prometheus ([how to switch it on](../operations/watch.md#metrics)). Figures count from the start of the process and are this node’s own.',
    '',
    '| metric | type | labels | meaning |',
    '|---|---|---|---|',
    ...rows.map((row) => `| ${row} |`),
    '',
    '`target` is `provider/model`, `gate` a gate’s id; no label ever names a key or an account. A counter has at most 2,000 series and a histogram at most 500 (each 18 lines);',
    'what comes after that is counted under `other`, so sums stay right.',
    '',
  ].join('\n')
}
