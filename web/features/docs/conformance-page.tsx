import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  FEATURE_IDS,
  FEATURES,
  type FeatureId,
} from '../../../src/contract/conformance-features.ts'
import { operationQuery } from '../../api/operation-query.ts'
import { detailOf, type FeatureResult, resultsOf } from '../../format/conformance-losses.ts'
import { formatDialect } from '../../format/dialects.ts'
import { Card, CardHeader } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { CONTROL_CLASS } from '../../ui/field.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import {
  type ConformanceEntry,
  type MatrixRow,
  toMatrix,
  WORST_FIRST,
} from './conformance-matrix.ts'
import { ConformanceTable, VERDICT_LOOKS, VerdictBadge } from './conformance-table.tsx'

const GROUPS = [...new Set(FEATURE_IDS.map((id) => FEATURES[id].group))]

export function ConformancePage() {
  const conformance = useQuery(operationQuery('GET /v1/conformance'))
  const providers = useQuery(operationQuery('GET /v1/providers'))
  const [text, setText] = useState('')
  const [feature, setFeature] = useState<FeatureId>()
  const [opened, setOpened] = useState<{
    readonly row: MatrixRow
    readonly entry: ConformanceEntry
  }>()
  const nameOf = (id: string) =>
    providers.data?.data.find((provider) => provider.id === id)?.name ?? id
  const isShown = ({ provider, model }: MatrixRow) =>
    `${provider} ${nameOf(provider)} ${model ?? ''}`
      .toLowerCase()
      .includes(text.trim().toLowerCase())
  return (
    <>
      <Card>
        <CardHeader
          title="Conformance"
          note="How much of a request and its answer survives between an endpoint and a target, measured on the gateway’s own code."
        />
        <dl className="grid gap-x-8 gap-y-2 border-b border-line px-5 py-4 text-[13px] sm:grid-cols-2">
          {WORST_FIRST.toReversed().map((verdict) => (
            <div key={verdict} className="grid grid-cols-[5.5rem_1fr] items-center gap-2">
              <dt>
                <VerdictBadge verdict={verdict} />
              </dt>
              <dd className="text-ink-soft">{VERDICT_LOOKS[verdict].means}</dd>
            </div>
          ))}
        </dl>
        <div className="flex flex-wrap items-end gap-3 border-b border-line px-5 py-4">
          <SearchField label="Search providers and models" value={text} onChange={setText} />
          <select
            aria-label="Feature"
            className={classNames(CONTROL_CLASS, 'h-9 pr-8 sm:!w-72')}
            value={feature ?? ''}
            onChange={({ target: { value } }) => setFeature(FEATURE_IDS.find((id) => id === value))}
          >
            <option value="">All features, counted</option>
            {GROUPS.map((group) => (
              <optgroup key={group} label={group}>
                {FEATURE_IDS.filter((id) => FEATURES[id].group === group).map((id) => (
                  <option key={id} value={id}>
                    {FEATURES[id].label}
                  </option>
                ))}
              </optgroup>
            ))}
          </select>
        </div>
        <QueryBoundary query={conformance}>
          {({ data }) => {
            const matrix = toMatrix(data)
            const rows = matrix.rows.filter(isShown)
            if (rows.length === 0)
              return (
                <p role="status" className="px-5 py-8 text-center text-sm text-ink-faint">
                  No provider or model matches “{text}”.
                </p>
              )
            return (
              <ConformanceTable
                endpoints={matrix.endpoints}
                rows={rows}
                feature={feature}
                nameOf={nameOf}
                onOpen={(row, entry) => setOpened({ row, entry })}
              />
            )
          }}
        </QueryBoundary>
      </Card>
      {opened !== undefined && (
        <ConformanceDialog
          entry={opened.entry}
          target={[nameOf(opened.row.provider), opened.row.model].filter(Boolean).join(', ')}
          onClose={() => setOpened(undefined)}
        />
      )}
    </>
  )
}

function ConformanceDialog({
  entry,
  target,
  onClose,
}: {
  readonly entry: ConformanceEntry
  readonly target: string
  readonly onClose: () => void
}) {
  const groups = Map.groupBy(resultsOf(entry), ({ group }) => group)
  return (
    <Dialog
      isOpen
      onClose={onClose}
      width="wide"
      title={`${entry.endpoint} to ${target}`}
      note={
        entry.dialect === null
          ? undefined
          : `The gateway uses ${formatDialect(entry.dialect)} with this target.`
      }
    >
      <div className="flex flex-col gap-6">
        {[...groups].map(([group, results]) => (
          <Group key={group} title={group} results={results} />
        ))}
      </div>
    </Dialog>
  )
}

function Group({
  title,
  results,
}: {
  readonly title: string
  readonly results: readonly FeatureResult[]
}) {
  return (
    <section>
      <h3 className="mb-1 text-xs font-medium tracking-wide text-ink-faint uppercase">{title}</h3>
      <ul className="divide-y divide-line">
        {results.map(({ id, label, result }) => (
          <li key={id} className="flex items-start justify-between gap-4 py-1.5 text-sm">
            <span className="text-ink">
              {label}
              {detailOf(result) !== undefined && (
                <span className="block text-[13px] break-words text-ink-soft">
                  {result.verdict === 'lossy' ? (
                    <code className="font-mono text-xs">{detailOf(result)}</code>
                  ) : (
                    detailOf(result)
                  )}
                </span>
              )}
            </span>
            <VerdictBadge verdict={result.verdict} />
          </li>
        ))}
      </ul>
    </section>
  )
}
