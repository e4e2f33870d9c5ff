/**
 * Acknowledged records of the journal outlive a process that is killed without warning: real
 * processes, real signals.
 */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readClosed } from './call-record.fixture.ts'
import { Journal } from './journal.ts'

const WRITER = join(import.meta.dir, 'journal-writer.fixture.ts')

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-kill-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

/**
 * Runs the writer, kills it once it has printed so many bytes; the ids it had printed whole by
 * then.
 */
async function writeUntilKilled(
  recordsPerTurn: number,
  segmentBytes: number,
  outputBytes: number,
): Promise<string[]> {
  const writer = Bun.spawn(
    [process.execPath, WRITER, folder, String(recordsPerTurn), String(segmentBytes)],
    {
      stdout: 'pipe',
      stderr: 'inherit',
    },
  )
  let output = ''
  const decoder = new TextDecoder()
  for await (const chunk of writer.stdout) {
    output += decoder.decode(chunk, { stream: true })
    if (output.length > outputBytes) writer.kill('SIGKILL')
  }
  await writer.exited
  expect(writer.signalCode).toBe('SIGKILL')
  return output.slice(0, output.lastIndexOf('\n')).split('\n')
}

test.each([
  [1, 4_000_000],
  [7, 20_000],
  [100, 300_000],
])(
  'after SIGKILL, records of turns of %d in segments of %d bytes are all there, each once',
  async (perTurn, segmentBytes) => {
    const printed: string[] = []
    for (const outputBytes of [1000, 20_000, 60_000])
      printed.push(...(await writeUntilKilled(perTurn, segmentBytes, outputBytes)))
    const journal = new Journal(folder)
    const { records, damagedLines } = await readClosed(journal)
    journal.close()
    const recovered = records.map((record) => record.id as string)
    expect(new Set(recovered).size).toBe(recovered.length)
    const found = new Set(recovered)
    expect(printed.filter((id) => !found.has(id))).toEqual([])
    expect(printed.length).toBeGreaterThan(1000)
    // The kernel may stop a write in the middle, once for each kill.
    expect(damagedLines).toBeLessThanOrEqual(3)
  },
)
