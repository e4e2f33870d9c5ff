/**
 * Reports when the process is about to run out of file descriptors. Without a free descriptor, a
 * server can neither accept connections, call upstreams nor write files.
 */
import type { Timekeeper } from '../core/clock.ts'
import { type DescriptorFigures, ownDescriptors } from './open-descriptors.ts'

/** Above this share of descriptors, idle connections are closed. */
const CROWDED_AT = 0.8
const LOOK_EVERY_MS = 1_000

export interface DescriptorMonitor {
  readonly isCrowded: boolean
  /** Maximum number of client connections. Upstreams and files use the other file descriptors. */
  readonly mostConnections: number
  close(): void
}

export interface DescriptorMonitorOptions {
  readonly clock: Pick<Timekeeper, 'every'>
  readonly onChange: (
    isCrowded: boolean,
    figures: { readonly open: number; readonly most: number },
  ) => void
  readonly figures?: DescriptorFigures | undefined
}

export function monitorDescriptors({
  clock,
  onChange,
  figures = ownDescriptors(),
}: DescriptorMonitorOptions): DescriptorMonitor {
  let isCrowded = false
  // The figures are available only on Linux.
  if (figures === undefined)
    return { isCrowded, mostConnections: Number.POSITIVE_INFINITY, close: () => {} }
  const { most } = figures
  const close = clock.every(LOOK_EVERY_MS, () => {
    const open = figures.count()
    if (open >= most * CROWDED_AT === isCrowded) return
    isCrowded = !isCrowded
    onChange(isCrowded, { open, most })
  })
  return {
    get isCrowded() {
      return isCrowded
    },
    mostConnections: Math.floor(most * CROWDED_AT),
    close,
  }
}
