/** The account's API keys: made, shown once, used, deleted. */
import { useQuery } from '@tanstack/react-query'
import { KeyRound, Plus } from 'lucide-react'
import { useState } from 'react'
import { wholeListQuery } from '../../api/operation-query.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Page } from '../../ui/page.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { CreateKeyDialog } from './create-key-dialog.tsx'
import { DeleteKeyDialog } from './delete-key-dialog.tsx'
import { type ApiKey, KeyTable } from './key-table.tsx'

export function KeysPage() {
  const keys = useQuery(wholeListQuery('GET /v1/keys'))
  const [isCreating, setCreating] = useState(false)
  const [doomed, setDoomed] = useState<ApiKey>()
  const createButton = (
    <Button look="primary" onClick={() => setCreating(true)}>
      <Plus aria-hidden className="size-4" />
      Create New Key
    </Button>
  )
  return (
    <Page
      title="API Keys"
      note="Every key has full access to this account. Use one for each application and environment, so that each can be replaced by itself."
      actions={createButton}
    >
      <Card>
        <QueryBoundary query={keys}>
          {(rows) =>
            rows.length === 0 ? (
              <EmptyState icon={<KeyRound />} title="No keys" action={createButton}>
                Applications send a key with every request. Without one, none can call a gate.
              </EmptyState>
            ) : (
              <KeyTable keys={rows} onDelete={setDoomed} />
            )
          }
        </QueryBoundary>
      </Card>
      <CreateKeyDialog isOpen={isCreating} onClose={() => setCreating(false)} />
      <DeleteKeyDialog doomed={doomed} onClose={() => setDoomed(undefined)} />
    </Page>
  )
}
