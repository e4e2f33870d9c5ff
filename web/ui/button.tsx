import { createLink } from '@tanstack/react-router'
import { LoaderCircle } from 'lucide-react'
import type { AnchorHTMLAttributes, ButtonHTMLAttributes, Ref } from 'react'
import { classNames } from './class-names.ts'

type Look = 'primary' | 'plain' | 'quiet' | 'danger'
type Size = 'small' | 'medium'

interface Appearance {
  readonly look?: Look
  readonly size?: Size
}

const LOOKS: Readonly<Record<Look, string>> = {
  primary: 'bg-accent text-on-accent border-transparent hover:bg-accent-strong',
  plain: 'bg-surface text-ink border-line-strong hover:bg-sunken',
  quiet: 'bg-transparent text-ink-soft border-transparent hover:bg-sunken hover:text-ink',
  danger: 'bg-surface text-danger border-line-strong hover:bg-danger-soft hover:border-danger',
}

const SIZES: Readonly<Record<Size, string>> = {
  small: 'h-7 px-2.5 text-[13px] gap-1.5 rounded-md',
  medium: 'h-9 px-3.5 text-sm gap-2 rounded-lg',
}

function appearance({ look = 'plain', size = 'medium' }: Appearance, className?: string): string {
  return classNames(
    'inline-flex shrink-0 items-center justify-center whitespace-nowrap border font-medium select-none transition-colors disabled:opacity-50 aria-disabled:opacity-50',
    LOOKS[look],
    SIZES[size],
    className,
  )
}

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement>, Appearance {
  readonly isBusy?: boolean
  /** Disables the button without losing the focus, unlike `disabled`. */
  readonly isIdle?: boolean
  readonly ref?: Ref<HTMLButtonElement>
}

export function Button({
  look,
  size,
  isBusy = false,
  isIdle = false,
  className,
  onClick,
  children,
  ...rest
}: ButtonProps) {
  const isInert = isBusy || isIdle
  // A busy button is not disabled, because keyboard users would lose the focus.
  return (
    <button
      type="button"
      {...rest}
      onClick={isInert ? (event) => event.preventDefault() : onClick}
      aria-disabled={isInert || undefined}
      aria-busy={isBusy || undefined}
      className={appearance({ look, size }, className)}
    >
      {isBusy && <LoaderCircle aria-hidden className="size-4 animate-spin" />}
      {children}
    </button>
  )
}

export function RowButton({
  act,
  of,
  ...rest
}: Omit<ButtonProps, 'size' | 'children'> & { readonly act: string; readonly of: string }) {
  return (
    <Button {...rest} size="small" aria-label={`${act} ${of}`}>
      {act}
    </Button>
  )
}

export interface IconButtonProps extends Omit<ButtonProps, 'children'> {
  readonly label: string
  readonly children: React.ReactNode
}

export function IconButton({
  label,
  look = 'quiet',
  className,
  children,
  ...rest
}: IconButtonProps) {
  return (
    <Button
      {...rest}
      look={look}
      aria-label={label}
      title={label}
      className={classNames('!px-0 aspect-square', className)}
    >
      {children}
    </Button>
  )
}

interface AnchorProps extends AnchorHTMLAttributes<HTMLAnchorElement>, Appearance {
  readonly ref?: Ref<HTMLAnchorElement>
}

export function Anchor({ look, size, className, ...rest }: AnchorProps) {
  return <a {...rest} className={appearance({ look, size }, className)} />
}

export const LinkButton = createLink(Anchor)
