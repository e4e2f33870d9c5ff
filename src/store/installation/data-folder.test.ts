import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  DataFolderInUseError,
  lockDataFolder,
  readServerInfo,
  writeServerInfo,
} from './data-folder.ts'

let parent: string
let folder: string

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'gatehouse-lock-'))
  folder = join(parent, 'data')
})
afterEach(() => rmSync(parent, { recursive: true, force: true }))

/** A second process that takes the folder, says so, and stays until it is killed. */
async function startHolder() {
  const script = `
    import { lockDataFolder, writeServerInfo } from ${JSON.stringify(join(import.meta.dir, 'data-folder.ts'))}
    lockDataFolder(${JSON.stringify(folder)})
    Bun.gc(true)
    writeServerInfo(${JSON.stringify(folder)}, { pid: process.pid, url: 'http://127.0.0.1:4999' })
    process.stdout.write('held')
    setInterval(() => {}, 1000)`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' })
  const { value } = await child.stdout.getReader().read()
  expect(new TextDecoder().decode(value)).toBe('held')
  return child
}

function refusal(): DataFolderInUseError {
  try {
    lockDataFolder(folder).release()
  } catch (error) {
    if (error instanceof DataFolderInUseError) return error
    throw error
  }
  throw new Error('the folder was free')
}

test("a folder locked by a process is refused with the folder's and the holder's name, until that is killed", async () => {
  const child = await startHolder()
  const error = refusal()
  expect(error.message).toContain(folder)
  expect(error.message).toContain('http://127.0.0.1:4999')
  expect(error.holder).toEqual({ pid: child.pid, url: 'http://127.0.0.1:4999' })

  child.kill('SIGKILL')
  await child.exited
  const lock = lockDataFolder(folder)
  expect(readServerInfo(folder)).toBeUndefined()
  lock.release()
})

test('the lock holds within one process too, and goes with its release', () => {
  const lock = lockDataFolder(folder)
  expect(refusal().message).toContain('another Gatehouse process')
  // A refused attempt must not have dropped the lock on its way out.
  expect(refusal().folder).toBe(folder)
  lock.release()
  lock.release()
  lockDataFolder(folder).release()
})

test('the folder and its files are private', () => {
  const lock = lockDataFolder(folder)
  writeServerInfo(folder, { pid: 1, url: 'http://127.0.0.1:1' })
  expect(readdirSync(folder).sort()).toEqual(['gatehouse.lock', 'server.json'])
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  expect(statSync(join(folder, 'gatehouse.lock')).mode & 0o777).toBe(0o600)
  expect(statSync(join(folder, 'server.json')).mode & 0o777).toBe(0o600)
  lock.release()
  expect(existsSync(join(folder, 'server.json'))).toBe(false)
})

test('a damaged server file counts as absent', () => {
  lockDataFolder(folder).release()
  for (const text of ['', '{', 'null', '[]', '{"pid":"1","url":"x"}', '{"pid":1}']) {
    writeFileSync(join(folder, 'server.json'), text)
    expect(readServerInfo(folder)).toBeUndefined()
  }
})
