/** One's own password, and where one is signed in. */
import { useQuery } from '@tanstack/react-query'
import { operationQuery } from '../../api/operation-query.ts'
import { Card, CardHeader } from '../../ui/card.tsx'
import { PasswordForm } from './password-form.tsx'
import { SessionsCard } from './sessions-card.tsx'

export function SecurityPage() {
  const { data: session } = useQuery(operationQuery('GET /v1/session'))
  return (
    <>
      <Card>
        <CardHeader title="Password" note="Changing it ends every other session of yours." />
        <PasswordForm email={session?.user?.email ?? ''} />
      </Card>
      <SessionsCard />
    </>
  )
}
