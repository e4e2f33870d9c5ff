/**
 * Says whether the process is about to run out of handles, for connections take one each and a
 * server without any can accept nothing, ask nobody and write nothing down. Knows no connection.
 */
import type { Timekeeper } from '../core/clock.ts'
import { type HandleFigures, ownHandles } from './open-handles.ts'

/** From this part of them on, idle connections are not kept; those of clients may be as many. */
const CROWDED_AT = 0.8
const LOOK_EVERY_MS = 1_000

export interface HandleRoom {
  readonly isCrowded: boolean
  /** The rest of the handles is for upstreams and files. */
  readonly mostConnections: number
  /** Looks no more. */
  close(): void
}

export interface HandleRoomOptions {
  readonly clock: Pick<Timekeeper, 'every'>
  /** Called when it becomes crowded, and when there is room again. */
  readonly onChange: (
    isCrowded: boolean,
    figures: { readonly open: number; readonly most: number },
  ) => void
  /** Absent: this process's. */
  readonly figures?: HandleFigures | undefined
}

export function watchHandles({
  clock,
  onChange,
  figures = ownHandles(),
}: HandleRoomOptions): HandleRoom {
  let isCrowded = false
  // Elsewhere than on Linux nobody can tell.
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
