import { expect, test } from 'bun:test'
import { describeEndReport } from './end-report.ts'

test('a report names the ended calls, and nodes that did not confirm', () => {
  const words = (callsEnded: number, nodesNotHeard: number) =>
    describeEndReport({ callsEnded, nodesNotHeard })
  expect(words(0, 0)).toBe('No call was running.')
  expect(words(1, 0)).toBe('1 running call ended.')
  expect(words(1200, 1)).toBe(
    '1,200 running calls ended. 1 node did not confirm, and may still run calls that began before.',
  )
  expect(words(2, 2)).toContain('2 nodes did not confirm')
  expect(describeEndReport(null)).toBe('')
})
