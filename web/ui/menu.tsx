import { DropdownMenu } from 'radix-ui'
import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'

interface MenuProps {
  readonly trigger: ReactNode
  readonly align?: 'start' | 'end'
  /** Called after closing; the focus returns to its button before React renders. */
  readonly onClosed?: () => void
  readonly children: ReactNode
}

export function Menu(props: MenuProps) {
  return <MenuAt {...props} isOpenAtFirst={false} />
}

export function OpenMenu(props: MenuProps) {
  return <MenuAt {...props} isOpenAtFirst />
}

function MenuAt({
  trigger,
  align = 'end',
  onClosed,
  children,
  isOpenAtFirst,
}: MenuProps & { readonly isOpenAtFirst: boolean }) {
  return (
    <DropdownMenu.Root modal={false} defaultOpen={isOpenAtFirst}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align={align}
          sideOffset={6}
          collisionPadding={8}
          onCloseAutoFocus={() => onClosed?.()}
          className="z-50 min-w-44 rounded-xl border border-line bg-surface p-1 shadow-high"
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

export function MenuItem({
  onSelect,
  isDanger = false,
  disabled = false,
  children,
}: {
  readonly onSelect: () => void
  readonly isDanger?: boolean
  readonly disabled?: boolean
  readonly children: ReactNode
}) {
  return (
    <DropdownMenu.Item
      onSelect={onSelect}
      disabled={disabled}
      className={classNames(
        'flex cursor-pointer items-center gap-2.5 rounded-lg px-2.5 py-1.5 text-sm outline-none select-none data-disabled:opacity-50 data-highlighted:bg-sunken [&>svg]:size-4',
        isDanger ? 'text-danger' : 'text-ink',
      )}
    >
      {children}
    </DropdownMenu.Item>
  )
}

export function MenuLink({
  href,
  download,
  children,
}: {
  readonly href: string
  readonly download?: string
  readonly children: ReactNode
}) {
  return (
    <DropdownMenu.Item asChild>
      <a
        href={href}
        download={download}
        className="flex items-center gap-2.5 rounded-lg px-2.5 py-1.5 text-sm text-ink outline-none select-none data-highlighted:bg-sunken [&>svg]:size-4"
      >
        {children}
      </a>
    </DropdownMenu.Item>
  )
}

export function MenuSeparator() {
  return <DropdownMenu.Separator className="my-1 h-px bg-line" />
}
