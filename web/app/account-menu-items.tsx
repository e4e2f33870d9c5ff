import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { Clock, Globe, LogOut, type LucideIcon, Monitor, Moon, Sun } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { type ReactElement, useState } from 'react'
import { ask } from '../api/ask.ts'
import { nameZone, type TimeZone } from '../format/time-zone.ts'
import { MenuItem, MenuSeparator, OpenMenu } from '../ui/menu.tsx'
import { useChange } from '../ui/use-change.ts'
import { chooseTimeZone, useTimeZone } from '../ui/use-time-zone.ts'
import { forgetSession } from './connection.ts'
import { chooseTheme, readThemeChoice, type ThemeChoice } from './theme.ts'

interface Choice<Name> {
  readonly choice: Name
  readonly label: string
  readonly icon: LucideIcon
}

const THEMES: readonly Choice<ThemeChoice>[] = [
  { choice: 'light', label: 'Light', icon: Sun },
  { choice: 'dark', label: 'Dark', icon: Moon },
  { choice: 'system', label: 'As the system', icon: Monitor },
]

const ZONES: readonly Choice<TimeZone>[] = [
  { choice: 'local', label: `Times in ${nameZone('local')}`, icon: Clock },
  { choice: 'utc', label: 'Times in UTC', icon: Globe },
]

export function AccountMenuItems({
  trigger,
  email,
}: {
  readonly trigger: ReactElement
  readonly email: string | undefined
}) {
  const [theme, setTheme] = useState(readThemeChoice)
  const zone = useTimeZone()
  const queryClient = useQueryClient()
  const router = useRouter()
  const signOut = useChange({
    send: () => ask('DELETE /v1/session'),
    onDone: () => {
      forgetSession()
      queryClient.clear()
      return router.navigate({ to: '/sign-in', search: { reason: 'signed-out' } })
    },
    saysFailure: true,
  })
  return (
    <OpenMenu trigger={trigger} align="start">
      <p className="truncate px-2.5 py-1.5 text-xs text-ink-faint">{email}</p>
      <Choices
        label="Colours"
        choices={THEMES}
        chosen={theme}
        onChoose={(choice) => {
          chooseTheme(choice)
          setTheme(choice)
        }}
      />
      <MenuSeparator />
      <Choices label="Time zone" choices={ZONES} chosen={zone} onChoose={chooseTimeZone} />
      <MenuSeparator />
      <MenuItem onSelect={() => signOut.mutate()}>
        <LogOut aria-hidden />
        Sign out
      </MenuItem>
    </OpenMenu>
  )
}

function Choices<Name extends string>({
  label,
  choices,
  chosen,
  onChoose,
}: {
  readonly label: string
  readonly choices: readonly Choice<Name>[]
  readonly chosen: Name
  readonly onChoose: (choice: Name) => void
}) {
  return (
    <DropdownMenu.RadioGroup aria-label={label} value={chosen}>
      {choices.map(({ choice, label: name, icon: Icon }) => (
        <DropdownMenu.RadioItem
          key={choice}
          value={choice}
          onSelect={() => onChoose(choice)}
          className="flex cursor-pointer items-center gap-2.5 rounded-lg px-2.5 py-1.5 text-sm text-ink outline-none data-highlighted:bg-sunken data-[state=checked]:font-medium"
        >
          <Icon aria-hidden className="size-4" />
          {name}
          {chosen === choice && <span className="ml-auto pl-3 text-xs text-ink-faint">chosen</span>}
        </DropdownMenu.RadioItem>
      ))}
    </DropdownMenu.RadioGroup>
  )
}
