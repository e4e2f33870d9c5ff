/** The gaps in a lock file that count, and how they are filled. */
import { expect, test } from 'bun:test'
import { completeLock, missingOptionalPackages } from './check-lock.ts'

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
