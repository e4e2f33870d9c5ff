/**
 * The frame of every page for members: the menu, the account, and a way past both for
 * keyboards.
 */
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { Menu as MenuIcon, X } from 'lucide-react'
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react'
import { Announcer } from '../ui/announcer.tsx'
import { IconButton } from '../ui/button.tsx'
import { classNames } from '../ui/class-names.ts'
import { Logo } from '../ui/logo.tsx'
import { AccountMenu } from './account-menu.tsx'
import { NAVIGATION } from './navigation.ts'
import { useHasSessionEnded } from './session-end.ts'
import { ZoneNote } from './zone-note.tsx'

const SessionEnded = lazy(async () => ({
  default: (await import('./session-ended.tsx')).SessionEnded,
}))

export function Shell() {
  const [isMenuOpen, setMenuOpen] = useState(false)
  const hasSessionEnded = useHasSessionEnded()
  const path = useLocation({ select: (location) => location.pathname })
  // biome-ignore lint/correctness/useExhaustiveDependencies: having gone somewhere closes the menu
  useEffect(() => {
    setMenuOpen(false)
  }, [path])

  return (
    <div className="min-h-dvh lg:grid lg:grid-cols-[3.75rem_minmax(0,1fr)] xl:grid-cols-[15rem_minmax(0,1fr)]">
      <a
        href="#content"
        className="sr-only z-50 rounded-lg bg-surface px-3 py-2 shadow-high focus:not-sr-only focus:fixed focus:top-3 focus:left-3"
      >
        Skip to the page
      </a>
      <div className="sticky top-0 z-30 flex h-13 items-center justify-between border-b border-line bg-canvas px-4 lg:hidden">
        <Logo />
        <ZoneNote className="mr-3 ml-auto min-w-0 truncate" />
        <IconButton
          label="Open the menu"
          aria-expanded={isMenuOpen}
          onClick={() => setMenuOpen(true)}
        >
          <MenuIcon aria-hidden className="size-5" />
        </IconButton>
      </div>
      <aside className="sticky top-0 hidden h-dvh flex-col border-r border-line bg-canvas lg:flex">
        <SideMenu>
          <ZoneNote isRailed className="px-5 py-2 rail:px-1 rail:text-center" />
        </SideMenu>
      </aside>
      {isMenuOpen && <MobileMenu onClose={() => setMenuOpen(false)} />}
      <Announcer />
      {hasSessionEnded && (
        <Suspense>
          <SessionEnded />
        </Suspense>
      )}
      <main id="content" tabIndex={-1} className="min-w-0 focus:outline-none">
        <Outlet />
      </main>
    </div>
  )
}

/**
 * The browser's own modal dialog: it keeps the focus inside and closes on Escape, and costs
 * nothing.
 */
function MobileMenu({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    dialog.current?.showModal()
  }, [])
  return (
    <dialog
      ref={dialog}
      onClose={onClose}
      aria-label="Menu"
      className="m-0 h-dvh max-h-none w-72 max-w-[85vw] border-r border-line bg-canvas text-ink shadow-high backdrop:bg-black/40"
    >
      <div className="absolute top-2.5 right-3">
        <IconButton label="Close the menu" onClick={onClose}>
          <X aria-hidden className="size-5" />
        </IconButton>
      </div>
      <div className="flex h-full flex-col">
        <SideMenu />
      </div>
    </dialog>
  )
}

function SideMenu({ children }: { readonly children?: ReactNode }) {
  return (
    <>
      <div className="flex h-15 shrink-0 items-center px-5 rail:px-4.5">
        <Logo isRailed />
      </div>
      <nav
        aria-label="Pages"
        className="flex flex-1 flex-col gap-5 overflow-y-auto px-3 pb-4 rail:gap-3"
      >
        {NAVIGATION.map(({ heading, entries }) => (
          <div key={heading ?? ''} className="flex flex-col gap-0.5">
            {heading !== undefined && (
              <h2 className="px-2.5 pb-1 text-[11px] font-medium tracking-wide text-ink-faint uppercase rail:sr-only">
                {heading}
              </h2>
            )}
            {entries.map(({ to, label, icon: Icon }) => (
              <Link
                key={to}
                to={to}
                title={label}
                activeOptions={{ exact: to === '/', includeSearch: false }}
                className="flex h-8 items-center gap-2.5 rounded-lg px-2.5 text-sm text-ink-soft transition-colors hover:bg-sunken hover:text-ink"
                activeProps={{
                  className: classNames('bg-sunken font-medium !text-ink'),
                  'aria-current': 'page',
                }}
              >
                <Icon aria-hidden className="size-4 shrink-0" />
                <span className="rail:sr-only">{label}</span>
              </Link>
            ))}
          </div>
        ))}
      </nav>
      {children}
      <div className="shrink-0 border-t border-line p-2">
        <AccountMenu />
      </div>
    </>
  )
}
