/** Downloads what is stored of an end user, and erases the end user. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { toApiRequest } from '../../../src/contract/api-call.ts'
import { ask } from '../../api/ask.ts'
import { Anchor, Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { DeleteDialog } from '../../ui/resource-page.tsx'

export function EndUserCard({ user, name }: { readonly user: string; readonly name: string }) {
  const [isErasing, setIsErasing] = useState(false)
  const navigate = useNavigate()
  const question = { path: { name: user } }
  return (
    <Card>
      <CardHeader title="Stored data">
        <div className="flex gap-2">
          <Anchor
            size="small"
            href={toApiRequest('GET /v1/account/end-users/{name}', question).path}
            download="gatehouse-end-user.json"
          >
            Export
          </Anchor>
          <Button size="small" look="danger" onClick={() => setIsErasing(true)}>
            Erase
          </Button>
        </div>
      </CardHeader>
      <p className="px-5 py-4 text-[13px] text-ink-soft">
        The name, the sums by day, the sessions and the calls of this end user.
      </p>
      {isErasing && (
        <DeleteDialog
          one="end user"
          name={name}
          title={`Erase “${name}”?`}
          confirmLabel="Erase the end user"
          send={async () => {
            await ask('DELETE /v1/account/end-users/{name}', question)
            await navigate({ to: '/people' })
          }}
          makesStale={['GET /v1/analytics', 'GET /v1/usage/sessions', 'GET /v1/logs']}
          done={`End user “${name}” erased`}
          onClose={() => setIsErasing(false)}
        >
          <p>
            The name is deleted. The calls, sums and sessions count for “Erased end users”, so all
            totals stay. This cannot be undone. Backups, webhooks that were sent and exported files
            are not erased.
          </p>
        </DeleteDialog>
      )}
    </Card>
  )
}
