/** Tables on screens of every width. */
import { describe, expect, test } from 'bun:test'
import { formatTable } from './output.ts'

describe('the last column of a table', () => {
  const rows = [{ time: '2026-11-26 02:32', id: 'req_01a215ac0ca47378a84e0c84fe77547a' }]
  const at = (width: number) =>
    formatTable({ TIME: (row) => row.time, ID: (row) => row.id }, rows, width).split('\n')[1]

  test('is cut where the screen ends', () => {
    expect(at(30)).toBe('2026-11-26 02:32  req_01a215a…')
    expect(at(80)).toBe('2026-11-26 02:32  req_01a215ac0ca47378a84e0c84fe77547a')
  })

  test('is whole where the others leave it no room: an id of two letters names nothing', () => {
    for (const width of [25, 18, 10])
      expect(at(width)).toBe('2026-11-26 02:32  req_01a215ac0ca47378a84e0c84fe77547a')
  })
})
