import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ask } from '../../api/ask.ts'
import { Button } from '../../ui/button.tsx'
import { Logo } from '../../ui/logo.tsx'
import { useDocumentTitle } from '../../ui/page.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { useChange } from '../../ui/use-change.ts'

export function SignInFrame({
  title,
  note,
  children,
}: {
  readonly title: string
  readonly note: ReactNode
  readonly children: ReactNode
}) {
  useDocumentTitle(title)
  return (
    <main className="flex min-h-dvh flex-col items-center justify-center gap-8 px-4 py-10">
      <Logo />
      <div className="w-full max-w-sm rounded-2xl border border-line bg-surface p-7 shadow-card">
        <h1 className="text-lg font-semibold tracking-tight text-ink">{title}</h1>
        <p className="mt-1 mb-6 text-sm text-ink-soft">{note}</p>
        {children}
      </div>
    </main>
  )
}

export function SignInLink() {
  return (
    <Link to="/sign-in" className="text-sm font-medium text-accent-strong hover:underline">
      To the sign-in page
    </Link>
  )
}

/** Continues at the operator's identity provider. The page knows whether there is one. */
export function OidcButton({
  label,
  returnTo,
  invitation,
}: {
  readonly label: string
  readonly returnTo: string
  /** The token of the invitation that this sign-in accepts. */
  readonly invitation?: string | undefined
}) {
  const begin = useChange({
    send: () =>
      ask('POST /v1/auth/oidc', {
        body: { returnTo, ...(invitation === undefined ? {} : { invitation }) },
      }),
    onDone: ({ url }) => location.assign(url),
  })
  return (
    <div className="mt-4 flex flex-col gap-3 border-t border-line pt-4">
      <Button className="w-full" onClick={() => begin.mutate()} isBusy={begin.isPending}>
        {label}
      </Button>
      <ProblemNote error={begin.error} />
    </div>
  )
}
