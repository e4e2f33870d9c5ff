/** Addresses that receive events: created, tried, switched off, changed, deleted. */
import { useQuery } from '@tanstack/react-query'
import { Plus, Webhook as WebhookIcon } from 'lucide-react'
import { useState } from 'react'
import { ask } from '../../api/ask.ts'
import { wholeListQuery } from '../../api/operation-query.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { ConfirmChange } from '../../ui/dialog.tsx'
import { Moment } from '../../ui/moment.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { EmptyState, ProblemNote } from '../../ui/states.tsx'
import { Switch } from '../../ui/switch.tsx'
import { useChange } from '../../ui/use-change.ts'
import { WebhookDialog } from './webhook-dialog.tsx'
import { EVENT_WORDS, type Webhook } from './webhook-events.ts'

export function WebhooksPage() {
  const webhooks = useQuery(wholeListQuery('GET /v1/webhooks'))
  const [edited, setEdited] = useState<Webhook | 'new'>()
  const [doomed, setDoomed] = useState<Webhook>()
  const createButton = (
    <Button look="primary" onClick={() => setEdited('new')}>
      <Plus aria-hidden className="size-4" />
      Create a webhook
    </Button>
  )
  return (
    <>
      <Card>
        <CardHeader
          title="Webhooks"
          note="Each gets its events as signed POST requests, repeated for a while when it does not answer."
        >
          {(webhooks.data?.length ?? 0) > 0 && createButton}
        </CardHeader>
        <QueryBoundary
          query={webhooks}
          empty={
            <EmptyState icon={<WebhookIcon />} title="No webhooks" action={createButton}>
              A webhook tells a service of yours when a budget runs out or a provider keeps failing.
            </EmptyState>
          }
        >
          {(rows) => (
            <ul className="divide-y divide-line">
              {rows.map((webhook) => (
                <WebhookItem
                  key={webhook.id}
                  webhook={webhook}
                  onEdit={setEdited}
                  onDelete={setDoomed}
                />
              ))}
            </ul>
          )}
        </QueryBoundary>
      </Card>
      {edited !== undefined && (
        <WebhookDialog
          webhook={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
      {doomed !== undefined && (
        <DeleteWebhookDialog webhook={doomed} onClose={() => setDoomed(undefined)} />
      )}
    </>
  )
}

// Asks before a webhook is deleted: its secret cannot be brought back.

function DeleteWebhookDialog({
  webhook,
  onClose,
}: {
  readonly webhook: Webhook
  readonly onClose: () => void
}) {
  const remove = useChange({
    send: () => ask('DELETE /v1/webhooks/{id}', { path: { id: webhook.id } }),
    makesStale: ['GET /v1/webhooks'],
    done: 'Webhook deleted',
    onDone: onClose,
  })
  return (
    <ConfirmChange
      onClose={onClose}
      title="Delete this webhook?"
      confirmLabel="Delete the webhook"
      change={remove}
    >
      <p>
        <code title={webhook.url} className="line-clamp-3 font-mono text-[13px] break-all text-ink">
          {webhook.url}
        </code>{' '}
        gets no more events, not even those on their way. To pause it, switch it off instead.
      </p>
    </ConfirmChange>
  )
}

// One webhook: its address, its events, its switch, and the result of a test.

function WebhookItem({
  webhook,
  onEdit,
  onDelete,
}: {
  readonly webhook: Webhook
  readonly onEdit: (webhook: Webhook) => void
  readonly onDelete: (webhook: Webhook) => void
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
          <Button
            size="small"
            isBusy={test.isPending}
            aria-label={`Test ${webhook.url}`}
            onClick={() => test.mutate()}
          >
            Test
          </Button>
          <Button size="small" aria-label={`Edit ${webhook.url}`} onClick={() => onEdit(webhook)}>
            Edit
          </Button>
          <Button
            look="danger"
            size="small"
            aria-label={`Delete ${webhook.url}`}
            onClick={() => onDelete(webhook)}
          >
            Delete
          </Button>
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
