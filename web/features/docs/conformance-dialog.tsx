/** One pair of endpoint and target: what becomes of each feature, and which fields are lost. */

import { detailOf, type FeatureResult, resultsOf } from '../../format/conformance-losses.ts'
import { formatDialect } from '../../format/dialects.ts'
import { Dialog } from '../../ui/dialog.tsx'
import type { ConformanceEntry } from './conformance-matrix.ts'
import { VerdictBadge } from './verdict-badge.tsx'

export function ConformanceDialog({
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
          : `The target is spoken to in ${formatDialect(entry.dialect)}.`
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
