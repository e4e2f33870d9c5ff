/**
 * The paints of what a chart draws, as this browser gave them: the same on every page and in every
 * range.
 */
import { useMemo } from 'react'
import { takePaints } from './paint-book.ts'
import type { Paint } from './palette.ts'

const STORED_AS = 'gatehouse-paints-'

/** @param kind of the things: a gate and a target of one name are two things */
export function usePaints(kind: string, ids: readonly string[]): ReadonlyMap<string, Paint> {
  const idText = JSON.stringify(ids)
  return useMemo(() => {
    const before = localStorage.getItem(STORED_AS + kind)
    const { paints, book } = takePaints(before, JSON.parse(idText) as string[])
    if (book !== before) localStorage.setItem(STORED_AS + kind, book)
    return paints
  }, [kind, idText])
}
