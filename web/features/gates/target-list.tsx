/**
 * A gate's targets in their order: dragged, moved by keyboard or with buttons, renamed, weighted,
 * removed.
 */
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
  verticalListSortingStrategy,
} from '@dnd-kit/sortable'
import { useMemo } from 'react'
import { type Strategy, type TargetDraft, toShares } from './gate-draft.ts'
import { TargetRow } from './target-row.tsx'
import type { TargetCatalog } from './use-catalog.ts'
import type { useTargetHealth } from './use-target-health.ts'

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
    // A press that does not move is a click.
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
            'Press the space bar to lift the target, the arrow keys to move it, space to put it down.',
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
    // Told at once of the place where it was lifted, too: that must not drown what was said of the
    // lifting.
    onDragOver({ active, over }) {
      if (over === null) return undefined
      return over.id === active.id ? lifted(active.id) : `Now at place ${placeOf(over.id)} ${of}.`
    },
    onDragEnd: ({ active, over }) =>
      over === null
        ? undefined
        : `Put ${nameOf(active.id)} down at place ${placeOf(over.id)} ${of}.`,
    onDragCancel: ({ active }) => `${nameOf(active.id)} stays where it was.`,
  }
}
