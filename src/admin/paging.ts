/**
 * Cuts lists into pages. A cursor names the last row seen, so that rows that come or go meanwhile
 * shift nothing.
 */
import { refuse } from './refusals.ts'

/**
 * Any that a row has, and none, which comes before all others of its moment. The database is not
 * asked for more: Postgres refuses a NUL in text.
 */
const ID = /^[\w.-]{0,100}$/

/** A row's place in the order newest first. */
export interface Position {
  /** Milliseconds since the Unix epoch. */
  readonly at: number
  readonly id: string
}

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}

export function encodeCursor(position: Position): string {
  return Buffer.from(JSON.stringify([position.at, position.id])).toString('base64url')
}

/** @throws GatewayError `invalid_request` for anything but what `encodeCursor` made. */
export function decodeCursor(cursor: string | undefined): Position | undefined {
  if (cursor === undefined) return undefined
  const position = parsePosition(cursor)
  if (position === undefined || encodeCursor(position) !== cursor) {
    throw refuse([{ field: 'cursor', message: 'is not a cursor of this list' }])
  }
  return position
}

/** `rows`: newest first, and one more than `limit` when there are more. */
export function toPage<Item>(
  rows: readonly Item[],
  limit: number,
  positionOf: (item: Item) => Position,
): Page<Item> {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return {
    items,
    nextCursor: rows.length > limit && last !== undefined ? encodeCursor(positionOf(last)) : null,
  }
}

/** True where a row at `position` comes after `cursor` in the order newest first. */
export function isAfter(position: Position, cursor: Position | undefined): boolean {
  if (cursor === undefined) return true
  return position.at < cursor.at || (position.at === cursor.at && position.id < cursor.id)
}

function parsePosition(cursor: string): Position | undefined {
  if (cursor.length > 300) return undefined
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (!Array.isArray(parsed) || parsed.length !== 2) return undefined
    const [at, id]: readonly unknown[] = parsed
    if (typeof id !== 'string' || !ID.test(id)) return undefined
    return Number.isSafeInteger(at) ? { at: Number(at), id } : undefined
  } catch {
    return undefined
  }
}
