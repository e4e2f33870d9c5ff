/** Dialogs that stop a member or an access token, and lift the stop. */
import { type ReactNode, useState } from 'react'
import type { AnswerOf, OperationName } from '../api/ask.ts'
import { describeEndReport } from '../format/end-report.ts'
import { Badge } from './badge.tsx'
import { ConfirmChange, Dialog, FormActions } from './dialog.tsx'
import { TextField } from './field.tsx'
import { Form, FormRefusal } from './form.tsx'
import { useChange } from './use-change.ts'

export type Stop = AnswerOf<'GET /v1/members'>['data'][number]['stop']

const MAX_REASON = 300

interface StopProps {
  readonly name: string
  readonly makesStale: readonly OperationName[]
  readonly onClose: () => void
  readonly children: ReactNode
}

export function StopDialog({
  name,
  send,
  makesStale,
  onClose,
  children,
}: StopProps & {
  readonly send: (body: {
    readonly reason?: string
  }) => Promise<AnswerOf<'POST /v1/members/{id}/stop'>>
}) {
  const [reason, setReason] = useState('')
  const stop = useChange({
    send: () => send(reason.trim() === '' ? {} : { reason: reason.trim() }),
    makesStale,
    done: (report) => [`“${name}” stopped`, { description: describeEndReport(report) }],
    onDone: onClose,
  })
  return (
    <Dialog isOpen onClose={onClose} title={`Stop “${name}”?`}>
      <Form onSubmit={() => stop.mutate()} error={stop.error} className="flex flex-col gap-4">
        <div className="text-sm text-ink-soft">{children}</div>
        <TextField
          label="Reason"
          isOptional
          autoFocus
          autoComplete="off"
          maxLength={MAX_REASON}
          placeholder="The laptop was stolen."
          hint="Refused calls show the reason."
          field="reason"
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
        <FormRefusal />
        <FormActions onCancel={onClose} isBusy={stop.isPending}>
          Stop
        </FormActions>
      </Form>
    </Dialog>
  )
}

export function LiftStopDialog({
  name,
  stop,
  send,
  makesStale,
  onClose,
  children,
}: StopProps & { readonly stop: Stop; readonly send: () => Promise<unknown> }) {
  const lift = useChange({
    send,
    makesStale,
    done: `Stop of “${name}” lifted`,
    onDone: onClose,
  })
  return (
    <ConfirmChange
      onClose={onClose}
      title={`Lift the stop of “${name}”?`}
      confirmLabel="Lift the stop"
      change={lift}
    >
      {stop?.reason != null && (
        <p className="mb-2 wrap-anywhere">
          Reason of the stop: <bdi>{stop.reason}</bdi>
        </p>
      )}
      <p>{children}</p>
    </ConfirmChange>
  )
}

/**
 * @param stop undefined from an earlier version of the gateway
 * @param isOfMember the row is the member's own, so the badge does not name the member
 */
export function StopBadge({
  stop,
  isOfMember = false,
}: {
  readonly stop: Stop | undefined
  readonly isOfMember?: boolean
}) {
  if (stop === null || stop === undefined) return null
  return (
    <span title={stop.reason ?? undefined}>
      <Badge tone="danger">
        {stop.kind === 'member' && !isOfMember ? 'Member stopped' : 'Stopped'}
      </Badge>
    </span>
  )
}
