/** All that can be done with a key. */
import { CalendarClock, Ellipsis, RefreshCw, Trash2 } from 'lucide-react'
import { useRef } from 'react'
import { IconButton } from '../../ui/button.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/menu.tsx'

export type KeyStep = 'change' | 'rotate' | 'delete'

export function KeyMenu({
  name,
  hasExpired,
  onChoose,
}: {
  readonly name: string
  /** Expired keys are only renamed or deleted. */
  readonly hasExpired: boolean
  readonly onChoose: (step: KeyStep) => void
}) {
  // A dialog that opened earlier would give the focus back to an entry that is gone.
  const chosen = useRef<KeyStep>(undefined)
  const choose = (step: KeyStep) => () => {
    chosen.current = step
  }
  return (
    <Menu
      trigger={
        <IconButton size="small" label={`Actions for ${name}`}>
          <Ellipsis aria-hidden className="size-4" />
        </IconButton>
      }
      onClosed={() => {
        const step = chosen.current
        chosen.current = undefined
        if (step !== undefined) onChoose(step)
      }}
    >
      <MenuItem onSelect={choose('change')}>
        <CalendarClock aria-hidden />
        Edit
      </MenuItem>
      <MenuItem onSelect={choose('rotate')} disabled={hasExpired}>
        <RefreshCw aria-hidden />
        Rotate
      </MenuItem>
      <MenuSeparator />
      <MenuItem isDanger onSelect={choose('delete')}>
        <Trash2 aria-hidden />
        Delete
      </MenuItem>
    </Menu>
  )
}
