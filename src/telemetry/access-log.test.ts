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

test('a reader that has gone does not delay the end', async () => {
  const pipe = join(folder, 'pipe')
  expect(Bun.spawnSync(['mkfifo', pipe]).exitCode).toBe(0)
  const reader = openSync(pipe, 'r+')
  const writer = openSync(pipe, 'w')
  closeSync(reader)
  const log = new AccessLog(writer)
  noteMany(log)
  await log.close()
})

test('a reader that does not read does not keep the process from ending', async () => {
  const pipe = join(folder, 'pipe')
  expect(Bun.spawnSync(['mkfifo', pipe]).exitCode).toBe(0)
  const reader = openSync(pipe, 'r+')
  const code = `
    const { AccessLog } = await import(${JSON.stringify(resolve(import.meta.dir, 'access-log.ts'))})
    const log = new AccessLog()
    for (let index = 0; index < ${10 * LINES}; index += 1) log.noteControlRequest({ requestId: 'req' })
    await log.close()
    process.exit(0)`
  const child = Bun.spawn(boundToTest([process.execPath, '-e', code]), {
    stdout: openSync(pipe, 'w'),
  })
  // Ten times what a pipe holds, and ten times as long as the log waits for its reader.
  const ended = await Promise.race([child.exited, Bun.sleep(20_000)])
  child.kill('SIGKILL')
  closeSync(reader)
  expect(ended).toBe(0)
})

describe.each([
  ['has no room', '/dev/full'],
  ['is not read', 'pipe'],
])('a log that %s', (_, target) => {
  test('does not keep a process from ending that does not wait for it', async () => {
    const pipe = join(folder, 'pipe')
    expect(Bun.spawnSync(['mkfifo', pipe]).exitCode).toBe(0)
    const reader = openSync(pipe, 'r+')
    const code = `
      const { AccessLog } = await import(${JSON.stringify(resolve(import.meta.dir, 'access-log.ts'))})
      const log = new AccessLog()
      const note = () => log.noteControlRequest({ requestId: 'req' })
      for (let index = 0; index < ${10 * LINES}; index += 1) note()
      await Bun.sleep(1_000)
      note()
      process.exit(3)`
    const child = Bun.spawn(boundToTest([process.execPath, '-e', code]), {
      stdout: openSync(target === 'pipe' ? pipe : target, 'w'),
    })
    const ended = await Promise.race([child.exited, Bun.sleep(20_000)])
    child.kill('SIGKILL')
    closeSync(reader)
    expect(ended).toBe(3)
  })
})

test('the last lines of a process that does not wait for its log are written', async () => {
  const file = join(folder, 'access.log')
  const code = `
    const { AccessLog } = await import(${JSON.stringify(resolve(import.meta.dir, 'access-log.ts'))})
    const log = new AccessLog()
    log.noteControlRequest({ requestId: 'first' })
    await Bun.sleep(600)
    log.noteControlRequest({ requestId: 'last' })
    process.exit(3)`
  const child = Bun.spawn(boundToTest([process.execPath, '-e', code]), { stdout: Bun.file(file) })
  expect(await child.exited).toBe(3)
  expect(readFileSync(file, 'utf8')).toMatch(/first.*\n.*last/)
})
