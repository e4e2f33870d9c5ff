import type { FeatureId, Verdict } from '../../../src/contract/conformance-features.ts'
import { describeLosses, detailOf, isWhole } from '../../format/conformance-losses.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Table, Th } from '../../ui/table.tsx'
import { type ConformanceEntry, countVerdicts, type MatrixRow } from './conformance-matrix.ts'

export function ConformanceTable({
  endpoints,
  rows,
  feature,
  nameOf,
  onOpen,
}: {
  readonly endpoints: readonly string[]
  readonly rows: readonly MatrixRow[]
  readonly feature: FeatureId | undefined
  readonly nameOf: (provider: string) => string
  readonly onOpen: (row: MatrixRow, entry: ConformanceEntry) => void
}) {
  return (
    <Table
      label="Conformance"
      head={
        <>
          <Th>Target</Th>
          {endpoints.map((endpoint) => (
            <Th key={endpoint}>
              <code className="font-mono">{endpoint}</code>
            </Th>
          ))}
        </>
      }
    >
      {rows.map((row, index) => (
        <tr key={`${row.provider}/${row.model ?? ''}`}>
          <th
            scope="row"
            className="min-w-44 px-5 py-3.5 text-left align-top leading-5.5 font-normal"
          >
            <span
              className={rows[index - 1]?.provider === row.provider ? 'sr-only' : 'block text-ink'}
            >
              {nameOf(row.provider)}
            </span>
            {row.model !== undefined && (
              <code className="block font-mono text-xs break-all text-ink-faint">{row.model}</code>
            )}
          </th>
          {endpoints.map((endpoint) => (
            <td key={endpoint} className="w-1/4 min-w-48 !py-2 !align-top">
              <Cell
                entry={row.cells.get(endpoint)}
                feature={feature}
                label={`${endpoint} to ${nameOf(row.provider)}${row.model === undefined ? '' : `, ${row.model}`}`}
                onOpen={(entry) => onOpen(row, entry)}
              />
            </td>
          ))}
        </tr>
      ))}
    </Table>
  )
}

function Cell({
  entry,
  feature,
  label,
  onOpen,
}: {
  readonly entry: ConformanceEntry | undefined
  readonly feature: FeatureId | undefined
  readonly label: string
  readonly onOpen: (entry: ConformanceEntry) => void
}) {
  if (entry === undefined) return <NotThere title="This endpoint does not reach it." />
  if (feature !== undefined) {
    const result = entry.results[feature]
    if (result === undefined)
      return <NotThere title="This endpoint’s format has no place for it." />
    return (
      <div className="flex flex-col gap-1 py-1.5">
        <VerdictBadge verdict={result.verdict} />
        {detailOf(result) !== undefined && (
          <span
            className={classNames(
              'text-xs break-words text-ink-soft',
              result.verdict === 'lossy' && 'font-mono',
            )}
          >
            {detailOf(result)}
          </span>
        )}
      </div>
    )
  }
  const losses = describeLosses(entry)
  return (
    <button
      type="button"
      title={losses.length === 0 ? 'Nothing is lost.' : losses.join('\n')}
      onClick={() => onOpen(entry)}
      className="-mx-1.5 flex flex-wrap items-center gap-1 rounded-lg p-1.5 text-left hover:bg-surface"
    >
      <span className="sr-only">{label}: </span>
      <Summary counts={countVerdicts(entry)} />
    </button>
  )
}

function Summary({ counts }: { readonly counts: ReturnType<typeof countVerdicts> }) {
  const [only, ...rest] = counts
  if (only !== undefined && rest.length === 0) return <VerdictBadge verdict={only.verdict} />
  const total = counts.reduce((sum, { count }) => sum + count, 0)
  return (
    <>
      {counts
        .filter(({ verdict }) => !isWhole(verdict))
        .map(({ verdict, count }) => (
          <VerdictBadge key={verdict} verdict={verdict} count={count} />
        ))}
      <span className="ml-0.5 text-xs text-ink-faint tabular-nums">of {total}</span>
    </>
  )
}

function NotThere({ title }: { readonly title: string }) {
  return (
    <span className="block py-1.5 leading-5.5 text-ink-faint" title={title}>
      –<span className="sr-only"> {title}</span>
    </span>
  )
}

interface VerdictLook {
  readonly tone: Tone
  readonly means: string
}

export const VERDICT_LOOKS: Readonly<Record<Verdict, VerdictLook>> = {
  relayed: { tone: 'accent', means: 'The bytes are passed on unchanged.' },
  lossless: { tone: 'ok', means: 'The request is translated without loss.' },
  lossy: {
    tone: 'warn',
    means: 'The target does not support the feature, so the feature is omitted or changed.',
  },
  refused: { tone: 'danger', means: 'The request is refused with status 400.' },
  absent: { tone: 'neutral', means: 'The target has no equivalent.' },
}

export function VerdictBadge({
  verdict,
  count,
}: {
  readonly verdict: Verdict
  readonly count?: number
}) {
  const { tone, means } = VERDICT_LOOKS[verdict]
  return (
    <span title={means}>
      <Badge tone={tone}>
        {count !== undefined && <span className="tabular-nums">{count}</span>}
        {verdict}
      </Badge>
    </span>
  )
}
