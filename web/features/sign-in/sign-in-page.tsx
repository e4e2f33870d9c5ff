import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { operationQuery } from '../../api/operation-query.ts'
import { enter, ownPath } from './enter.ts'
import { SignInForm } from './sign-in-form.tsx'
import { OidcButton, SignInFrame } from './sign-in-frame.tsx'
import type { SignInReason } from './sign-in-reason.ts'

export function SignInPage() {
  const search = useSearch({ from: '/sign-in' })
  const { data: options } = useQuery(operationQuery('GET /v1/auth'))
  return (
    <SignInFrame title="Sign in" note="To the account that your gates and keys belong to.">
      <SignInForm
        note={
          search.error === undefined ? (
            <Reason reason={search.reason} returnTo={search.returnTo} />
          ) : (
            <p role="alert" className="rounded-lg bg-danger-soft px-3 py-2 text-[13px] text-danger">
              {describeOidcError(search.error)}
            </p>
          )
        }
        onDone={() => enter(search.returnTo)}
      />
      {options?.oidc === true && (
        <OidcButton
          label="Sign in with single sign-on"
          returnTo={ownPath(search.returnTo) ?? '/dashboard'}
        />
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

const REASONS: Readonly<Record<SignInReason, string>> = {
  ended: 'Your session ended. Sign in to continue where you were.',
  'signed-out': 'You have signed out.',
  left: 'You have left the account.',
}

function Reason({
  reason,
  returnTo,
}: {
  readonly reason: SignInReason | undefined
  readonly returnTo: string | undefined
}) {
  const wanted = ownPath(returnTo)
  const isStart = wanted === undefined || /^\/dashboard\/?$/.test(wanted)
  if (reason === undefined && isStart) return null
  return (
    <p role="status" className="rounded-lg bg-sunken px-3 py-2 text-[13px] text-ink-soft">
      {reason === undefined
        ? 'The page that you opened is for members. Sign in to see the page.'
        : REASONS[reason]}
    </p>
  )
}

function describeOidcError(code: string): string {
  if (code === 'account_full')
    return 'The account that invited you has reached its limit of members: ask the owner of the account to remove a member.'
  return code === 'not_invited'
    ? 'You are not a member of an account yet. Open the link of an invitation to your email address to join.'
    : `The identity provider did not sign you in (${code}).`
}
