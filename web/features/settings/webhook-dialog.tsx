/**
 * Adds a webhook and shows its generated secret, this once; or changes one, whose secret is never
 * shown.
 */
import { ask } from '../../api/ask.ts'
import { changeSame } from '../../api/change-same.ts'
import { EditNotes, useEdited } from '../../ui/changed-meanwhile-note.tsx'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { useRefusal } from '../../ui/field-problems.ts'
import { Form } from '../../ui/form.tsx'
import { OneTimeSecret } from '../../ui/one-time-secret.tsx'
import { PasswordField } from '../../ui/password-field.tsx'
import { toast } from '../../ui/toast.ts'
import { useChange } from '../../ui/use-change.ts'
import { EVENT_WORDS, EVENTS, type Webhook, type WebhookEvent } from './webhook-events.ts'

const toFields = (webhook: Webhook | undefined) => ({
  url: webhook?.url ?? '',
  events: webhook?.events ?? EVENTS,
  secret: '',
})

export function WebhookDialog({
  webhook,
  onClose,
}: {
  /** Undefined: a new one. */
  readonly webhook: Webhook | undefined
  readonly onClose: () => void
}) {
  // Only what differs from the first values is sent.
  const edited = useEdited(webhook, toFields)
  const { first, fields, change } = edited
  const { url, events, secret } = fields
  const save = useChange({
    send: async (isOverwriting: boolean): Promise<string | undefined> => {
      const body = { url: url.trim(), events, ...(secret === '' ? {} : { secret }) }
      if (webhook === undefined) return (await ask('POST /v1/webhooks', { body })).secret
      const changes = {
        ...(body.url === first.url ? {} : { url: body.url }),
        ...(isSame(events, first.events) ? {} : { events }),
        ...(secret === '' ? {} : { secret }),
      }
      const question = { path: { id: webhook.id }, body: changes }
      const isLatest = (now: Webhook) => now.updatedAt === edited.base?.updatedAt
      await changeSame('PATCH /v1/webhooks/{id}', [question], isOverwriting ? undefined : isLatest)
      return undefined
    },
    // The answer may hold the secret.
    isSecret: true,
    makesStale: ['GET /v1/webhooks'],
    onDone: (generated) => {
      if (generated !== undefined) return
      toast('success', webhook === undefined ? 'Webhook created' : 'Webhook saved')
      close()
    },
  })
  const close = () => {
    save.reset()
    onClose()
  }
  // The window stays the same one: where the focus goes when it closes is known since it opened.
  if (save.data !== undefined)
    return (
      <Dialog
        isOpen
        onClose={close}
        title="Webhook created"
        note="This is its secret. Copy it now: it is not shown again."
        width="wide"
      >
        <GeneratedSecret secret={save.data} />
      </Dialog>
    )
  return (
    <Dialog
      isOpen
      onClose={close}
      title={webhook === undefined ? 'Create a webhook' : 'Edit the webhook'}
    >
      <Form onSubmit={() => save.mutate(false)} error={save.error}>
        <div className="flex flex-col gap-4">
          <TextField
            label="Address"
            type="url"
            isCode
            required
            autoFocus={webhook === undefined}
            autoComplete="off"
            placeholder="https://example.com/hooks/gatehouse"
            hint="An https address that anybody can reach. Redirects are not followed."
            value={url}
            onChange={(event) => change({ url: event.target.value })}
            field="url"
          />
          <EventChoice events={events} onChange={(chosen) => change({ events: chosen })} />
          <PasswordField
            label="Secret"
            isOptional
            isCode
            minLength={16}
            maxLength={200}
            autoComplete="new-password"
            hint={
              webhook === undefined
                ? 'The secret that signs deliveries. Left empty, one is generated and shown once.'
                : 'Left empty, the one it has stays.'
            }
            value={secret}
            onChange={(event) => change({ secret: event.target.value })}
            field="secret"
          />
          <EditNotes thing="webhook" edited={edited} save={save} />
        </div>
        <FormActions
          onCancel={close}
          isBusy={save.isPending}
          disabled={events.length === 0}
          makesSecret={webhook === undefined}
        >
          {webhook === undefined ? 'Create' : 'Save'}
        </FormActions>
      </Form>
    </Dialog>
  )
}

function isSame(events: readonly WebhookEvent[], others: readonly WebhookEvent[]): boolean {
  return events.length === others.length && events.every((event) => others.includes(event))
}

function EventChoice({
  events,
  onChange,
}: {
  readonly events: readonly WebhookEvent[]
  readonly onChange: (events: readonly WebhookEvent[]) => void
}) {
  const refusal = useRefusal('events')
  const problem = events.length === 0 ? 'Choose at least one.' : refusal
  return (
    <fieldset data-field="events" className="flex flex-col gap-2">
      <legend className="mb-1.5 text-[13px] font-medium text-ink">Events</legend>
      {EVENTS.map((event) => (
        <label key={event} className="flex items-start gap-2.5 text-sm">
          <input
            type="checkbox"
            className="mt-0.5 size-4 shrink-0 accent-accent"
            checked={events.includes(event)}
            onChange={({ target }) =>
              onChange(
                EVENTS.filter((each) => (each === event ? target.checked : events.includes(each))),
              )
            }
          />
          <span>
            <code className="font-mono text-[13px] text-ink">{event}</code>
            <span className="block text-[13px] text-ink-faint">{EVENT_WORDS[event]}</span>
          </span>
        </label>
      ))}
      {problem !== undefined && <p className="text-[13px] text-danger">{problem}</p>}
    </fieldset>
  )
}

function GeneratedSecret({ secret }: { readonly secret: string }) {
  return (
    <OneTimeSecret secret={secret} name="secret">
      {() => (
        <p className="mt-4 text-[13px] text-ink-soft">
          Each delivery carries the headers of Standard Webhooks (
          <code className="font-mono">webhook-signature</code> and others). Check them with one of
          its libraries and this secret, and refuse what does not match.
        </p>
      )}
    </OneTimeSecret>
  )
}
