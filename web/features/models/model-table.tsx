import { formatCount } from '../../format/figures.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { HealthBadge, type TargetHealth } from '../../ui/health-badge.tsx'
import { PageLink } from '../../ui/links.tsx'
import { ColumnTable } from '../../ui/table.tsx'
import type { useTargetHealth } from '../../ui/use-target-health.ts'
import { MOST_COMPARED } from './model-choices.ts'
import {
  ContextText,
  CredentialBadge,
  describeEfforts,
  describeModalities,
  NEW_GATE,
  PriceText,
} from './model-facts.tsx'
import type { ModelRow } from './model-rows.ts'

const PLAYGROUND: string = '/playground'

export function ModelTable({
  rows,
  compared,
  onCompare,
  callsOf,
  healthOf,
  onSetPrice,
}: {
  readonly rows: readonly ModelRow[]
  readonly compared: readonly string[]
  readonly onCompare: (target: string, isCompared: boolean) => void
  readonly callsOf: (row: ModelRow) => number | undefined
  /** Undefined: not known yet. */
  readonly healthOf: ReturnType<typeof useTargetHealth>
  /** Undefined: the reader may not set prices. */
  readonly onSetPrice: ((target: string) => void) | undefined
}) {
  return (
    <ColumnTable
      label="Models"
      rows={rows}
      keyOf={({ target, type }) => `${type} ${target}`}
      columns={[
        {
          title: 'Model',
          className: 'min-w-48 max-w-96',
          cell: (row) => (
            <ModelName
              row={row}
              isCompared={compared.includes(row.target)}
              isFull={compared.length >= MOST_COMPARED}
              onCompare={onCompare}
            />
          ),
        },
        {
          title: 'In / out, per 1M',
          isNumber: true,
          isLabelled: true,
          className: 'max-sm:text-left',
          cell: (row) => <PriceText row={row} />,
        },
        {
          title: 'Context',
          isNumber: true,
          isLabelled: true,
          className: 'text-ink-faint max-sm:text-left',
          cell: (row) => <ContextText row={row} />,
        },
        {
          title: 'Modalities and efforts',
          className: 'min-w-36 text-[13px] text-ink-soft',
          cell: (row) => <Abilities row={row} />,
        },
        {
          title: 'Key and health',
          isLabelled: true,
          cell: (row) => <KeyAndHealth row={row} health={healthOf?.(row.target)} />,
        },
        {
          title: 'Calls, 30 d',
          isNumber: true,
          isLabelled: true,
          className: 'max-sm:text-left',
          cell: (row) => <Calls row={row} calls={callsOf(row)} />,
        },
        {
          title: 'Actions',
          isHidden: true,
          cell: (row) => <Actions row={row} onSetPrice={onSetPrice} />,
        },
      ]}
    />
  )
}

function ModelName({
  row: { target, name, isAlias, retiresOn, type },
  isCompared,
  isFull,
  onCompare,
}: {
  readonly row: ModelRow
  readonly isCompared: boolean
  readonly isFull: boolean
  readonly onCompare: (target: string, isCompared: boolean) => void
}) {
  return (
    <div className="flex items-start gap-3">
      <input
        type="checkbox"
        className="mt-0.5 size-4 shrink-0 accent-accent"
        aria-label={`Compare ${target}`}
        title={isFull && !isCompared ? `At most ${MOST_COMPARED} can be compared.` : 'Compare'}
        checked={isCompared}
        disabled={isFull && !isCompared}
        onChange={(event) => onCompare(target, event.target.checked)}
      />
      <div className="min-w-0">
        {type === 'provider' ? (
          <code className="font-mono text-[13px] font-medium wrap-anywhere text-ink">{target}</code>
        ) : (
          <PageLink
            to={type === 'gate' ? `/gates/${target}` : target.replace('owned/', '/owned-models/')}
            className="font-mono text-[13px] wrap-anywhere"
          >
            {target}
          </PageLink>
        )}{' '}
        {type === 'gate' && <Badge tone="accent">gate</Badge>}
        {name !== null && (
          <p className="text-[13px] wrap-anywhere text-ink-faint">
            <bdi>{name}</bdi>
          </p>
        )}
        {retiresOn !== null && (
          <span
            className="mt-1 block"
            title="From this day the provider no longer serves the model. Choose another target."
          >
            <Badge tone="warn">
              {new Date(retiresOn).getTime() <= Date.now() ? 'retired since' : 'retires'}{' '}
              {retiresOn}
            </Badge>
          </span>
        )}
        {isAlias && (
          <span
            className="mt-1 block"
            title="The provider may answer with different models under this name."
          >
            <Badge>alias</Badge>
          </span>
        )}
      </div>
    </div>
  )
}

function Abilities({ row }: { readonly row: ModelRow }) {
  const modalities = describeModalities(row)
  const efforts = describeEfforts(row)
  if (modalities === undefined && efforts === undefined)
    return <span className="text-ink-faint max-sm:hidden">–</span>
  return (
    <>
      {modalities !== undefined && <p>{modalities}</p>}
      {efforts !== undefined && efforts !== 'none' && (
        <p className="text-ink-faint">efforts: {efforts}</p>
      )}
    </>
  )
}

function Calls({
  row: { target, type },
  calls,
}: {
  readonly row: ModelRow
  readonly calls: number | undefined
}) {
  if (calls === undefined || calls === 0)
    return <span className="text-ink-faint">{formatCount(calls)}</span>
  return (
    <PageLink
      to="/logs"
      search={{ [type === 'gate' ? 'gate' : 'target']: target }}
      label={`${formatCount(calls)} calls, to the logs of ${target}`}
    >
      {formatCount(calls)}
    </PageLink>
  )
}

/** A target that was not called since the node's start has no health worth a badge. */
function KeyAndHealth({
  row,
  health,
}: {
  readonly row: ModelRow
  readonly health: TargetHealth | undefined
}) {
  const isSeen = health?.configured && health.state !== 'unknown'
  return (
    <span className="flex flex-col items-start gap-1">
      <CredentialBadge row={row} />
      {isSeen && <HealthBadge health={health} />}
    </span>
  )
}

function Actions({
  row: { target, type, gateId, isReachable, inputUsd },
  onSetPrice,
}: {
  readonly row: ModelRow
  readonly onSetPrice: ((target: string) => void) | undefined
}) {
  return (
    <div className="flex flex-wrap justify-end gap-2 max-sm:justify-start">
      {onSetPrice !== undefined && type === 'provider' && inputUsd === null && (
        <Button
          size="small"
          aria-label={`Set a price of ${target}`}
          onClick={() => onSetPrice(target)}
        >
          Set a price
        </Button>
      )}
      {type !== 'gate' && (
        <LinkButton
          size="small"
          to={NEW_GATE}
          search={{ model: target }}
          aria-label={`Create a gate with ${target}`}
        >
          Create a gate
        </LinkButton>
      )}
      {gateId !== undefined && isReachable && (
        <LinkButton
          size="small"
          to={PLAYGROUND}
          search={{ gate: gateId }}
          aria-label={`Try in playground: ${target}`}
        >
          Try
        </LinkButton>
      )}
    </div>
  )
}
