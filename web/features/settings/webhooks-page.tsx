import { Webhook as WebhookIcon } from 'lucide-react'
import { ask, type RowOf } from '../../api/ask.ts'
import { changeSame } from '../../api/change-same.ts'
import { Badge } from '../../ui/badge.tsx'
import { RowButton } from '../../ui/button.tsx'
import { EditNotes, useEdited } from '../../ui/changed-meanwhile-note.tsx'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { TextField, useRefusal } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Moment } from '../../ui/moment.tsx'
import { OneTimeSecret } from '../../ui/one-time-secret.tsx'
import { PasswordField } from '../../ui/password-field.tsx'
import { DeleteDialog, ResourceCard, type RowDialogProps } from '../../ui/resource-page.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { Switch } from '../../ui/switch.tsx'
import { toast } from '../../ui/toast.ts'
import { useChange } from '../../ui/use-change.ts'

export function WebhooksPage() {
  return (
    <ResourceCard
      list="GET /v1/webhooks"
      title="Webhooks"
      note="Each gets its events as signed POST requests, repeated for a while when it does not answer."
      many="webhooks"
      icon={<WebhookIcon />}
      purpose="A webhook tells a service of yours when a budget runs out or a provider keeps failing."
      create={{ label: 'Create a webhook', dialog: WebhookDialog }}
    >
      {(rows, open) => (
        <ul className="divide-y divide-line">
          {rows.map((webhook) => (
            <WebhookItem
              key={webhook.id}
              webhook={webhook}
              onEdit={() => open(WebhookDialog, webhook)}
              onDelete={() => open(DeleteWebhookDialog, webhook)}
            />
          ))}
        </ul>
      )}
    </ResourceCard>
  )
}

function DeleteWebhookDialog({ row: { id, url }, onClose }: RowDialogProps<Webhook>) {
  return (
    <DeleteDialog
      one="webhook"
      name={url}
      title="Delete this webhook?"
      send={() => ask('DELETE /v1/webhooks/{id}', { path: { id } })}
      makesStale={['GET /v1/webhooks']}
      done="Webhook deleted"
      onClose={onClose}
    >
      <p>
        <code title={url} className="line-clamp-3 font-mono text-[13px] break-all text-ink">
          {url}
        </code>{' '}
        gets no more events, not even those on their way. To pause it, switch it off instead.
      </p>
    </DeleteDialog>
  )
}

function WebhookItem({
  webhook,
  onEdit,
  onDelete,
}: {
  readonly webhook: Webhook
  readonly onEdit: () => void
  readonly onDelete: () => void
}) {
  const path = { id: webhook.id }
  const turn = useChange({
    send: (active: boolean) => ask('PATCH /v1/webhooks/{id}', { path, body: { active } }),
    saysFailure: true,
    makesStale: ['GET /v1/webhooks'],
    failureMakesStale: ['GET /v1/webhooks'],
  })
  const test = useChange({ send: () => ask('POST /v1/webhooks/{id}/test', { path }) })
  const isActive = turn.isPending ? turn.variables : webhook.active
  return (
    <li aria-label={webhook.url} className="flex flex-col gap-3 px-5 py-4">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="min-w-0 flex-1 basis-72">
          <p
            title={webhook.url}
            className="line-clamp-3 font-mono text-[13px] font-medium break-all text-ink"
          >
            {webhook.url}
          </p>
          <p className="mt-2 flex flex-wrap gap-1.5">
            {webhook.events.map((event) => (
              <span key={event} title={EVENT_WORDS[event]}>
                <Badge>
                  <code className="font-mono">{event}</code>
                </Badge>
              </span>
            ))}
          </p>
          <p className="mt-2 text-[13px] text-ink-faint">
            Added <Moment at={webhook.createdAt} />
          </p>
        </div>
        <div className="flex flex-wrap items-center gap-2">
          <span className="mr-2 flex items-center gap-2 text-[13px] text-ink-soft">
            {isActive ? 'On' : 'Off'}
            <Switch
              label={`Send to ${webhook.url}`}
              isOn={isActive}
              onChange={(isOn) => turn.mutate(isOn)}
            />
          </span>
          <RowButton
            act="Test"
            of={webhook.url}
            isBusy={test.isPending}
            onClick={() => test.mutate()}
          />
          <RowButton act="Edit" of={webhook.url} onClick={onEdit} />
          <RowButton look="danger" act="Delete" of={webhook.url} onClick={onDelete} />
        </div>
      </div>
      {test.data !== undefined && (
        <p role="status" className="flex flex-wrap items-center gap-2 text-[13px] text-ink-soft">
          <Badge tone={test.data.delivered ? 'ok' : 'danger'} hasDot>
            {test.data.delivered ? 'Delivered' : 'Not delivered'}
          </Badge>
          <span className="min-w-0 break-words">{test.data.detail}</span>
        </p>
      )}
      <ProblemNote error={test.error} />
    </li>
  )
}

const toFields = (webhook: Webhook | undefined) => ({
  url: webhook?.url ?? '',
  events: webhook?.events ?? EVENTS,
  secret: '',
})

function WebhookDialog({ row: webhook, onClose }: RowDialogProps<Webhook | undefined>) {
  const edited = useEdited(webhook, toFields)
  const { first, fields, change, bind } = edited
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
  // The same dialog for both steps, because the dialog remembers where to return the focus.
  if (save.data !== undefined)
    return (
      <Dialog
        isOpen
        onClose={close}
        title="Webhook created"
        note="Copy the secret of the webhook now: the secret is not shown again."
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
            hint="A public https address. Redirects are not followed."
            {...bind('url')}
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
                ? 'The secret that signs deliveries. If the field is empty, a secret is generated and shown once.'
                : 'If the field is empty, the current secret stays.'
            }
            {...bind('secret')}
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
  const problem = events.length === 0 ? 'Choose at least one event.' : refusal
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

type Webhook = RowOf<'GET /v1/webhooks'>
type WebhookEvent = Webhook['events'][number]

const EVENT_WORDS = {
  'budget.threshold': 'A budget has reached one of its percents',
  'budget.exhausted': 'A budget is used up: calls are refused',
  'fuse.blown': 'A fuse stopped a session or a user on a gate',
  'provider.degraded': 'A provider keeps failing: calls are sent elsewhere',
  'target.unusable': 'A target has no credit or its model is gone: somebody has to act',
  'token.expiring': 'An access token expires within two weeks',
  'store.set-back': 'The database was set back in time (sent to the account of the operator)',
  'redis.other': 'Redis is another installation’s (sent to the account of the operator)',
} as const satisfies Record<WebhookEvent, string>

const EVENTS = Object.keys(EVENT_WORDS) as readonly WebhookEvent[]
