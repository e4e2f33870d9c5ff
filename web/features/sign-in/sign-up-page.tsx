/** Signing up: with the invitation that a link carries, or freely where the operator allows it. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../../api/ask.ts'
import { operationQuery } from '../../api/operation-query.ts'
import { enter } from './enter.ts'
import { type NewUser, NewUserForm } from './new-user-form.tsx'
import { SignInFrame } from './sign-in-frame.tsx'
import { takeFromAddress } from './take-from-address.ts'

export function SignUpPage() {
  const [invitation] = useState(() => takeFromAddress('invitation'))
  const { data: options } = useQuery(operationQuery('GET /v1/auth'))
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
  return (
    <SignInFrame
      title={invitation === undefined ? 'Create an account' : 'Join the account'}
      note={
        invitation === undefined
          ? 'You will be its owner, and can invite others.'
          : 'Use the email address that was invited.'
      }
    >
      <NewUserForm
        submitLabel="Sign up"
        onSubmit={(user) => signUp.mutate(user)}
        isBusy={signUp.isPending}
        error={signUp.error}
      />
    </SignInFrame>
  )
}
