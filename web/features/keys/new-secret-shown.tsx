/**
 * A new API key or access token, shown once: after closing, the page's memory no longer has the
 * secret.
 */
import type { ReactNode } from 'react'
import type { AnswerOf } from '../../api/ask.ts'
import { OneTimeSecret } from '../../ui/one-time-secret.tsx'
import { ClientSetup } from './client-setup.tsx'

export type Created = AnswerOf<'POST /v1/keys'> | AnswerOf<'POST /v1/access-tokens'>

export function shownOnce(thing: 'key' | 'token'): string {
  return `Copy the ${thing} now and keep it in a safe place. The ${thing} is not shown again.`
}

export function NewSecretShown({
  created,
  children,
}: {
  readonly created: Created
  readonly children?: ReactNode
}) {
  if ('token' in created)
    return (
      <OneTimeSecret secret={created.token} name="token" region="the new token">
        {(onCopied) => (
          <>
            {children}
            <ClientSetup token={created.token} gates={created.gates} onCopied={onCopied} />
          </>
        )}
      </OneTimeSecret>
    )
  return (
    <OneTimeSecret secret={created.key} name="key" region="the new key">
      {() => (
        <>
          {children}
          <p className="mt-4 rounded-lg bg-warn-soft px-3 py-2 text-[13px] text-warn">
            Anyone who has an API key can do everything in this account. Do not put API keys into
            code that runs in browsers, or into version control.
          </p>
        </>
      )}
    </OneTimeSecret>
  )
}
