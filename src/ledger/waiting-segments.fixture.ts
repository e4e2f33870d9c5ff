/**
 * A process to be killed: journals calls into small segments that nobody ships, and adds up what
 * waits without a pause.
 */
import { writeSync } from 'node:fs'
import { createCallRecord } from './call-record.fixture.ts'
import { Journal } from './journal.ts'
import { WaitingSegments } from './waiting-segments.ts'

const [dataFolder = ''] = process.argv.slice(2)
const journal = new Journal(dataFolder, { segmentBytes: 4_000 })
const waiting = new WaitingSegments({ closed: journal.closed, intervalMs: 1 })
waiting.start()
const cost = { nanoUsd: 7, status: 'exact', source: 'test@1' } as const
for (;;) {
  const records = Array.from({ length: 5 }, () => createCallRecord({ cost }))
  await Promise.all(records.map((record) => journal.record(record)))
  writeSync(1, `${records.map((record) => record.id).join('\n')}\n`)
  await Bun.sleep(1)
}
