import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ChangedMeanwhile, changeSame } from '../../api/change-same.ts'
import { operationQuery } from '../../api/operation-query.ts'
import { formatDuration } from '../../format/figures.ts'
import { describeFuse } from '../../format/fuse-draft.ts'
import { Button } from '../../ui/button.tsx'
import {
  ChangedMeanwhileNote,
  OwnEditsNote,
  useOwnEdits,
} from '../../ui/changed-meanwhile-note.tsx'
import { Form } from '../../ui/form.tsx'
import { LeaveGuard } from '../../ui/leave-guard.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { useChange } from '../../ui/use-change.ts'
import { type Gate, type GateDraft, type GateSettings, toChanges, toDraft } from './gate-draft.ts'
import { GateFields } from './gate-form.tsx'
import { useGateForm } from './use-gate-form.ts'

export function GateEditor({
  gate,
  onDirty,
}: {
  readonly gate: Gate
  readonly onDirty: (isDirty: boolean) => void
}) {
  const queryClient = useQueryClient()
  const [base, setBase] = useState(gate)
  const [saved, setSaved] = useState<readonly string[]>()
  const form = useGateForm(toDraft(base))
  const changes = toChanges(base, form.draft)
  const isDirty = Object.keys(changes).length > 0
  const { typedTarget } = form.draft
  const isTyping = typedTarget.trim() !== ''

  const own = useOwnEdits<GateDraft>((mine) => form.reset({ ...form.draft, ...mine }))
  const begin = (fresh: Gate) => {
    setBase(fresh)
    form.reset(toDraft(fresh))
  }
  const store = (now: Gate) => {
    const { queryKey } = operationQuery('GET /v1/gates/{id}', { path: { id: gate.id } })
    queryClient.setQueryData(queryKey, now)
  }

  const save = useChange({
    send: async ({ body, isOverwriting = false }: Saving) => {
      const question = { path: { id: gate.id }, body }
      const isSame = (now: Gate) => now.updatedAt === base.updatedAt
      return await changeSame(
        'PATCH /v1/gates/{id}',
        [question],
        isOverwriting ? undefined : isSame,
      )
    },
    onAnswer: (after) => {
      own.forget()
      setSaved(describeChanges(base, after))
      begin(after)
      store(after)
    },
    makesStale: ['GET /v1/gates', 'GET /v1/targets/health'],
    failureMakesStale: ['GET /v1/gates/{id}'],
    onFailure: (error) => {
      if (!(error instanceof ChangedMeanwhile)) form.refuse(error)
    },
  })
  useEffect(() => {
    onDirty(isDirty)
  }, [onDirty, isDirty])
  useEffect(() => {
    if (isDirty) setSaved(undefined)
  }, [isDirty])
  const wasChangedElsewhere = gate.updatedAt > base.updatedAt
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a change of the gate itself refills the fields
  useEffect(() => {
    if (!wasChangedElsewhere || isDirty) return
    begin(gate)
    if (isTyping) form.set('typedTarget', typedTarget)
  }, [wasChangedElsewhere])

  const submit = () => {
    if (!isDirty) return true
    if (!form.check()) return false
    save.mutate({ body: changes })
    return true
  }
  const seeNewest = (newest: Gate) => {
    own.keep(toDraft(base), form.draft)
    begin(newest)
    store(newest)
    save.reset()
  }
  const discard = () => {
    // Fills the fields with the gate as other people have changed it.
    begin(gate)
    save.reset()
  }
  const told = save.error instanceof ChangedMeanwhile ? null : save.error
  return (
    <Form onSubmit={submit} error={told} className="flex flex-col gap-6">
      <GateFields form={form} isNew={false} />
      <ProblemNote error={form.refusal} />
      <OwnEditsNote onBringBack={own.bringBack} />
      {(isDirty || saved !== undefined) && (
        <div className="sticky bottom-4 z-20 flex flex-wrap items-center justify-between gap-3 rounded-xl border border-line bg-surface px-4 py-3 shadow-high">
          {isDirty && (
            <div className="w-full empty:hidden">
              <ChangedMeanwhileNote
                thing="gate"
                error={save.error}
                isBusy={save.isPending}
                onSeeNewest={(newest) => seeNewest(newest as Gate)}
                onOverwrite={() =>
                  form.check() && save.mutate({ body: changes, isOverwriting: true })
                }
              />
            </div>
          )}
          <div role="status" className="min-w-48 flex-1 text-[13px] text-ink-soft">
            {saved === undefined ? (
              `Not saved yet: ${nameChanges(changes)}.`
            ) : (
              <SavedNote saved={saved} />
            )}
            {isDirty &&
              wasChangedElsewhere &&
              !(save.error instanceof ChangedMeanwhile) &&
              ' The gate was changed elsewhere in the meantime.'}
          </div>
          {isDirty && (
            <div className="flex gap-2">
              <Button disabled={save.isPending} onClick={discard}>
                Discard
              </Button>
              <Button look="primary" type="submit" isBusy={save.isPending}>
                Save
              </Button>
            </div>
          )}
        </div>
      )}
      <LeaveGuard isDirty={isDirty || isTyping || own.bringBack !== undefined} />
    </Form>
  )
}

interface Saving {
  readonly body: Partial<GateSettings>
  readonly isOverwriting?: boolean
}

function SavedNote({ saved }: { readonly saved: readonly string[] }) {
  return (
    <>
      <span className="font-medium text-ok">Saved; the next call uses it.</span>
      {saved.length > 0 && <span className="break-words"> {saved.join('; ')}.</span>}
    </>
  )
}

const LABELS: Readonly<Record<keyof GateSettings, string>> = {
  displayName: 'name',
  description: 'description',
  targets: 'targets',
  strategy: 'strategy',
  hedgeAfterMs: 'hedging',
  defaults: 'defaults',
  overrides: 'overrides',
  aliases: 'aliases',
  isCatchAll: 'catch-all',
  facts: 'facts',
  codexInstructions: 'Codex prompt',
  usageHeaders: 'usage headers',
  budgetHeaders: 'budget headers',
  fuse: 'fuse',
  adapt: 'adapt',
  ignoreStore: 'store',
  timeoutMs: 'time limit',
  maxRetries: 'retries',
}

function nameChanges(changes: Partial<GateSettings>): string {
  return Object.keys(changes)
    .map((field) => LABELS[field as keyof GateSettings])
    .join(', ')
}

function describeChanges(before: Gate, after: Gate): readonly string[] {
  const told: string[] = []
  const note = (field: keyof GateSettings, from: string, to: string) => {
    if (from !== to) told.push(`${LABELS[field]}: ${from} → ${to}`)
  }
  note('displayName', before.displayName, after.displayName)
  if (before.description !== after.description) told.push('description')
  const [from, to] = [before, after].map(({ targets }) => targets.map(toTargetText).join(', '))
  if (from !== to) told.push(`targets: ${to}`)
  note('strategy', before.strategy, after.strategy)
  note('hedgeAfterMs', toTime(before.hedgeAfterMs, 'off'), toTime(after.hedgeAfterMs, 'off'))
  if (JSON.stringify(before.defaults) !== JSON.stringify(after.defaults)) told.push('defaults')
  note('overrides', before.overrides, after.overrides)
  note('aliases', toNames(before), toNames(after))
  if (JSON.stringify(before.facts) !== JSON.stringify(after.facts)) told.push('facts')
  if (before.codexInstructions !== after.codexInstructions) told.push('Codex prompt')
  note('usageHeaders', before.usageHeaders ? 'yes' : 'no', after.usageHeaders ? 'yes' : 'no')
  note('budgetHeaders', before.budgetHeaders ? 'yes' : 'no', after.budgetHeaders ? 'yes' : 'no')
  note('fuse', describeFuse(before.fuse), describeFuse(after.fuse))
  note('adapt', before.adapt, after.adapt)
  note('ignoreStore', before.ignoreStore ? 'off' : 'passed', after.ignoreStore ? 'off' : 'passed')
  note('isCatchAll', before.isCatchAll ? 'yes' : 'no', after.isCatchAll ? 'yes' : 'no')
  note(
    'timeoutMs',
    toTime(before.timeoutMs, "the gateway's"),
    toTime(after.timeoutMs, "the gateway's"),
  )
  note('maxRetries', String(before.maxRetries), String(after.maxRetries))
  return told
}

function toTargetText({ model, weight, when }: Gate['targets'][number]): string {
  const condition = when === undefined ? '' : ` from ${Math.round(when.from * 100)} %`
  return `${weight === undefined ? model : `${model} (${weight})`}${condition}`
}

function toNames({ aliases }: Gate): string {
  return aliases.map(({ name }) => name).join(', ') || 'none'
}

function toTime(milliseconds: number | null, none: string): string {
  return milliseconds === null ? none : formatDuration(milliseconds)
}
