/** The account's menu: the user who is signed in, light or dark, and the way out. */
import { useQuery } from '@tanstack/react-query'
import { ChevronsUpDown } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { operationQuery } from '../api/operation-query.ts'

const AccountMenuItems = lazy(async () => ({
  default: (await import('./account-menu-items.tsx')).AccountMenuItems,
}))

/** The menu itself is fetched when it is first opened: the page is there sooner without it. */
export function AccountMenu() {
  const { data: session } = useQuery(operationQuery('GET /v1/session'))
  const [wasAsked, setAsked] = useState(false)
  const name = session?.user?.name ?? ''
  const button = (
    <button
      type="button"
      aria-haspopup="menu"
      onClick={() => setAsked(true)}
      className="flex w-full items-center gap-2.5 rounded-lg px-2 py-1.5 text-left rail:justify-center hover:bg-sunken"
    >
      <span
        aria-hidden
        className="grid size-7 shrink-0 place-items-center rounded-full bg-accent-soft text-xs font-semibold text-accent-strong"
      >
        {name.slice(0, 1).toUpperCase()}
      </span>
      <span className="sr-only">Account</span>
      <span className="min-w-0 flex-1 rail:sr-only">
        <span className="block truncate text-[13px] font-medium text-ink">{name}</span>
        <span className="block truncate text-xs text-ink-faint">{session?.account.name}</span>
      </span>
      <ChevronsUpDown aria-hidden className="size-4 text-ink-faint rail:hidden" />
    </button>
  )
  if (!wasAsked) return button
  return (
    <Suspense fallback={button}>
      <AccountMenuItems trigger={button} email={session?.user?.email} />
    </Suspense>
  )
}
