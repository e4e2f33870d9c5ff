import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { formatUsd, formatWhole, NOT_KNOWN } from '../../format/figures.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { Table, Th } from '../../ui/table.tsx'
import { MOST_COMPARED } from './model-choices.ts'
import {
  CredentialBadge,
  describeEfforts,
  describeModalities,
  describeSource,
} from './model-facts.tsx'
import type { ModelRow } from './model-rows.ts'
import { ModelRules } from './model-rules.tsx'

const FACTS: readonly (readonly [title: string, cell: (row: ModelRow) => ReactNode])[] = [
  ['Provider', (row) => row.providerName],
  ['Input, per 1M tokens', (row) => formatUsd(row.inputUsd)],
  ['Cached input, per 1M tokens', (row) => formatUsd(row.cachedInputUsd)],
  ['Output, per 1M tokens', (row) => formatUsd(row.outputUsd)],
  [
    'Source of the price',
    (row) => `${describeSource(row)}${row.isPriceEstimated ? ', estimated' : ''}`,
  ],
  ['Context in tokens', (row) => formatWhole(row.contextTokens)],
  ['Longest output in tokens', (row) => formatWhole(row.maxOutputTokens)],
  ['Input → output', (row) => describeModalities(row) ?? NOT_KNOWN],
  ['Reasoning efforts', (row) => describeEfforts(row) ?? NOT_KNOWN],
  ['Key', (row) => <CredentialBadge row={row} />],
  ['Rules for requests', (row) => <ModelRules row={row} />],
]

export function CompareModels({
  rows,
  onRemove,
  onClear,
}: {
  readonly rows: readonly ModelRow[]
  readonly onRemove: (target: string) => void
  readonly onClear: () => void
}) {
  if (rows.length === 0) return null
  return (
    <Card>
      <CardHeader
        title="Comparison"
        note={
          rows.length === 1
            ? `Choose up to ${MOST_COMPARED - 1} more models in the list below.`
            : 'Facts without a value are not known.'
        }
      >
        <Button size="small" onClick={onClear}>
          Clear
        </Button>
      </CardHeader>
      <Table
        label="Comparison of models"
        head={
          <>
            <Th isHidden>Fact</Th>
            {rows.map(({ target }) => (
              <th key={target} scope="col" className="min-w-44 px-3 pt-3 pb-1 align-top xl:px-5">
                <span className="flex items-start gap-1">
                  <code className="font-mono text-[13px] font-medium wrap-anywhere text-ink">
                    {target}
                  </code>
                  <IconButton
                    size="small"
                    className="-my-1"
                    label={`Remove ${target} from the comparison`}
                    onClick={() => onRemove(target)}
                  >
                    <X aria-hidden className="size-3.5" />
                  </IconButton>
                </span>
              </th>
            ))}
          </>
        }
      >
        {FACTS.map(([title, cell]) => (
          <tr key={title}>
            <th
              scope="row"
              className="min-w-32 py-2 pr-3 pl-5 text-left text-[13px] font-normal text-ink-faint"
            >
              {title}
            </th>
            {rows.map((row) => (
              <td key={row.target} className="!py-2 text-ink tabular-nums wrap-anywhere">
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </Table>
    </Card>
  )
}
