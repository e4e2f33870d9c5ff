/**
 * The operator's price entries that costs came from, by the hash in a cost's source. Never deleted:
 * rows and sums outlive the configuration file.
 */
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

export interface PriceEntry {
  readonly hash: string
  /** JSON. */
  readonly text: string
  /** Milliseconds since the Unix epoch. */
  readonly firstUsedAt: number
}

/** Far below the databases' limits on parameters per statement. */
const ROWS_PER_STATEMENT = 500

export class PriceEntryStore {
  readonly #database: Kysely<Schema>

  constructor(database: Kysely<Schema>) {
    this.#database = database
  }

  /** Entries with a known hash stay unchanged. */
  async add(entries: readonly PriceEntry[]): Promise<void> {
    for (let at = 0; at < entries.length; at += ROWS_PER_STATEMENT)
      await this.#database
        .insertInto('price_entries')
        .values(
          entries.slice(at, at + ROWS_PER_STATEMENT).map(({ hash, text, firstUsedAt }) => ({
            hash,
            entry: text,
            first_used_at: firstUsedAt,
          })),
        )
        .onConflict((conflict) => conflict.column('hash').doNothing())
        .execute()
  }

  async find(hash: string): Promise<PriceEntry | undefined> {
    const row = await this.#database
      .selectFrom('price_entries')
      .selectAll()
      .where('hash', '=', hash)
      .executeTakeFirst()
    return row && { hash, text: row.entry, firstUsedAt: row.first_used_at }
  }
}
