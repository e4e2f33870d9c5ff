import { useState } from 'react'
import { ask, type OperationName, type RowOf } from '../../api/ask.ts'
import { nameZone } from '../../format/time-zone.ts'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { SelectField } from '../../ui/field.tsx'
import { Form, FormRefusal } from '../../ui/form.tsx'
import { DateTime } from '../../ui/moment.tsx'
import type { RowDialogProps } from '../../ui/resource-page.tsx'
import { useChange } from '../../ui/use-change.ts'
import { useTimeZone } from '../../ui/use-time-zone.ts'
import { type PreviousKey, previousOf } from './expiry.ts'
import type { ApiKey } from './key-table.tsx'
import { type Created, NewSecretShown, shownOnce } from './new-secret-shown.tsx'
import { RecentUseNote } from './recent-use-note.tsx'

const HOUR_S = 3_600
const DAY_S = 24 * HOUR_S
const OLD_KEY_ENDS = [
  { seconds: 0, label: 'Now' },
  { seconds: HOUR_S, label: 'In 1 hour' },
  { seconds: DAY_S, label: 'In 24 hours' },
  { seconds: 7 * DAY_S, label: 'In 7 days' },
] as const

export function RotateKeyDialog(props: RowDialogProps<ApiKey>) {
  return (
    <RotateDialog
      {...props}
      thing="key"
      send={(question) => ask('POST /v1/keys/{id}/rotate', question)}
      makesStale={['GET /v1/keys']}
    />
  )
}

export function RotateTokenDialog(props: RowDialogProps<RowOf<'GET /v1/access-tokens'>>) {
  return (
    <RotateDialog
      {...props}
      thing="token"
      send={(question) => ask('POST /v1/access-tokens/{id}/rotate', question)}
      makesStale={['GET /v1/access-tokens']}
    />
  )
}

function RotateDialog({
  row: apiKey,
  onClose,
  thing,
  send,
  makesStale,
}: RowDialogProps<ApiKey> & {
  readonly thing: 'key' | 'token'
  readonly send: (question: {
    readonly path: { readonly id: string }
    readonly body: { readonly oldEndsInSeconds: number }
  }) => Promise<Created>
  readonly makesStale: readonly OperationName[]
}) {
  const [rotated, setRotated] = useState<Created>()
  const [older] = useState(() => previousOf(apiKey, Date.now()))
  const [endsIn, setEndsIn] = useState<number>(older === undefined ? DAY_S : 0)
  const rotate = useChange({
    send: () => send({ path: { id: apiKey.id }, body: { oldEndsInSeconds: endsIn } }),
    // The answer holds the secret.
    isSecret: true,
    onAnswer: setRotated,
    makesStale,
  })
  if (rotated !== undefined)
    return (
      <Dialog
        isOpen
        onClose={onClose}
        title={`${thing === 'key' ? 'Key' : 'Token'} “${rotated.name}” rotated`}
        note={shownOnce(thing)}
        width="wide"
      >
        <NewSecretShown created={rotated}>
          <WhenOldOneEnds masked={apiKey.maskedPrefix} previous={previousOf(rotated, Date.now())} />
        </NewSecretShown>
      </Dialog>
    )
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={`Rotate “${apiKey.name}”?`}
      note={`The rotation creates a new ${thing}. Name, budgets, limits, expiry and logs stay.`}
    >
      <Form
        onSubmit={() => rotate.mutate()}
        error={rotate.error}
        className="flex flex-col gap-4 text-sm text-ink-soft"
      >
        {older !== undefined && (
          <p className="rounded-lg bg-warn-soft px-3 py-2 text-[13px] text-warn">
            The {thing} was rotated before: <OldKey masked={older.maskedPrefix} /> is accepted until{' '}
            <DateTime at={older.endsAt} />. Until then, a rotation has to end both at once.
          </p>
        )}
        <SelectField
          label={`The old ${thing} ends`}
          autoFocus
          value={endsIn}
          onChange={(event) => setEndsIn(Number(event.target.value))}
        >
          {OLD_KEY_ENDS.map(({ seconds, label }) => (
            <option key={seconds} value={seconds} disabled={older !== undefined && seconds > 0}>
              {label}
            </option>
          ))}
        </SelectField>
        <div role="status">
          {endsIn === 0 ? (
            <>
              <p>
                Calls with <OldKey masked={apiKey.maskedPrefix} /> are refused from now on, and
                those under way are cut within seconds. For a {thing} that others may know.
              </p>
              <RecentUseNote apiKey={apiKey} />
            </>
          ) : (
            <p>
              Both {thing}s are accepted until then: put the new one where{' '}
              <OldKey masked={apiKey.maskedPrefix} /> is used, and nothing is refused. Afterwards
              the old one is dead for good.
            </p>
          )}
        </div>
        <FormRefusal />
        <FormActions onCancel={onClose} isBusy={rotate.isPending} makesSecret>
          Rotate the {thing}
        </FormActions>
      </Form>
    </Dialog>
  )
}

function WhenOldOneEnds({
  masked,
  previous,
}: {
  readonly masked: string
  readonly previous: PreviousKey | undefined
}) {
  const zone = useTimeZone()
  return (
    <p className="mt-4 text-sm text-ink-soft">
      {previous === undefined ? (
        <>
          <OldKey masked={masked} /> has ended.
        </>
      ) : (
        <>
          <OldKey masked={masked} /> is accepted until{' '}
          <strong className="font-medium text-ink">
            <DateTime at={previous.endsAt} />
          </strong>{' '}
          ({nameZone(zone)}). Put the new one in its place before that.
        </>
      )}
    </p>
  )
}

function OldKey({ masked }: { readonly masked: string }) {
  return <code className="font-mono text-[13px]">{masked}</code>
}
