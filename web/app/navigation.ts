/** The menu's entries, in their order. A page that is not here is reached from another page. */
import {
  BookOpen,
  ChartColumnStacked,
  KeyRound,
  LayoutDashboard,
  type LucideIcon,
  MessagesSquare,
  Plug,
  Route,
  ScrollText,
  Server,
  Settings,
} from 'lucide-react'

export interface NavigationEntry {
  readonly to: string
  readonly label: string
  readonly icon: LucideIcon
}

export interface NavigationGroup {
  /** Undefined: the first entries need no heading. */
  readonly heading: string | undefined
  readonly entries: readonly NavigationEntry[]
}

export const NAVIGATION: readonly NavigationGroup[] = [
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
      { to: '/owned-models', label: 'Owned models', icon: Server },
    ],
  },
  {
    heading: 'Access',
    entries: [
      { to: '/keys', label: 'API Keys', icon: KeyRound },
      { to: '/provider-keys', label: 'Provider keys', icon: Plug },
    ],
  },
  {
    heading: 'Usage',
    entries: [
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
