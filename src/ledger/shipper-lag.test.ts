import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { shipperLagSeconds } from './shipper.ts'

test('is the age of the oldest waiting segment, and zero without one or if it has just gone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'shipper-lag-'))
  try {
    const path = join(folder, '1.journal')
    const closed = {
      list: () => [
        { path, bytes: 1 },
        { path: join(folder, '2.journal'), bytes: 1 },
      ],
    }
    expect(shipperLagSeconds({ list: () => [] })).toBe(0)
    expect(shipperLagSeconds(closed)).toBe(0)
    writeFileSync(path, 'x')
    utimesSync(path, 1_000, 1_000)
    expect(shipperLagSeconds(closed, 1_090_000)).toBe(90)
    expect(shipperLagSeconds(closed, 0)).toBe(0)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
