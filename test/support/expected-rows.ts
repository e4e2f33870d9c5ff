/**
 * The rows that the ledger should contain, noted during the calls and checked once at the end,
 * because rows are shipped in batches.
 */
import { expect } from 'bun:test'
import { type ControlPlane, type LogRow, waitForLogRow } from './control-plane.ts'
import type { RawAnswer } from './raw-client.ts'

export interface ExpectedRows {
  expectRow(answer: RawAnswer, row: Partial<LogRow>): void
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
