/** The file of a provider's key: what is read, and what is refused without repeating anything. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTemporaryFolder, type TemporaryFolder } from '../../test/support/temporary-folder.ts'
import { Secret } from '../core/secret.ts'
import { readKeyFile } from './key-file.ts'
import { loadSettings } from './load-settings.ts'
import type { SettingsError } from './setting-type.ts'

let folder: TemporaryFolder
let path: string
beforeEach(async () => {
  folder = await createTemporaryFolder()
  path = join(folder.path, 'acme-key')
})
afterEach(() => folder.remove())

async function write(text: string, mode = 0o600): Promise<void> {
  await writeFile(path, text)
  await chmod(path, mode)
}

/** The key, or the objection. */
function read(file = path): string {
  const found = readKeyFile(file)
  return found instanceof Secret ? `key ${found.reveal()}` : found
}

describe('a file with a key', () => {
  test.each([
    ['a line', 'planted-key\n', 0o600],
    ['readable by the group, as a mounted secret is', ' planted-key', 0o640],
  ])('of %s', async (_name, text, mode) => {
    await write(text, mode)
    expect(read()).toBe('key planted-key')
  })

  test('behind a link, as Kubernetes mounts it', async () => {
    await write('planted-key')
    await symlink(path, join(folder.path, 'link'))
    expect(read(join(folder.path, 'link'))).toBe('key planted-key')
  })
})

describe('a file that is refused:', () => {
  test.each([
    ['empty', '', 0o600, 'is empty'],
    ['only white space', ' \n\n', 0o600, 'is empty'],
    ['readable by all', 'planted', 0o644, 'every user of this machine may use (mode 0644)'],
    ['writable by all', 'planted', 0o602, 'every user of this machine may use (mode 0602)'],
    ['two lines', 'planted\nplanted', 0o600, 'characters that are not allowed in a header'],
    ['far too long', 'p'.repeat(20_000), 0o600, 'is longer than 16384 bytes'],
  ])('%s', async (_name, text, mode, said) => {
    await write(text, mode)
    expect(read()).toContain(said)
    expect(read()).not.toContain('planted')
  })

  test('missing, or a folder', async () => {
    expect(read()).toBe('cannot be read (ENOENT)')
    await mkdir(path)
    expect(read()).toMatch(/is not a regular file|EISDIR/)
  })
})

describe('apiKeyFile in the configuration file', () => {
  const load = (lines: string, environment: Record<string, string> = {}) => {
    const file = join(folder.path, 'gatehouse.yaml')
    return writeFile(
      file,
      `providers:\n  - id: acme\n    name: Acme\n    baseUrl: https://acme.test\n${lines}`,
    ).then(() => loadSettings({ GATEHOUSE_CONFIG: file, ...environment }))
  }

  test('is relative to that file, and wins over the usual variable', async () => {
    await write('planted-key')
    const { providerKeys } = await load('    apiKeyFile: acme-key', { ACME_API_KEY: 'other' })
    expect(providerKeys.get('acme')?.reveal()).toBe('planted-key')
  })

  test('is refused beside apiKeyVariable, together with what is wrong with the file', async () => {
    await write('', 0o600)
    const error: unknown = await load(
      '    apiKeyVariable: ACME_TOKEN\n    apiKeyFile: acme-key',
    ).catch((thrown: unknown) => thrown)
    expect((error as SettingsError).faults.map(({ line, message }) => [line, message])).toEqual([
      [6, 'providers[0].apiKeyFile must not stand beside apiKeyVariable'],
      [6, 'providers[0].apiKeyFile names a file that is empty'],
    ])
  })
})
