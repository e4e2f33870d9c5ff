/** One webhook: its address, its events, whether it is on, and what became of a test. */
import { ask } from '../../api/ask.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Moment } from '../../ui/moment.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { Switch } from '../../ui/switch.tsx'
import { useChange } from '../../ui/use-change.ts'
import { EVENT_WORDS, type Webhook } from './webhook-events.ts'

export function WebhookItem({
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
          <p className="font-mono text-[13px] font-medium break-all text-ink">{webhook.url}</p>
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
