/**
 * A disk that fails: full, read-only, limited, deleted. Real file systems; those that need a mount
 * need root.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testIf } from '../../test/support/skip-unless.ts'
import type { CallRecord } from '../core/call.ts'
import { createCallRecord, readClosed } from './call-record.fixture.ts'
import { Journal, type JournalOptions } from './journal.ts'
import type { LedgerEvent } from './ledger-event.ts'

const FAST_PROBE_MS = 5
let folder = ''
let events: LedgerEvent[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-disk-'))
  events = []
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

function openJournal(options: JournalOptions = {}): Journal {
  return new Journal(folder, {
    probeIntervalMs: FAST_PROBE_MS,
    report: (event) => events.push(event),
    ...options,
  })
}

async function untilWritable(journal: Journal): Promise<void> {
  while (!journal.state().writable) await Bun.sleep(1)
}

async function recoverIds(): Promise<string[]> {
  const journal = new Journal(folder)
  const { records, damagedLines } = await readClosed(journal)
  journal.close()
  expect(damagedLines).toBe(0)
  return records.map((record) => record.id)
}

/** A file stands in place of the folder: nothing can be created, root or not. */
function breakFolder(): void {
  rmSync(join(folder, 'journal'), { recursive: true, force: true })
  writeFileSync(join(folder, 'journal'), 'in the way')
}

test('a folder deleted under a running journal is created again, and no acknowledged record is lost', async () => {
  const journal = openJournal()
  const before = createCallRecord()
  const after = createCallRecord()
  await journal.record(before)
  rmSync(join(folder, 'journal'), { recursive: true })
  await journal.record(after)
  expect(journal.state().writable).toBe(true)
  expect(events.map((event) => event.type)).toEqual(['segment-missing'])
  journal.close()
  expect(await recoverIds()).toEqual([before.id, after.id])
})

test.each([
  ['rotated', (journal: Journal) => journal.rotate()],
  ['closed', (journal: Journal) => journal.close()],
])(
  'a folder deleted while nothing happens costs no acknowledged record when the journal is %s',
  async (_how, act) => {
    const journal = openJournal()
    const record = createCallRecord()
    await journal.record(record)
    rmSync(join(folder, 'journal'), { recursive: true })
    act(journal)
    expect(events.map((event) => event.type)).toEqual(['segment-missing'])
    expect(await recoverIds()).toEqual([record.id])
    journal.close()
  },
)

test.each([
  ['rotated', (journal: Journal) => journal.rotate()],
  ['looked after', (journal: Journal) => journal.lookAfterFile()],
  ['closed', (journal: Journal) => journal.close()],
])(
  'a folder moved under a running journal costs no acknowledged record when the journal is %s',
  async (_how, act) => {
    const journal = openJournal()
    const record = createCallRecord()
    await journal.record(record)
    renameSync(join(folder, 'journal'), join(folder, 'elsewhere'))
    act(journal)
    expect(events.map((event) => event.type)).toEqual(['segment-missing'])
    expect(await recoverIds()).toEqual([record.id])
    journal.close()
  },
)

test('fail-closed: records and new calls are refused, and nothing is lost once the disk is back', async () => {
  const journal = openJournal()
  const records = [createCallRecord(), createCallRecord(), createCallRecord()]
  const [first, second, third] = records as [CallRecord, CallRecord, CallRecord]
  await journal.record(first)
  breakFolder()
  const refused = journal.record(second)
  await expect(refused).rejects.toMatchObject({
    kind: 'unavailable',
    headers: { 'retry-after': '5' },
  })
  await expect(refused).rejects.not.toMatchObject({ message: expect.stringContaining(folder) })
  expect(() => journal.assertWritable()).toThrow(expect.objectContaining({ kind: 'unavailable' }))
  await expect(journal.record(third)).rejects.toMatchObject({ kind: 'unavailable' })
  expect(journal.state()).toMatchObject({ writable: false, backlog: 3, dropped: 0 })
  expect(journal.state().reason).not.toContain(folder)
  rmSync(join(folder, 'journal'))
  await untilWritable(journal)
  journal.assertWritable()
  expect(journal.state()).toMatchObject({ writable: true, backlog: 0 })
  expect(events.at(-1)).toEqual({ type: 'write-recovered', backlogWritten: 3 })
  journal.close()
  expect(await recoverIds()).toEqual(records.map((record) => record.id))
})

test('a record without room on the disk or in the backlog is refused and counted', async () => {
  const journal = openJournal({ backlogRecords: 1 })
  const kept = createCallRecord()
  await journal.record(kept)
  rmSync(join(folder, 'journal'), { recursive: true })
  await expect(journal.record(createCallRecord())).rejects.toMatchObject({ kind: 'unavailable' })
  expect(journal.state()).toMatchObject({ writable: true, dropped: 1 })
  journal.close()
  expect(await recoverIds()).toEqual([kept.id])
})

test('a refused record that nobody waits for does not end the process', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  breakFolder()
  const journal = openJournal()
  void journal.record(createCallRecord())
  await Bun.sleep(10)
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
  expect(journal.state().backlog).toBe(1)
  journal.close()
})

test('fail-open: calls go on, the backlog is bounded, and records beyond it are counted', async () => {
  const journal = openJournal({ onFailure: 'open', backlogRecords: 2 })
  breakFolder()
  const records = Array.from({ length: 5 }, () => createCallRecord())
  for (const record of records) await journal.record(record)
  journal.assertWritable()
  expect(journal.state()).toMatchObject({ writable: false, backlog: 2, dropped: 3 })
  rmSync(join(folder, 'journal'))
  await untilWritable(journal)
  journal.close()
  expect(await recoverIds()).toEqual(records.slice(0, 2).map((record) => record.id))
})

test('a journal that cannot be written at the start starts, and heals later', async () => {
  breakFolder()
  const journal = openJournal()
  expect(() => journal.assertWritable()).toThrow(expect.objectContaining({ kind: 'unavailable' }))
  expect(journal.state().reason).toBe('the journal folder is not a folder')
  rmSync(join(folder, 'journal'))
  await untilWritable(journal)
  await journal.record(createCallRecord())
  journal.close()
})

test('a link among the segments that leads nowhere stops no call', async () => {
  mkdirSync(join(folder, 'journal'))
  symlinkSync(join(folder, 'nowhere'), join(folder, 'journal', '000000000003.journal'))
  const journal = new Journal(folder)
  expect(journal.state().writable).toBeTrue()
  const record = createCallRecord()
  await journal.record(record)
  journal.rotate()
  expect((await readClosed(journal)).records).toEqual([record])
  journal.close()
})

test('segments behind the last one of twelve digits are found again, in their order', async () => {
  mkdirSync(join(folder, 'journal'))
  writeFileSync(join(folder, 'journal', '999999999999.journal'), '\n')
  const written = [createCallRecord(), createCallRecord()]
  const journal = new Journal(folder)
  for (const record of written) {
    await journal.record(record)
    journal.rotate()
  }
  journal.close()
  const next = new Journal(folder)
  expect((await readClosed(next)).records).toEqual(written)
  next.close()
})

test('a journal that cannot be written has nothing to rotate', async () => {
  breakFolder()
  const journal = openJournal({ probeIntervalMs: 60_000 })
  journal.rotate()
  expect(journal.state()).toMatchObject({ writable: false, segments: 0 })
  journal.close()
})

test('a segment name that is taken is passed over, and nothing is left of the attempt', async () => {
  const journal = openJournal()
  const record = createCallRecord()
  await journal.record(record)
  const taken = join(folder, 'journal', '000000000002.journal')
  writeFileSync(taken, 'of somebody else')
  journal.rotate()
  expect(journal.state()).toMatchObject({ writable: false, reason: 'write failed (EEXIST)' })
  // File systems list names in orders of their own.
  const names = readdirSync(join(folder, 'journal')).sort()
  expect(names).toEqual(['000000000001.journal', '000000000002.journal'])
  await untilWritable(journal)
  expect(readFileSync(taken, 'utf8')).toBe('of somebody else')
  journal.close()
  rmSync(taken)
  expect(await recoverIds()).toEqual([record.id])
})

test('leftovers are found even when the folder could not be read at the start', async () => {
  const record = createCallRecord()
  const first = openJournal()
  await first.record(record)
  first.close()
  const hidden = join(folder, 'hidden')
  renameSync(join(folder, 'journal'), hidden)
  writeFileSync(join(folder, 'journal'), 'in the way')
  const second = openJournal()
  expect(second.closed.count).toBe(0)
  rmSync(join(folder, 'journal'))
  renameSync(hidden, join(folder, 'journal'))
  await untilWritable(second)
  expect((await readClosed(second)).records).toEqual([record])
  second.close()
})

test('closing a failed journal tries once more and reports the number of lost records', async () => {
  breakFolder()
  const journal = openJournal({ probeIntervalMs: 60_000 })
  await expect(journal.record(createCallRecord())).rejects.toMatchObject({ kind: 'unavailable' })
  journal.close()
  expect(events.at(-1)).toEqual({ type: 'records-dropped', count: 1 })
  const told = events.length
  journal.close()
  expect(events).toHaveLength(told)
  const healed = openJournal({ probeIntervalMs: 60_000 })
  const record = createCallRecord()
  await expect(healed.record(record)).rejects.toMatchObject({ kind: 'unavailable' })
  rmSync(join(folder, 'journal'))
  healed.close()
  expect(await recoverIds()).toEqual([record.id])
})

test('a journal closed during a disk outage begins no segment once the disk is back', async () => {
  breakFolder()
  const journal = openJournal({ probeIntervalMs: 1 })
  journal.close()
  rmSync(join(folder, 'journal'))
  // For what must not come with any of the probes that are over.
  await Bun.sleep(20)
  expect(existsSync(join(folder, 'journal'))).toBe(false)
  expect(journal.state().writable).toBe(false)
})

test('a file size limit makes the journal go on in a new file, and no record is lost or torn', async () => {
  const writer = join(import.meta.dir, 'journal-writer.fixture.ts')
  const command = `ulimit -f 16; exec "$0" "$@"`
  const child = Bun.spawn(
    ['sh', '-c', command, process.execPath, writer, folder, '5', '4000000', '100'],
    {
      stdout: 'pipe',
      stderr: 'pipe',
    },
  )
  const printed = (await new Response(child.stdout).text()).trim().split('\n')
  expect(await new Response(child.stderr).text()).toBe('')
  expect(printed).toHaveLength(500)
  expect((await recoverIds()).sort()).toEqual(printed.sort())
})

describe('on a small file system', () => {
  const canMount = mountTmpfs(mkdtempSync(join(tmpdir(), 'gatehouse-mount-')), true)

  function withMount(name: string, run: () => Promise<void>): void {
    testIf(canMount, 'needs the permission to mount a tmpfs')(name, async () => {
      mountTmpfs(folder, false)
      try {
        await run()
      } finally {
        Bun.spawnSync(['umount', '-l', folder])
      }
    })
  }

  withMount(
    'a full disk refuses whole records, keeps the acknowledged ones, and goes on when there is room',
    async () => {
      const ballast = join(folder, 'ballast')
      const journal = openJournal()
      const acknowledged: string[] = []
      const refused: string[] = []
      writeFileSync(ballast, new Uint8Array(20_000))
      while (refused.length === 0) {
        const records = [createCallRecord(), createCallRecord(), createCallRecord()]
        const ids = records.map((record) => record.id)
        const results = await Promise.allSettled(records.map((record) => journal.record(record)))
        ;(results.every((result) => result.status === 'fulfilled') ? acknowledged : refused).push(
          ...ids,
        )
      }
      expect(acknowledged.length).toBeGreaterThan(100)
      expect(journal.state()).toMatchObject({
        writable: false,
        reason: 'no space left on the disk',
        backlog: 3,
      })
      const held = (await readClosed(journal)).records.map((record) => record.id as string)
      expect(held).toEqual(acknowledged)
      rmSync(ballast)
      await untilWritable(journal)
      const last = createCallRecord()
      await journal.record(last)
      journal.close()
      expect(await recoverIds()).toEqual([...acknowledged, ...refused, last.id])
    },
  )

  withMount('shipping frees a full disk', async () => {
    const journal = openJournal({ segmentBytes: 8000 })
    while (journal.state().writable) await journal.record(createCallRecord()).catch(() => {})
    const [oldest] = journal.closed.list()
    if (oldest === undefined) throw new Error('nothing was closed')
    journal.closed.discard(oldest, {
      damagedLines: 0,
      tornEnd: false,
      otherLines: { newer: 0, older: 0 },
    })
    await untilWritable(journal)
    await journal.record(createCallRecord())
    journal.close()
  })

  withMount(
    'a read-only disk is a state with a reason; when it takes writes again the journal does too',
    async () => {
      mkdirSync(join(folder, 'journal'))
      Bun.spawnSync(['mount', '-o', 'remount,ro', folder])
      const journal = openJournal()
      const record = createCallRecord()
      await expect(journal.record(record)).rejects.toMatchObject({ kind: 'unavailable' })
      expect(journal.state()).toMatchObject({
        writable: false,
        reason: 'read-only file system',
        backlog: 1,
      })
      Bun.spawnSync(['mount', '-o', 'remount,rw', folder])
      await untilWritable(journal)
      journal.close()
      expect(await recoverIds()).toEqual([record.id])
    },
  )
})

/** Mounts 64 KiB; with `onlyTry` takes it down again and the folder with it. Whether it worked. */
function mountTmpfs(target: string, onlyTry: boolean): boolean {
  if (process.platform !== 'linux' || !existsSync('/proc/self')) return false
  let mounted = false
  try {
    mounted = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', target]).success
    if (mounted && onlyTry) Bun.spawnSync(['umount', target])
  } catch {
    // There is no mount command.
  }
  if (onlyTry) rmSync(target, { recursive: true, force: true })
  return mounted
}
