/** What the account's menu holds; fetched when it is first opened. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { LogOut, Monitor, Moon, Sun } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { type ReactElement, useState } from 'react'
import { ask } from '../api/ask.ts'
import { MenuItem, MenuSeparator, OpenMenu } from '../ui/menu.tsx'
import { describeError } from '../ui/states.tsx'
import { toast } from '../ui/toast.ts'
import { forgetSession } from './session-end.ts'
import { chooseTheme, readThemeChoice, type ThemeChoice } from './theme.ts'

const THEMES = [
  { choice: 'light', label: 'Light', icon: Sun },
  { choice: 'dark', label: 'Dark', icon: Moon },
  { choice: 'system', label: 'As the system', icon: Monitor },
] as const

export function AccountMenuItems({
  trigger,
  email,
}: {
  readonly trigger: ReactElement
  readonly email: string | undefined
}) {
  const [theme, setTheme] = useState(readThemeChoice)
  const queryClient = useQueryClient()
  const router = useRouter()
  const signOut = useMutation({
    mutationFn: () => ask('DELETE /v1/session'),
    onSuccess: () => {
      forgetSession()
      queryClient.clear()
      return router.navigate({ to: '/sign-in', search: { reason: 'signed-out' } })
    },
    onError: (error) => toast('error', describeError(error)),
  })
  return (
    <OpenMenu trigger={trigger} align="start">
      <p className="truncate px-2.5 py-1.5 text-xs text-ink-faint">{email}</p>
      <DropdownMenu.RadioGroup
        aria-label="Colours"
        value={theme}
        onValueChange={(choice) => {
          chooseTheme(choice as ThemeChoice)
          setTheme(choice as ThemeChoice)
        }}
      >
        {THEMES.map(({ choice, label, icon: Icon }) => (
          <DropdownMenu.RadioItem
            key={choice}
            value={choice}
            className="flex cursor-pointer items-center gap-2.5 rounded-lg px-2.5 py-1.5 text-sm text-ink outline-none data-highlighted:bg-sunken data-[state=checked]:font-medium"
          >
            <Icon aria-hidden className="size-4" />
            {label}
            {theme === choice && <span className="ml-auto text-xs text-ink-faint">chosen</span>}
          </DropdownMenu.RadioItem>
        ))}
      </DropdownMenu.RadioGroup>
      <MenuSeparator />
      <MenuItem onSelect={() => signOut.mutate()}>
        <LogOut aria-hidden />
        Sign out
      </MenuItem>
    </OpenMenu>
  )
}
