/** Shows a new key, this once: after closing, it is in no memory of the page. */
import type { ReactNode } from 'react'
import { OneTimeSecret } from '../../ui/one-time-secret.tsx'

/** For the window that it is shown in. */
export const SHOWN_ONCE = 'Copy the key now and keep it in a safe place. It is not shown again.'

export function NewKeyShown({
  created,
  children,
}: {
  readonly created: { readonly key: string }
  /** More about this key. */
  readonly children?: ReactNode
}) {
  return (
    <OneTimeSecret secret={created.key} name="key" region="the new key">
      {() => (
        <>
          {children}
          <p className="mt-4 rounded-lg bg-warn-soft px-3 py-2 text-[13px] text-warn">
            Anyone who has it can do everything in this account. Do not put it into code that runs
            in browsers, or into version control.
          </p>
        </>
      )}
    </OneTimeSecret>
  )
}
