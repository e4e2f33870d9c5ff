import {
  type Announcements,
  closestCenter,
  DndContext,
  type DragEndEvent,
  KeyboardSensor,
  PointerSensor,
  useSensor,
  useSensors,
} from '@dnd-kit/core'
import {
  arrayMove,
  SortableContext,
  sortableKeyboardCoordinates,
  useSortable,
  verticalListSortingStrategy,
} from '@dnd-kit/sortable'
import { useQuery } from '@tanstack/react-query'
import { ArrowDown, ArrowUp, GripVertical, X } from 'lucide-react'
import { useId, useMemo } from 'react'
import { operationQuery } from '../../api/operation-query.ts'
import { type EndpointLosses, findLosses, type Loss } from '../../format/conformance-losses.ts'
import { formatShare } from '../../format/figures.ts'
import { IconButton } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { CONTROL_CLASS } from '../../ui/field.tsx'
import { HealthBadge, type TargetHealth } from '../../ui/health-badge.tsx'
import { Moment } from '../../ui/moment.tsx'
import type { useTargetHealth } from '../../ui/use-target-health.ts'
import { type Strategy, type TargetDraft, toShares } from './gate-draft.ts'
import type { ModelOption } from './model-search.ts'
import { toPriceText, UnknownModelBadge } from './target-picker.tsx'
import type { TargetCatalog } from './use-catalog.ts'

export interface TargetListProps {
  readonly targets: readonly TargetDraft[]
  readonly strategy: Strategy
  readonly catalog: TargetCatalog
  readonly healthOf: ReturnType<typeof useTargetHealth>
  readonly problem: (field: string) => string | undefined
  readonly onChange: (targets: readonly TargetDraft[]) => void
}

export function TargetList({
  targets,
  strategy,
  catalog,
  healthOf,
  problem,
  onChange,
}: TargetListProps) {
  const sensors = useSensors(
    // A press without movement is a click.
    useSensor(PointerSensor, { activationConstraint: { distance: 4 } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  )
  const keys = targets.map(({ key }) => key)
  const announcements = useMemo(() => toAnnouncements(targets), [targets])
  const move = (from: number, to: number) => onChange(arrayMove([...targets], from, to))
  const endDrag = ({ active, over }: DragEndEvent) => {
    if (over !== null && over.id !== active.id)
      move(keys.indexOf(String(active.id)), keys.indexOf(String(over.id)))
  }
  const shares = strategy === 'weighted' ? toShares(targets) : undefined
  return (
    <DndContext
      sensors={sensors}
      collisionDetection={closestCenter}
      onDragEnd={endDrag}
      accessibility={{
        announcements,
        screenReaderInstructions: {
          draggable:
            'Press the space bar to lift the target, the arrow keys to move the target, and the space bar again to put the target down.',
        },
      }}
    >
      <SortableContext items={keys} strategy={verticalListSortingStrategy}>
        <ol aria-label="Targets" className="flex flex-col gap-2">
          {targets.map((target, index) => (
            <TargetRow
              key={target.key}
              target={target}
              index={index}
              count={targets.length}
              share={shares?.[index]}
              option={catalog.optionOf(target.model)}
              isUnknownModel={catalog.isUnknownModel(target.model)}
              health={healthOf?.(target.model)}
              problem={problem(`targets[${index}].model`) ?? problem(`targets[${index}].weight`)}
              onChange={(changed) =>
                onChange(
                  targets.map((one) => (one.key === target.key ? { ...one, ...changed } : one)),
                )
              }
              onMove={(step) => move(index, index + step)}
              onRemove={() => onChange(targets.filter(({ key }) => key !== target.key))}
            />
          ))}
        </ol>
      </SortableContext>
    </DndContext>
  )
}

function toAnnouncements(targets: readonly TargetDraft[]): Announcements {
  const placeOf = (id: string | number) => targets.findIndex(({ key }) => key === id) + 1
  const nameOf = (id: string | number) => targets.find(({ key }) => key === id)?.model ?? ''
  const of = `of ${targets.length}`
  const lifted = (id: string | number) => `Lifted ${nameOf(id)}, at place ${placeOf(id)} ${of}.`
  return {
    onDragStart: ({ active }) => lifted(active.id),
    // Also called for the start position, which must not replace the announcement of the lift.
    onDragOver({ active, over }) {
      if (over === null) return undefined
      return over.id === active.id
        ? lifted(active.id)
        : `The target is now at place ${placeOf(over.id)} ${of}.`
    },
    onDragEnd: ({ active, over }) =>
      over === null
        ? undefined
        : `Put ${nameOf(active.id)} down at place ${placeOf(over.id)} ${of}.`,
    onDragCancel: ({ active }) => `${nameOf(active.id)} stays where it was.`,
  }
}

interface TargetRowProps {
  readonly target: TargetDraft
  readonly index: number
  readonly count: number
  /** The target's share of the calls under `weighted`, 0 to 1. */
  readonly share: number | undefined
  readonly option: ModelOption | undefined
  /** Whether the catalog lists only other models of the provider. */
  readonly isUnknownModel: boolean
  readonly health: TargetHealth | undefined
  readonly problem: string | undefined
  readonly onChange: (changed: Partial<TargetDraft>) => void
  readonly onMove: (step: -1 | 1) => void
  readonly onRemove: () => void
}

function TargetRow(props: TargetRowProps) {
  const { target, index, count, share, option, health, problem, onChange, onMove, onRemove } = props
  const place = index + 1
  const noteId = useId()
  const sortable = useSortable({ id: target.key })
  const price = option === undefined ? '' : toPriceText(option)
  const described =
    problem === undefined ? {} : { 'aria-invalid': true, 'aria-describedby': noteId }
  return (
    <li
      ref={sortable.setNodeRef}
      style={{
        transform:
          sortable.transform === null
            ? undefined
            : `translate3d(0, ${Math.round(sortable.transform.y)}px, 0)`,
        transition: sortable.transition,
      }}
      className={classNames(
        'rounded-lg border bg-surface px-2 py-2',
        sortable.isDragging ? 'relative z-10 border-accent shadow-high' : 'border-line-strong',
      )}
    >
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1.5">
        <button
          type="button"
          ref={sortable.setActivatorNodeRef}
          {...sortable.attributes}
          {...sortable.listeners}
          aria-label={`Move target ${place}`}
          className="flex h-8 shrink-0 cursor-grab touch-none items-center gap-1 rounded-md px-1 text-ink-faint hover:bg-sunken hover:text-ink active:cursor-grabbing"
        >
          <GripVertical aria-hidden className="size-4" />
          <span className="w-4 text-center text-xs tabular-nums">{place}</span>
        </button>
        <input
          {...described}
          aria-label={`Model of target ${place}`}
          spellCheck={false}
          autoComplete="off"
          value={target.model}
          onChange={(event) => onChange({ model: event.target.value })}
          className={`${CONTROL_CLASS} h-8 min-w-40 flex-1 basis-[calc(100%-4rem)] font-mono sm:basis-0 !text-[13px] shadow-none`}
        />
        {share !== undefined && (
          <label className="order-4 flex shrink-0 basis-full items-center gap-1.5 pl-10 text-xs text-ink-faint sm:order-none sm:basis-auto sm:pl-0">
            Weight
            <input
              {...described}
              aria-label={`Weight of target ${place}`}
              inputMode="numeric"
              placeholder="1"
              value={target.weight}
              onChange={(event) => onChange({ weight: event.target.value })}
              className={`${CONTROL_CLASS} h-8 !w-16 !px-2 text-right tabular-nums shadow-none`}
            />
            <output className="w-12 text-right tabular-nums">{formatShare(share)}</output>
          </label>
        )}
        <span className="order-3 ml-auto flex shrink-0 items-center sm:order-none">
          <IconButton
            size="small"
            label={`Move target ${place} up`}
            isIdle={index === 0}
            onClick={() => onMove(-1)}
          >
            <ArrowUp aria-hidden className="size-4" />
          </IconButton>
          <IconButton
            size="small"
            label={`Move target ${place} down`}
            isIdle={index === count - 1}
            onClick={() => onMove(1)}
          >
            <ArrowDown aria-hidden className="size-4" />
          </IconButton>
          <IconButton size="small" label={`Remove target ${place}`} onClick={onRemove}>
            <X aria-hidden className="size-4" />
          </IconButton>
        </span>
        <div className="order-2 flex min-w-0 flex-1 flex-wrap pl-10 items-center gap-x-3 gap-y-1 text-xs text-ink-faint sm:order-last sm:basis-full sm:pl-10">
          <HealthBadge health={health} />
          {health?.state === 'unknown' && health.seenSince !== undefined && (
            <span aria-hidden>
              this node started <Moment at={health.seenSince} />
            </span>
          )}
          {props.isUnknownModel && <UnknownModelBadge />}
          {price !== '' && (
            <span className="tabular-nums">
              {price}
              {price === 'free' ? '' : ' / 1M'}
            </span>
          )}
          <TargetLosses target={target.model} />
        </div>
      </div>
      {problem !== undefined && (
        <p id={noteId} role="alert" className="pt-1.5 pl-10 text-[13px] text-danger">
          {problem}
        </p>
      )}
    </li>
  )
}

// Counts what each caller's format loses on the way to a target, with names on opening. Shows
// nothing when unknown.

function TargetLosses({ target }: { readonly target: string }) {
  const table = useQuery({
    ...operationQuery('GET /v1/conformance'),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const endpoints = findLosses(table.data?.data ?? [], target)
  if (endpoints.length === 0) return null
  const losing = endpoints.filter(({ losses }) => losses === undefined || losses.length > 0)
  if (losing.length === 0) return <span>no format loses anything here</span>
  return (
    <details className="min-w-0 open:basis-full">
      <summary className="cursor-pointer rounded-sm hover:text-ink">
        lossy from {losing.map(summarise).join(', ')}
      </summary>
      <dl className="mt-2 flex flex-col gap-2 text-ink-soft">
        {endpoints.map(({ endpoint, losses }) => (
          <div key={endpoint}>
            <dt>
              <code className="font-mono text-ink">{endpoint}</code>
            </dt>
            <dd className="pl-3">
              {losses === undefined ? 'does not reach it' : <Losses losses={losses} />}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

function summarise({ endpoint, losses }: EndpointLosses): string {
  return `${endpoint} (${losses === undefined ? 'all' : losses.length})`
}

function Losses({ losses }: { readonly losses: readonly Loss[] }) {
  if (losses.length === 0) return 'nothing is lost'
  return (
    <ul>
      {losses.map(({ id, label, detail, isOfSomeModels }) => (
        <li key={id} className="break-words">
          {label}
          {isOfSomeModels && ', with some of its models'}:{' '}
          <code className="font-mono">{detail}</code>
        </li>
      ))}
    </ul>
  )
}
