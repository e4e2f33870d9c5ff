/** What the access log owes to those who end the process: every line, in its order, and an end. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { boundToTest } from '../../test/support/bound-to-test.ts'
import { AccessLog } from './access-log.ts'

/**
 * Some 100 KB: more than is written in one piece, so that a write is under way when the log is
 * closed.
 */
const LINES = 800

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-access-log-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function noteMany(log: AccessLog): void {
  for (let index = 0; index < LINES; index += 1)
    log.noteControlRequest({
      requestId: `req_${index}`,
      method: 'GET',
      path: '/v1/gates/:id',
      status: 200,
      actor: null,
      durationMs: 1,
    })
}

test('every line is written, in its order, when close resolves', async () => {
  const file = join(folder, 'access.log')
  const log = new AccessLog(file)
  noteMany(log)
  await log.close()
  const written = readFileSync(file, 'utf8').trimEnd().split('\n')
  expect(written.map((line) => (JSON.parse(line) as { requestId: string }).requestId)).toEqual(
    Array.from({ length: LINES }, (_, index) => `req_${index}`),
  )
})

/** A pipe whose reader is there and does not read. */
function openUnreadPipe(): { readonly reader: number; readonly path: string } {
  const path = join(folder, 'pipe')
  expect(Bun.spawnSync(['mkfifo', path]).exitCode).toBe(0)
  return { reader: openSync(path, 'r+'), path }
}

test('a reader that has gone does not delay the end', async () => {
  const { reader, path } = openUnreadPipe()
  const writer = openSync(path, 'w')
  closeSync(reader)
  const log = new AccessLog(writer)
  noteMany(log)
  await log.close()
})

/** @param code is given a `log`, and ends the process @returns its exit code */
async function runWithLog(code: string, output: number): Promise<unknown> {
  const program = `
    const { AccessLog } = await import(${JSON.stringify(resolve(import.meta.dir, 'access-log.ts'))})
    const log = new AccessLog()
    ${code}`
  const child = Bun.spawn(boundToTest([process.execPath, '-e', program]), { stdout: output })
  // Ten times as long as the log waits for its reader.
  const ended = await Promise.race([child.exited, Bun.sleep(20_000)])
  child.kill('SIGKILL')
  return ended
}

/** Ten times what a pipe holds. */
const MANY = `for (let index = 0; index < ${10 * LINES}; index += 1) log.noteControlRequest({ requestId: 'req' })`

test('a reader that does not read does not keep the process from ending', async () => {
  const { reader, path } = openUnreadPipe()
  const ended = await runWithLog(`${MANY}; await log.close(); process.exit(0)`, openSync(path, 'w'))
  closeSync(reader)
  expect(ended).toBe(0)
})

describe.each([
  ['has no room', '/dev/full'],
  ['is not read', 'pipe'],
])('a log that %s', (_, target) => {
  test('does not keep a process from ending that does not wait for it', async () => {
    const { reader, path } = openUnreadPipe()
    const ended = await runWithLog(
      `${MANY}
      await Bun.sleep(1_000)
      log.noteControlRequest({ requestId: 'req' })
      process.exit(3)`,
      openSync(target === 'pipe' ? path : target, 'w'),
    )
    closeSync(reader)
    expect(ended).toBe(3)
  })
})

test('the last lines of a process that does not wait for its log are written', async () => {
  const file = join(folder, 'access.log')
  const ended = await runWithLog(
    `log.noteControlRequest({ requestId: 'first' })
    await Bun.sleep(600)
    log.noteControlRequest({ requestId: 'last' })
    process.exit(3)`,
    openSync(file, 'w'),
  )
  expect(ended).toBe(3)
  expect(readFileSync(file, 'utf8')).toMatch(/first.*\n.*last/)
})
