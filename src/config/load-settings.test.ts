import { afterEach, beforeEach, expect, test } from 'bun:test'
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTemporaryFolder, type TemporaryFolder } from '../../test/support/temporary-folder.ts'
import { readConfigurationFile } from './load-settings.ts'

let folder: TemporaryFolder
beforeEach(async () => {
  folder = await createTemporaryFolder()
})
afterEach(() => folder.remove())

test('a file without an end does not fill the memory', async () => {
  const path = join(folder.path, 'gatehouse.yaml')
  await symlink('/dev/zero', path)
  const read = await readConfigurationFile({ GATEHOUSE_CONFIG: path })
  expect(read?.text.length).toBe(32 * 1024 * 1024)
})

test.each([0, 5, 8 * 1024 * 1024])('a file of %d characters is read whole', async (length) => {
  const path = join(folder.path, 'gatehouse.yaml')
  const text = '€'.repeat(length)
  await writeFile(path, text)
  const read = await readConfigurationFile({ GATEHOUSE_CONFIG: path })
  expect(read?.text === text).toBe(true)
})

test('a missing file and a folder are named with the reason', async () => {
  expect(await readConfigurationFile({ GATEHOUSE_DATA_DIR: folder.path })).toBeUndefined()
  const missing = readConfigurationFile({ GATEHOUSE_CONFIG: join(folder.path, 'no.yaml') })
  await expect(missing).rejects.toThrow('ENOENT')
  await expect(readConfigurationFile({ GATEHOUSE_CONFIG: folder.path })).rejects.toThrow('EISDIR')
})
