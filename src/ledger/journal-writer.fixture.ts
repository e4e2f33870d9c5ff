/**
 * A process to be killed: journals records as fast as it can and prints each id once its promise
 * has resolved.
 */
import { writeSync } from 'node:fs'
import { createCallRecord } from './call-record.fixture.ts'
import { Journal } from './journal.ts'

const [dataFolder = '', recordsPerTurn = '1', segmentBytes = '4194304', turns = 'Infinity'] =
  process.argv.slice(2)
const journal = new Journal(dataFolder, { segmentBytes: Number(segmentBytes) })
for (let turn = 0; turn < Number(turns); turn += 1) {
  const records = Array.from({ length: Number(recordsPerTurn) }, () => createCallRecord())
  try {
    await Promise.all(records.map((record) => journal.record(record)))
    writeSync(1, `${records.map((record) => record.id).join('\n')}\n`)
  } catch {
    writeSync(2, `${journal.state().reason}\n`)
  }
}
journal.close()
