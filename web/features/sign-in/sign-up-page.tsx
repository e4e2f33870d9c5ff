/**
 * Signing up: with the invitation that a link carries, whose account and inviter it names first, or freely where the
 * operator allows it.
 */
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../../api/ask.ts'
import { operationQuery } from '../../api/operation-query.ts'
import { ProblemNote } from '../../ui/states.tsx'
import { enter } from './enter.ts'
import { type NewUser, NewUserForm } from './new-user-form.tsx'
import { OidcButton } from './oidc-button.tsx'
import { SignInFrame } from './sign-in-frame.tsx'
import { takeFromAddress } from './take-from-address.ts'

export function SignUpPage() {
  const [invitation] = useState(() => takeFromAddress('invitation'))
  const { data: options } = useQuery(operationQuery('GET /v1/auth'))
  const offer = useQuery({
    queryKey: ['invitation-offer'],
    queryFn: () => ask('POST /v1/auth/invitation', { body: { invitation: invitation ?? '' } }),
    enabled: invitation !== undefined,
  })
  const signUp = useMutation({
    mutationFn: (user: NewUser) =>
      ask('POST /v1/auth/sign-up', { body: { ...user, ...(invitation && { invitation }) } }),
    onSuccess: () => enter(undefined),
  })
  if (invitation === undefined && options !== undefined && options.signUp !== 'open') {
    return (
      <SignInFrame
        title="An invitation is needed"
        note="Ask a member of the account to invite you: they will hand you a link that opens this page."
      >
        <Link to="/sign-in" className="text-sm font-medium text-accent-strong hover:underline">
          To the sign-in page
        </Link>
      </SignInFrame>
    )
  }
  if (offer.error !== null) {
    return (
      <SignInFrame
        title="This invitation is not open"
        note="It was used, withdrawn, or has run out. Ask whoever invited you for another one."
      >
        <ProblemNote error={offer.error} />
      </SignInFrame>
    )
  }
  if (invitation !== undefined && offer.data === undefined) return null
  return (
    <SignInFrame
      title={offer.data === undefined ? 'Create an account' : `Join ${offer.data.accountName}`}
      note={
        offer.data === undefined
          ? 'You will be its owner, and can invite others.'
          : `${offer.data.invitedBy ?? 'The operator'} invites ${offer.data.email} to the account “${offer.data.accountName}”. By signing up you join it.`
      }
    >
      <NewUserForm
        submitLabel="Sign up"
        onSubmit={(user) => signUp.mutate(user)}
        isBusy={signUp.isPending}
        error={signUp.error}
      />
      {options?.oidc === true && (
        <OidcButton
          label={invitation === undefined ? 'Sign up with single sign-on' : 'Join with single sign-on'}
          returnTo="/dashboard"
          invitation={invitation}
        />
      )}
    </SignInFrame>
  )
}
