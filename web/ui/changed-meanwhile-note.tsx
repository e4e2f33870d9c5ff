/**
 * Says that someone else changed the edited resource, and lets the reader choose. Neither choice
 * loses typed text.
 */
import { useState } from 'react'
import { ChangedMeanwhile } from '../api/change-same.ts'
import { Button } from './button.tsx'
import { FormRefusal } from './form.tsx'
import { Moment } from './moment.tsx'
import type { useChange } from './use-change.ts'
import { bindTo } from './use-fields.ts'

export function ChangedMeanwhileNote({
  thing,
  error,
  isBusy,
  onSeeNewest,
  onOverwrite,
}: {
  readonly thing: string
  readonly error: unknown
  readonly isBusy: boolean
  readonly onSeeNewest: (newest: unknown) => void
  readonly onOverwrite: () => void
}) {
  if (!(error instanceof ChangedMeanwhile)) return null
  const { last, newest } = error
  return (
    <div role="alert" className="rounded-lg bg-warn-soft px-3 py-2.5 text-[13px] text-warn">
      <p>
        <strong className="font-semibold">
          Another user or program changed this {thing} while you were editing.
        </strong>{' '}
        Nothing of yours is saved yet.
        {last !== undefined && (
          <span className="wrap-anywhere">
            {' '}
            The last change: {last.by}, <Moment at={last.at} />.
          </span>
        )}
      </p>
      <div className="mt-2 flex flex-wrap gap-2">
        <Button size="small" onClick={() => onSeeNewest(newest)} disabled={isBusy}>
          See the newest
        </Button>
        <Button size="small" onClick={onOverwrite} isBusy={isBusy}>
          Save mine over it
        </Button>
      </div>
    </div>
  )
}

export function OwnEditsNote({ onBringBack }: { readonly onBringBack: (() => void) | undefined }) {
  if (onBringBack === undefined) return null
  return (
    <div
      role="status"
      className="flex flex-wrap items-center justify-between gap-2 rounded-lg bg-sunken px-3 py-2 text-[13px] text-ink-soft"
    >
      The fields below show the newest version. Your input is kept.
      <Button size="small" onClick={onBringBack}>
        Bring mine back
      </Button>
    </div>
  )
}

export function EditNotes<Thing>({
  thing,
  edited: { show, bringBack },
  save,
  onSeen,
}: {
  readonly thing: string
  readonly edited: Pick<ReturnType<typeof useEdited<Thing, object>>, 'show' | 'bringBack'>
  readonly save: Pick<
    ReturnType<typeof useChange<unknown, boolean>>,
    'error' | 'isPending' | 'reset' | 'mutate'
  >
  readonly onSeen?: (newest: Thing) => void
}) {
  return (
    <>
      <ChangedMeanwhileNote
        thing={thing}
        error={save.error}
        isBusy={save.isPending}
        onSeeNewest={(newest) => {
          show(newest as Thing)
          onSeen?.(newest as Thing)
          save.reset()
        }}
        onOverwrite={() => save.mutate(true)}
      />
      <OwnEditsNote onBringBack={bringBack} />
      <FormRefusal />
    </>
  )
}

function ownEdits<Fields extends object>(first: Fields, now: Fields): Partial<Fields> {
  const entries = Object.entries(now).filter(
    ([field, value]) => !isAlike(value, first[field as keyof Fields]),
  )
  return Object.fromEntries(entries) as Partial<Fields>
}

function isAlike(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}

/** The reader's edits, kept while the form shows the newest version. */
export function useOwnEdits<Fields extends object>(putBack: (mine: Partial<Fields>) => void) {
  const [mine, setMine] = useState<Partial<Fields>>()
  return {
    keep: (first: Fields, typed: Fields) => {
      const own = ownEdits(first, typed)
      setMine(Object.keys(own).length === 0 ? undefined : own)
    },
    forget: () => setMine(undefined),
    bringBack:
      mine &&
      (() => {
        putBack(mine)
        setMine(undefined)
      }),
  }
}

export function useEdited<Thing, Fields extends object>(
  thing: Thing,
  toFields: (thing: Thing) => Fields,
) {
  const [base, setBase] = useState(thing)
  const [fields, setFields] = useState(() => toFields(thing))
  const first = toFields(base)
  const change = (changed: Partial<Fields>) => setFields((before) => ({ ...before, ...changed }))
  const { keep, forget, bringBack } = useOwnEdits<Fields>(change)
  const begin = (fresh: Thing) => {
    setBase(fresh)
    setFields(toFields(fresh))
  }
  return {
    base,
    first,
    fields,
    change,
    bind: bindTo(fields, change),
    begin,
    show: (newest: Thing) => {
      keep(first, fields)
      begin(newest)
    },
    forget,
    bringBack,
  }
}
