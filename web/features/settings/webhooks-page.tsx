/** Addresses that receive events: created, tried, switched off, changed, deleted. */
import { useQuery } from '@tanstack/react-query'
import { Plus, Webhook as WebhookIcon } from 'lucide-react'
import { useState } from 'react'
import { ask } from '../../api/ask.ts'
import { wholeListQuery } from '../../api/operation-query.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { ConfirmChange } from '../../ui/dialog.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { useChange } from '../../ui/use-change.ts'
import { WebhookDialog } from './webhook-dialog.tsx'
import type { Webhook } from './webhook-events.ts'
import { WebhookItem } from './webhook-item.tsx'

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
          note="Each is sent its events as signed POST requests, and again for a while when it does not answer."
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
        <code className="font-mono text-[13px] break-all text-ink">{webhook.url}</code> gets no more
        events, not even those on their way. To pause it, switch it off instead.
      </p>
    </ConfirmChange>
  )
}
