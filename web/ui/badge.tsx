/** A short state as a word, so that the state does not depend on colour. */
import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'

export type Tone = 'neutral' | 'accent' | 'ok' | 'warn' | 'danger'

const TONES: Readonly<Record<Tone, string>> = {
  neutral: 'bg-sunken text-ink-soft',
  accent: 'bg-accent-soft text-accent-strong',
  ok: 'bg-ok-soft text-ok',
  warn: 'bg-warn-soft text-warn',
  danger: 'bg-danger-soft text-danger',
}

const DOTS: Readonly<Record<Tone, string>> = {
  neutral: 'bg-ink-faint',
  accent: 'bg-accent',
  ok: 'bg-ok',
  warn: 'bg-warn',
  danger: 'bg-danger',
}

export function Badge({
  tone = 'neutral',
  hasDot = false,
  children,
}: {
  readonly tone?: Tone
  readonly hasDot?: boolean
  readonly children: ReactNode
}) {
  return (
    <span
      className={classNames(
        'inline-flex h-5.5 items-center gap-1.5 rounded-full px-2 text-xs font-medium whitespace-nowrap',
        TONES[tone],
      )}
    >
      {hasDot && <span aria-hidden className={classNames('size-1.5 rounded-full', DOTS[tone])} />}
      {children}
    </span>
  )
}
