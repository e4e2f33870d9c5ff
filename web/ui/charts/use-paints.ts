import { useMemo } from 'react'
import { PAINT_COUNT, type Paint, paintAt, partsOf } from './palette.ts'

const STORED_AS = 'gatehouse-paints-'

/**
 * The paints of a chart's items, remembered by this browser: the same on every page and in every
 * range.
 * @param kind of the items, because a gate and a target may have the same name
 */
export function usePaints(kind: string, ids: readonly string[]): ReadonlyMap<string, Paint> {
  const idText = JSON.stringify(ids)
  return useMemo(() => {
    const before = localStorage.getItem(STORED_AS + kind)
    const { paints, book } = takePaints(before, JSON.parse(idText) as string[])
    if (book !== before) localStorage.setItem(STORED_AS + kind, book)
    return paints
  }, [kind, idText])
}

/** An item's hash and its paint; the most recently drawn item is last. */
type Entry = readonly [mark: number, slot: number]

interface Painted {
  readonly paints: ReadonlyMap<string, Paint>
  readonly book: string
}

/**
 * @param ids of everything drawn together, without duplicates; ids beyond the number of paints get
 * no paint
 */
export function takePaints(book: string | null, ids: readonly string[]): Painted {
  const wanted = ids.slice(0, PAINT_COUNT).map((id) => ({ id, mark: markOf(id) }))
  const marks = new Set(wanted.map(({ mark }) => mark))
  const entries = readBook(book)
  const drawn = new Map(entries.filter(([mark]) => marks.has(mark)))
  const others = entries.filter(([mark]) => !marks.has(mark))
  const missing = wanted.filter(({ mark }) => !drawn.has(mark))
  // When all paints are taken, the item that was not drawn for longest loses its paint.
  const kept = others.slice(Math.max(0, others.length + drawn.size + missing.length - PAINT_COUNT))
  const taken = new Set([...kept, ...drawn].map(([, slot]) => slot))
  for (const { mark } of missing) {
    if (drawn.has(mark)) continue
    const slot = chooseSlot(mark % PAINT_COUNT, taken)
    taken.add(slot)
    drawn.set(mark, slot)
  }
  return {
    paints: new Map(wanted.map(({ id, mark }) => [id, paintAt(drawn.get(mark) ?? 0)])),
    book: JSON.stringify([...kept, ...drawn]),
  }
}

/**
 * The free paint whose colour and pattern are used least. The name decides ties, so every browser
 * decides alike.
 */
function chooseSlot(preferred: number, taken: ReadonlySet<number>): number {
  const colors = new Map<number, number>()
  const patterns = new Map<number, number>()
  for (const slot of taken) {
    const { color, pattern } = partsOf(slot)
    colors.set(color, (colors.get(color) ?? 0) + 1)
    patterns.set(pattern, (patterns.get(pattern) ?? 0) + 1)
  }
  let best = preferred
  let least = Number.POSITIVE_INFINITY
  for (let step = 0; step < PAINT_COUNT; step += 1) {
    const slot = (preferred + step) % PAINT_COUNT
    if (taken.has(slot)) continue
    const { color, pattern } = partsOf(slot)
    const used = (colors.get(color) ?? 0) + (patterns.get(pattern) ?? 0)
    if (used < least) [best, least] = [slot, used]
  }
  return best
}

/** FNV-1a, 32 bits: short, of fixed length, and without the names of an account's gates. */
function markOf(id: string): number {
  let mark = 0x811c9dc5
  for (const byte of new TextEncoder().encode(id)) mark = Math.imul(mark ^ byte, 0x01000193)
  return mark >>> 0
}

/** An invalid record is discarded, because only colours depend on it. */
function readBook(text: string | null): readonly Entry[] {
  const entries = parseEntries(text ?? '[]')
  const isSound =
    entries.length <= PAINT_COUNT &&
    new Set(entries.map(([mark]) => mark)).size === entries.length &&
    new Set(entries.map(([, slot]) => slot)).size === entries.length
  return isSound ? entries : []
}

function parseEntries(text: string): readonly Entry[] {
  const numbers = /^\[(?:\[\d{1,10},\d{1,2}\],?)*\]$/.test(text) ? (text.match(/\d+/g) ?? []) : []
  const entries: Entry[] = []
  for (let at = 0; at < numbers.length; at += 2) {
    const slot = Number(numbers[at + 1])
    if (slot < PAINT_COUNT) entries.push([Number(numbers[at]), slot])
  }
  return entries
}
