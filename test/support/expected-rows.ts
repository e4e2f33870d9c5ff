/**
 * What the ledger should come to hold, noted while calls are made and checked once at the end: rows
 * are shipped in batches, and waiting for each of them would take longer than all the calls.
 */
import { expect } from 'bun:test'
import { type ControlPlane, type LogRow, waitForLogRow } from './control-plane.ts'
import type { RawAnswer } from './raw-client.ts'

export interface ExpectedRows {
  /** Notes what the row of this answer's call must hold. */
  expectRow(answer: RawAnswer, row: Partial<LogRow>): void
  /** Waits for every noted row and compares. @throws when nothing was noted. */
  check(server: ControlPlane): Promise<void>
}

export function createExpectedRows(): ExpectedRows {
  const noted = new Map<string, Partial<LogRow>>()
  return {
    expectRow: (answer, row) => {
      const id = answer.headers['x-request-id'] ?? ''
      expect(id).toMatch(/^req_/)
      noted.set(id, { id, ...row })
    },
    check: async (server) => {
      expect(noted.size).toBeGreaterThan(0)
      for (const [id, row] of noted) expect(await waitForLogRow(server, id)).toMatchObject(row)
    },
  }
}
