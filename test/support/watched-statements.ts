/**
 * Counts the statements of a store, in all and within a step of the event loop, which calls wait
 * for.
 */
import type { Kysely, KyselyPlugin } from 'kysely'

export interface WatchedStatements<Tables> {
  /** Use this one in its place. */
  readonly database: Kysely<Tables>
  readonly statements: number
  readonly rows: number
  readonly mostRows: number
  readonly mostInOneTurn: number
}

export function watchStatements<Tables>(watched: Kysely<Tables>): WatchedStatements<Tables> {
  const seen = { statements: 0, rows: 0, mostRows: 0, mostInOneTurn: 0 }
  let inTurn = 0
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      // Scheduled with the first statement of a step, because watching every step keeps a core
      // busy.
      if (inTurn === 0)
        setImmediate(() => {
          inTurn = 0
        })
      inTurn += 1
      seen.statements += 1
      seen.rows += result.rows.length
      seen.mostRows = Math.max(seen.mostRows, result.rows.length)
      seen.mostInOneTurn = Math.max(seen.mostInOneTurn, inTurn)
      return result
    },
  }
  return {
    database: watched.withPlugin(plugin),
    get statements() {
      return seen.statements
    },
    get rows() {
      return seen.rows
    },
    get mostRows() {
      return seen.mostRows
    },
    get mostInOneTurn() {
      return seen.mostInOneTurn
    },
  }
}
