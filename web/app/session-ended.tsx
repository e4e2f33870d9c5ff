import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Dialog as RadixDialog } from 'radix-ui'
import { type ReactNode, useEffect } from 'react'
import { askWith } from '../api/ask.ts'
import { operationQuery } from '../api/operation-query.ts'
import { SignInForm } from '../features/sign-in/sign-in-form.tsx'
import { classNames } from '../ui/class-names.ts'
import { useWayBack, WINDOW } from '../ui/dialog.tsx'
import { goOnAfterSignIn } from './connection.ts'

const SESSION = operationQuery('GET /v1/session')

export function SessionEnded() {
  const queryClient = useQueryClient()
  const before = queryClient.getQueryData(SESSION.queryKey)
  const options = useQuery({ ...operationQuery('GET /v1/auth'), networkMode: 'always' })
  const goOn = async () => {
    const session = await askWith('GET /v1/session', {})
    if (session.user?.id !== before?.user?.id) {
      // Another user signed in, so nothing of the previous user may stay.
      location.assign('/dashboard')
      return
    }
    queryClient.setQueryData(SESSION.queryKey, session)
    goOnAfterSignIn()
    await queryClient.invalidateQueries()
  }
  useEffect(() => {
    // The user may have signed in in another tab.
    const look = () => {
      // The user is still signed out, so the window stays.
      if (document.visibilityState === 'visible') goOn().catch(() => undefined)
    }
    document.addEventListener('visibilitychange', look)
    return () => document.removeEventListener('visibilitychange', look)
  })
  return (
    <BlockingDialog
      title="Your session ended"
      note="Sign in to continue. What you typed on this page is still there."
    >
      <SignInForm knownEmail={before?.user?.email ?? ''} onDone={goOn} />
      <p className="mt-4 border-t border-line pt-4 text-center text-[13px] text-ink-soft">
        {options.data?.oidc === true && 'With single sign-on, or '}
        <a
          href="/dashboard/sign-in"
          target="_blank"
          rel="noreferrer"
          className="font-medium text-accent-strong hover:underline"
        >
          {options.data?.oidc === true ? 'in another tab' : 'Sign in in another tab'}
        </a>
        , then come back.
      </p>
    </BlockingDialog>
  )
}

// A dialog over the whole page that cannot be closed before the user has signed in. The page below
// keeps typed text.

const stay = (event: Event) => event.preventDefault()

function BlockingDialog({
  title,
  note,
  children,
}: {
  readonly title: string
  readonly note: ReactNode
  readonly children: ReactNode
}) {
  return (
    <RadixDialog.Root open>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className="fixed inset-0 z-[60] bg-canvas" />
        <RadixDialog.Content
          onEscapeKeyDown={stay}
          onInteractOutside={stay}
          onCloseAutoFocus={useWayBack()}
          className={classNames(WINDOW, 'z-[61] max-w-sm p-7')}
        >
          <RadixDialog.Title className="text-lg font-semibold tracking-tight text-ink">
            {title}
          </RadixDialog.Title>
          <RadixDialog.Description className="mt-1 mb-6 text-sm text-ink-soft">
            {note}
          </RadixDialog.Description>
          {children}
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  )
}
