/**
 * Splits lists into pages. A cursor identifies the last row seen, so that rows added or deleted
 * meanwhile shift nothing.
 */
import { refuse } from './refusals.ts'

/**
 * Any id of a row, or an empty text, which sorts before all other ids of its time. Other texts are
 * not sent to the database: Postgres refuses a NUL in text.
 */
const ID = /^[\w.-]{0,100}$/

export interface Position {
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

/** @throws GatewayError `invalid_request` for anything not made by `encodeCursor` */
export function decodeCursor(cursor: string | undefined): Position | undefined {
  if (cursor === undefined) return undefined
  const position = parsePosition(cursor)
  if (position === undefined || encodeCursor(position) !== cursor) {
    throw refuse([{ field: 'cursor', message: 'is not a cursor of this list' }])
  }
  return position
}

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
