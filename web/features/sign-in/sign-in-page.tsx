/** Signing in, by password or with the operator's identity provider. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { ask } from '../../api/ask.ts'
import { operationQuery } from '../../api/operation-query.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { enter, ownPath } from './enter.ts'
import { OidcButton } from './oidc-button.tsx'
import { SignInFrame } from './sign-in-frame.tsx'

export function SignInPage() {
  const search = useSearch({ from: '/sign-in' })
  const { data: options } = useQuery(operationQuery('GET /v1/auth'))
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const signIn = useMutation({
    mutationFn: () => ask('POST /v1/auth/sign-in', { body: { email, password } }),
    onSuccess: () => enter(search.returnTo),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    signIn.mutate()
  }
  return (
    <SignInFrame title="Sign in" note="To the account that your gates and keys belong to.">
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextField
          label="Email"
          type="email"
          name="email"
          autoComplete="username"
          required
          autoFocus
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <TextField
          label="Password"
          type="password"
          name="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        <ProblemNote error={signIn.error} />
        {search.error !== undefined && signIn.error === null && (
          <p role="alert" className="rounded-lg bg-danger-soft px-3 py-2 text-[13px] text-danger">
            {describeOidcError(search.error)}
          </p>
        )}
        <Button type="submit" look="primary" isBusy={signIn.isPending}>
          Sign in
        </Button>
      </form>
      {options?.oidc === true && (
        <OidcButton label="Sign in with single sign-on" returnTo={ownPath(search.returnTo) ?? '/dashboard'} />
      )}
      {options?.signUp === 'open' && (
        <p className="mt-6 text-center text-[13px] text-ink-soft">
          New here?{' '}
          <Link to="/sign-up" className="font-medium text-accent-strong hover:underline">
            Create an account
          </Link>
        </p>
      )}
      {options?.hasOwner === false && (
        <p className="mt-6 text-center text-[13px] text-ink-soft">
          Nobody has signed up yet.{' '}
          <Link to="/welcome" className="font-medium text-accent-strong hover:underline">
            Create the owner
          </Link>
        </p>
      )}
    </SignInFrame>
  )
}

function describeOidcError(code: string): string {
  if (code === 'account_full')
    return 'The account that invited you has as many members as it may: ask its owner to make room.'
  return code === 'not_invited'
    ? 'You belong to no account here yet. Open the link of an invitation that is for your email address, and join from there.'
    : `The identity provider did not sign you in (${code}).`
}
