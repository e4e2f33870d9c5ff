/** Tables on screens of every width. */
import { describe, expect, test } from 'bun:test'
import { formatTable } from './output.ts'
import { processTerminal } from './process-terminal.ts'
import { withTerminal } from './terminal.ts'

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

test('a table in a pipe is never cut, since programs read the ids in the last column', () => {
  const id = `req_${'0123456789'.repeat(20)}`
  const table = (isTerminal: boolean) => {
    const screen = { isTerminal, width: 80, write: () => {} }
    return withTerminal({ ...processTerminal, output: screen }, () =>
      formatTable({ TIME: () => '09:30', ID: () => id }, [{}]),
    )
  }
  expect(table(false)).toEndWith(id)
  expect(table(true)).toEndWith('…')
})
