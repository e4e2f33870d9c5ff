import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findDashboardSources, hashDashboardSources } from './dashboard-sources.ts'

const FILES = [
  'web/main.tsx',
  'web/features/keys/keys-page.tsx',
  'web/styles.css',
  'src/contract/keys.ts',
  'package-lock.json',
  'scripts/build-dashboard.ts',
]

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-sources-'))
  for (const path of FILES) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), 'before')
  }
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test.each(FILES)('a change of %s makes the bundle stale', (path) => {
  const before = hashDashboardSources(folder)
  expect(hashDashboardSources(folder)).toBe(before)
  writeFileSync(join(folder, path), 'after')
  expect(hashDashboardSources(folder)).not.toBe(before)
})

test('a new page makes it stale', () => {
  const before = hashDashboardSources(folder)
  writeFileSync(join(folder, 'web/features/keys/new.tsx'), '')
  expect(hashDashboardSources(folder)).not.toBe(before)
})

test('a folder without pages is an error, and does not count as unchanged', () => {
  rmSync(join(folder, 'web'), { recursive: true })
  expect(() => hashDashboardSources(folder)).toThrow('web/**/*')
})

test('the pages of this repository are found', () => {
  expect(findDashboardSources(join(import.meta.dir, '..'))).toContain('web/main.tsx')
})
