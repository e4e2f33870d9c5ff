import { expect, test } from 'bun:test'
import {
  completeLock,
  describePackage,
  missingOptionalPackages,
  packagesWithoutHash,
} from './check-lock.ts'

const lock = {
  packages: {
    '': { version: '1.0.0' },
    'node_modules/tool': {
      version: '2.0.0',
      dev: true,
      optionalDependencies: { '@tool/linux': '2.0.0', '@tool/darwin': '2.0.0', watcher: '^1.0.0' },
    },
    'node_modules/@tool/linux': { version: '2.0.0', dev: true, optional: true },
  },
}

test('a platform package without an entry is missing; one asked for by a range is not judged', () => {
  expect(missingOptionalPackages(lock)).toEqual({
    'node_modules/@tool/darwin': { version: '2.0.0', dev: true, optional: true },
  })
})

test('a completed lock file lacks nothing and keeps npm’s order', () => {
  const complete = completeLock(lock)
  expect(missingOptionalPackages(complete)).toEqual({})
  expect(Object.keys(complete.packages)).toEqual([
    '',
    'node_modules/@tool/darwin',
    'node_modules/@tool/linux',
    'node_modules/tool',
  ])
})

test('a package without a hash is found, but the root and folders of this repository need none', () => {
  const lock = {
    packages: {
      '': { version: '1.0.0' },
      'node_modules/whole': { version: '1.0.0', integrity: 'sha512-x' },
      'node_modules/bare': { version: '1.0.0' },
      'node_modules/here': { link: true },
    },
  }
  expect(packagesWithoutHash(lock)).toEqual(['node_modules/bare'])
})

test('a package is described as npm does, with its hash', () => {
  const entry = { version: '1.0.0', dev: true, optional: true }
  const packed = { 'dist.integrity': 'sha512-x', cpu: ['x64'], os: ['linux'] }
  expect(describePackage(entry, packed)).toEqual({
    ...entry,
    integrity: 'sha512-x',
    cpu: ['x64'],
    os: ['linux'],
  } as never)
  expect(() => describePackage(entry, {})).toThrow('no hash')
})

test('the lock file of this repository is complete', async () => {
  const lock = await Bun.file(`${import.meta.dir}/../package-lock.json`).json()
  expect(packagesWithoutHash(lock)).toEqual([])
  expect(missingOptionalPackages(lock)).toEqual({})
})
