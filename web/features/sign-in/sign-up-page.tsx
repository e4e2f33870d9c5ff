import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError, ask } from '../../api/ask.ts'
import { operationQuery } from '../../api/operation-query.ts'
import { nameZone } from '../../format/time-zone.ts'
import { formatDateTime } from '../../format/times.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorState } from '../../ui/states.tsx'
import { useChange } from '../../ui/use-change.ts'
import { useTimeZone } from '../../ui/use-time-zone.ts'
import { enter } from './enter.ts'
import { type NewUser, NewUserForm } from './new-user-form.tsx'
import { OidcButton, SignInFrame, SignInLink } from './sign-in-frame.tsx'
import { useFromAddress } from './take-from-address.ts'

export function SignUpPage() {
  const secret = useFromAddress('invitation')
  const invitation = secret?.value
  const { data: options } = useQuery(operationQuery('GET /v1/auth'))
  const offer = useQuery({
    queryKey: ['invitation-offer', secret?.count],
    queryFn: () => ask('POST /v1/auth/invitation', { body: { invitation: invitation ?? '' } }),
    enabled: invitation !== undefined,
  })
  const signUp = useChange({
    send: (user: NewUser) =>
      ask('POST /v1/auth/sign-up', { body: { ...user, ...(invitation && { invitation }) } }),
    onDone: () => enter(undefined),
  })
  const zone = useTimeZone()
  const [hasDeclined, setDeclined] = useState(false)
  if (invitation === undefined && options !== undefined && options.signUp !== 'open') {
    return (
      <SignInFrame
        title="An invitation is needed"
        note="Ask a member of the account to invite you: they will hand you a link that opens this page."
      >
        <SignInLink />
      </SignInFrame>
    )
  }
  if (offer.error instanceof ApiError && offer.error.status === 404) {
    return (
      <SignInFrame
        title="This invitation is not open"
        note="It was used, withdrawn, or has run out. If you used it, sign in; otherwise ask whoever invited you for another one."
      >
        <SignInLink />
      </SignInFrame>
    )
  }
  if (offer.error !== null) {
    return (
      <SignInFrame
        title="This invitation could not be looked up"
        note="It may well be open: try again."
      >
        <ErrorState error={offer.error} retry={() => void offer.refetch()} />
      </SignInFrame>
    )
  }
  if (invitation !== undefined && offer.data === undefined) return null
  if (hasDeclined && offer.data !== undefined) {
    return (
      <SignInFrame
        title="You have not joined"
        note={`Nothing was changed. Until ${formatDateTime(offer.data.expiresAt, zone)} (${nameZone(zone)}), the link opens this invitation to “${offer.data.accountName}” again.`}
      >
        <SignInLink />
      </SignInFrame>
    )
  }
  return (
    <SignInFrame
      title={offer.data === undefined ? 'Create an account' : `Join ${offer.data.accountName}`}
      note={
        offer.data === undefined ? (
          'You will be the owner of the account, and can invite other people.'
        ) : (
          <>
            By invitation of <bdi>{offer.data.invitedBy ?? 'the operator'}</bdi>, {offer.data.email}{' '}
            may join the account “<bdi>{offer.data.accountName}</bdi>”. Until you say yes you are
            not in it.
          </>
        )
      }
    >
      <NewUserForm
        submitLabel={invitation === undefined ? 'Sign up' : 'Sign up and join'}
        onSubmit={(user) => signUp.mutate(user)}
        isBusy={signUp.isPending}
        error={signUp.error}
      />
      {options?.oidc === true && (
        <OidcButton
          label={
            invitation === undefined ? 'Sign up with single sign-on' : 'Join with single sign-on'
          }
          returnTo="/dashboard"
          invitation={invitation}
        />
      )}
      {invitation !== undefined && (
        <Button look="quiet" className="mt-3 w-full" onClick={() => setDeclined(true)}>
          No, do not join
        </Button>
      )}
    </SignInFrame>
  )
}
