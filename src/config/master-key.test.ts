/** Master keys: those that are refused, the one that is made, and that a rotation is noticed. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Secret } from '../core/secret.ts'
import { createVault } from '../core/vault.ts'
import { findMasterKeys, loadMasterKeys, openVault } from './master-key.ts'
import {
  createMasterKeyFile,
  type MasterKeyExposure,
  replaceMasterKeyFile,
} from './master-key-file.ts'
import { readMasterKeyVariables } from './master-key-variables.ts'
import type { Environment } from './setting-type.ts'

const HEX = 'c0ffee00'.repeat(8)
const BASE64 = Buffer.alloc(32, 9).toString('base64')

let dataFolder: string
let path: string
beforeEach(() => {
  dataFolder = mkdtempSync(join(tmpdir(), 'gatehouse-master-key-'))
  path = join(dataFolder, 'master.key')
})
afterEach(() => rmSync(dataFolder, { recursive: true, force: true }))

const reveal = (keys: readonly Secret[]) => keys.map((key) => key.reveal())
const sourceOf = (environment: Environment) => ({
  dataFolder,
  masterKeys: readMasterKeyVariables(environment),
})
const fromFile = () => openVault(sourceOf({}))

describe('a master key from the environment', () => {
  test('is hexadecimal or base64, with older ones behind the current one, and creates no file', () => {
    const environment = {
      GATEHOUSE_MASTER_KEY: HEX,
      GATEHOUSE_MASTER_KEY_PREVIOUS: ` ${BASE64}, ${'0'.repeat(64)}`,
    }
    expect(reveal(loadMasterKeys(sourceOf(environment)))).toEqual([HEX, BASE64, '0'.repeat(64)])
    const vault = openVault(sourceOf(environment))
    expect(vault.decrypt(vault.encrypt(new Secret('s'), 'row'), 'row').reveal()).toBe('s')
    expect(existsSync(path)).toBeFalse()
  })

  test.each([
    ['GATEHOUSE_MASTER_KEY', 'canary'],
    ['GATEHOUSE_MASTER_KEY', HEX.slice(1)],
    ['GATEHOUSE_MASTER_KEY', `${HEX}00`],
    ['GATEHOUSE_MASTER_KEY', `${HEX},${BASE64}`],
    ['GATEHOUSE_MASTER_KEY_PREVIOUS', `${HEX},canary`],
  ])('%s=%s is refused by name and not repeated', (name, value) => {
    expect(() => readMasterKeyVariables({ [name]: value })).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(new RegExp(`^(?!.*(canary|c0ffee))${name} `)),
      }),
    )
  })
})

describe("the data folder's file", () => {
  test('is created when first needed, private, and then stays', () => {
    const keys = reveal(loadMasterKeys(sourceOf({})))
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)])
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(reveal(loadMasterKeys(sourceOf({})))).toEqual(keys)
    expect(readdirSync(dataFolder)).toEqual(['master.key'])
  })

  test('is not replaced by a second process that creates it late', () => {
    createMasterKeyFile(path)
    const text = readFileSync(path, 'utf8')
    createMasterKeyFile(path)
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  test.each([0o640, 0o604, 0o660, 0o644])(
    'with mode %o is read, and made private where its readers are asked for',
    (mode) => {
      createMasterKeyFile(path)
      chmodSync(path, mode)
      const keys = reveal(loadMasterKeys(sourceOf({})))
      expect(statSync(path).mode & 0o777).toBe(mode)
      const exposures: MasterKeyExposure[] = []
      const found = findMasterKeys(sourceOf({}), (exposure) => void exposures.push(exposure))
      expect(reveal(found ?? [])).toEqual(keys)
      expect(exposures).toMatchObject([{ type: 'narrowed', path }])
      expect(statSync(path).mode & 0o777).toBe(0o600)
    },
  )

  test.each(['', '# nothing\n', 'canary\n', `${HEX}\ncanary\n`])(
    'is refused if it holds %p',
    (text) => {
      writeFileSync(path, text, { mode: 0o600 })
      expect(() => loadMasterKeys(sourceOf({}))).toThrow(
        expect.objectContaining({ message: expect.not.stringMatching(/canary|c0ffee/) }),
      )
    },
  )

  test('is created by an encryption and not by a decryption', () => {
    const sealed = createVault([new Secret(HEX)]).encrypt(new Secret('s'), 'row')
    const vault = fromFile()
    expect(() => vault.decrypt(sealed, 'row')).toThrow('Restore it')
    expect(existsSync(path)).toBeFalse()
    vault.encrypt(new Secret('s'), 'row')
    expect(existsSync(path)).toBeTrue()
  })

  test('is not silently created again after it went away under a running process', () => {
    const vault = fromFile()
    const sealed = vault.encrypt(new Secret('s'), 'row')
    rmSync(path)
    expect(vault.decrypt(sealed, 'row').reveal()).toBe('s')
    expect(() => vault.encrypt(new Secret('s'), 'row')).toThrow('Restore it')
  })
})

describe('a rotation', () => {
  test('is noticed by a running process: it encrypts under the new key, and opens texts of both', () => {
    const vault = fromFile()
    const before = vault.encrypt(new Secret('s'), 'row')
    const rotated = new Secret(HEX)
    const [old] = loadMasterKeys(sourceOf({}))
    replaceMasterKeyFile(path, [rotated, old])
    const elsewhere = createVault([rotated]).encrypt(new Secret('s'), 'row')
    expect(vault.decrypt(elsewhere, 'row').reveal()).toBe('s')
    expect(vault.decrypt(before, 'row').reveal()).toBe('s')
    expect(vault.isCurrent(before)).toBeFalse()
    expect(
      createVault([rotated])
        .decrypt(vault.encrypt(new Secret('t'), 'row'), 'row')
        .reveal(),
    ).toBe('t')
  })

  test('leaves an older process able to open its texts, even after two in a row', () => {
    const sealed = fromFile().encrypt(new Secret('s'), 'row')
    const [first] = loadMasterKeys(sourceOf({}))
    const vault = fromFile()
    replaceMasterKeyFile(path, [new Secret(HEX), first])
    replaceMasterKeyFile(path, [new Secret(BASE64), new Secret(HEX)])
    expect(vault.decrypt(sealed, 'row').reveal()).toBe('s')
  })

  test('leaves a process able to open texts of its first key, even after another rotation', () => {
    const vault = fromFile()
    const before = vault.encrypt(new Secret('s'), 'row')
    replaceMasterKeyFile(path, [new Secret(HEX), new Secret(BASE64)])
    vault.encrypt(new Secret('s'), 'row')
    expect(vault.decrypt(before, 'row').reveal()).toBe('s')
  })
})
