/** The tests that a mutant is left to, on a small tree. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NearestTests } from './nearest-tests.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-nearest-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

/** @param files of each file: what it imports */
async function nearestIn(
  files: Readonly<Record<string, readonly string[]>>,
): Promise<NearestTests> {
  for (const [path, imports] of Object.entries(files)) {
    const lines = imports.map(
      (imported, index) => `import { x as x${index} } from '${imported}'\nx${index}()`,
    )
    await Bun.write(join(folder, path), lines.join('\n'))
  }
  return new NearestTests(folder)
}

test('the test beside the file comes first, then its folder by distance, then those with a server', async () => {
  const nearest = await nearestIn({
    'src/cluster/lease.ts': [],
    'src/cluster/feed.ts': ['./lease.ts'],
    'src/cluster/lease.test.ts': ['./lease.ts'],
    'src/cluster/a-feed.test.ts': ['./feed.ts'],
    'src/cluster/z-lease.test.ts': ['./lease.ts'],
    'src/cluster/redis.test.ts': ['./lease.ts', '../../test/support/redis-server.ts'],
    'test/support/redis-server.ts': [],
  })
  expect(nearest.of('src/cluster/lease.ts')).toEqual([
    ['src/cluster/lease.test.ts'],
    ['src/cluster/z-lease.test.ts', 'src/cluster/a-feed.test.ts'],
    ['src/cluster/redis.test.ts'],
  ])
})

test('the stages count as near, and elsewhere the tests that import the file themselves', async () => {
  const nearest = await nearestIn({
    'src/gateway/settle.ts': [],
    'src/gateway/pipeline.ts': ['./settle.ts'],
    'src/admin/direct.test.ts': ['../gateway/settle.ts'],
    'src/admin/far.test.ts': ['../gateway/pipeline.ts'],
    'test/stages/settle.test.ts': ['../../src/gateway/pipeline.ts'],
  })
  expect(nearest.of('src/gateway/settle.ts')).toEqual([
    ['src/admin/direct.test.ts', 'test/stages/settle.test.ts'],
  ])
})

test('all stages of this repository are near to the hot path: none starts the product', () => {
  const tree = join(import.meta.dir, '../..')
  const near = new NearestTests(tree).of('src/gateway/pipeline.ts').flat()
  const stages = [...new Bun.Glob('test/stages/*.test.ts').scanSync({ cwd: tree })]
  expect(stages).not.toEqual([])
  expect(stages.filter((path) => !near.includes(path))).toEqual([])
})

test('a test that starts the product is far from every line, and so is one outside the unit part', async () => {
  const nearest = await nearestIn({
    'src/wire/sse.ts': [],
    'src/wire/started.test.ts': ['./sse.ts', '../../test/support/start-gatehouse.ts'],
    'test/support/start-gatehouse.ts': [],
    'test/e2e/sse.test.ts': ['../../src/wire/sse.ts'],
  })
  expect(nearest.of('src/wire/sse.ts')).toEqual([])
})

test('an import of types alone brings no test', async () => {
  const nearest = await nearestIn({ 'src/wire/sse.ts': [] })
  expect(nearest.of('src/wire/sse.ts')).toEqual([])
  await Bun.write(
    join(folder, 'src/wire/types.test.ts'),
    "import type { X } from './sse.ts'\nconst x: X = 1\nx",
  )
  expect(new NearestTests(folder).of('src/wire/sse.ts')).toEqual([])
})
