import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import {
  BookOpen,
  Boxes,
  ChartColumnStacked,
  ChevronsUpDown,
  History,
  KeyRound,
  LayoutDashboard,
  type LucideIcon,
  Menu as MenuIcon,
  MessagesSquare,
  Plug,
  Route,
  ScrollText,
  Server,
  Settings,
  Terminal,
  Users,
  X,
} from 'lucide-react'
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react'
import { operationQuery } from '../api/operation-query.ts'
import { nameOffset, nameZone } from '../format/time-zone.ts'
import { Announcer } from '../ui/announcer.tsx'
import { IconButton } from '../ui/button.tsx'
import { classNames } from '../ui/class-names.ts'
import { useKeptFocus } from '../ui/kept-focus.ts'
import { Logo } from '../ui/logo.tsx'
import { useTimeZone } from '../ui/use-time-zone.ts'
import { useHasSessionEnded } from './connection.ts'

const SessionEnded = lazy(async () => ({
  default: (await import('./session-ended.tsx')).SessionEnded,
}))

export function Shell() {
  const [isMenuOpen, setMenuOpen] = useState(false)
  const hasSessionEnded = useHasSessionEnded()
  const content = useRef<HTMLElement>(null)
  useKeptFocus(content)
  const path = useLocation({ select: (location) => location.pathname })
  // biome-ignore lint/correctness/useExhaustiveDependencies: navigation closes the menu
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
        <ZoneNote className="mx-3 min-w-0 flex-1 truncate text-right" />
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
          <ZoneNote isRailed className="shrink-0 px-5 py-2 rail:px-1 rail:text-center" />
        </SideMenu>
      </aside>
      {/* A modal dialog would cover the dialog of `SessionEnded`. */}
      {isMenuOpen && !hasSessionEnded && <MobileMenu onClose={() => setMenuOpen(false)} />}
      <Announcer />
      {hasSessionEnded && (
        <Suspense>
          <SessionEnded />
        </Suspense>
      )}
      <main ref={content} id="content" tabIndex={-1} className="min-w-0 focus:outline-none">
        <Outlet />
      </main>
    </div>
  )
}

/**
 * The browser's own modal dialog, which traps the focus and closes on Escape without extra code.
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

const AccountMenuItems = lazy(async () => ({
  default: (await import('./account-menu-items.tsx')).AccountMenuItems,
}))

/** The menu's items are loaded when the menu first opens, so that the page loads faster. */
function AccountMenu() {
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

function ZoneNote({
  className,
  isRailed = false,
}: {
  readonly className: string
  /** True in the menu, which may be a row of icons. */
  readonly isRailed?: boolean
}) {
  const zone = useTimeZone()
  const offset = nameOffset(zone, Date.now())
  const words = `Times in ${nameZone(zone)}`
  return (
    <p
      role="note"
      title={`${words}${zone === 'utc' ? '' : ` (${offset} now)`}. The menu of your account has the switch.`}
      className={classNames('text-xs text-ink-faint', className)}
    >
      <span className={isRailed ? 'rail:sr-only' : undefined}>{words}</span>
      {isRailed && (
        <span aria-hidden className="hidden text-[10px] rail:block">
          {offset}
        </span>
      )}
    </p>
  )
}

interface NavigationEntry {
  readonly to: string
  readonly label: string
  readonly icon: LucideIcon
}

interface NavigationGroup {
  readonly heading: string | undefined
  readonly entries: readonly NavigationEntry[]
}

const NAVIGATION: readonly NavigationGroup[] = [
  {
    heading: undefined,
    entries: [
      { to: '/', label: 'Overview', icon: LayoutDashboard },
      { to: '/playground', label: 'Playground', icon: MessagesSquare },
    ],
  },
  {
    heading: 'Traffic',
    entries: [
      { to: '/gates', label: 'Gates', icon: Route },
      { to: '/models', label: 'Models', icon: Boxes },
      { to: '/owned-models', label: 'Owned models', icon: Server },
    ],
  },
  {
    heading: 'Access',
    entries: [
      { to: '/keys', label: 'Tokens and API Keys', icon: KeyRound },
      { to: '/connect', label: 'Connect', icon: Terminal },
      { to: '/provider-keys', label: 'Provider keys', icon: Plug },
    ],
  },
  {
    heading: 'Usage',
    entries: [
      { to: '/people', label: 'People', icon: Users },
      { to: '/sessions', label: 'Sessions', icon: History },
      { to: '/logs', label: 'Logs', icon: ScrollText },
      { to: '/analytics', label: 'Analytics', icon: ChartColumnStacked },
    ],
  },
  {
    heading: 'Account',
    entries: [
      { to: '/settings', label: 'Settings', icon: Settings },
      { to: '/docs', label: 'Docs', icon: BookOpen },
    ],
  },
]
