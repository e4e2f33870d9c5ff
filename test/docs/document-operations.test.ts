/** Operations of the interface that documents and deployments name, with their method, exist. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readDocument } from '../../scripts/openapi/read-document.ts'

const HOUSE = resolve(import.meta.dir, '../..')
/** Decisions and the changelog tell of operations that have gone. */
const TEXTS = ['README.md', 'docs/*.md', 'docs/guides/*.md', 'docs/operations/*.md', 'deploy/**/*']
const NAMED = /\b(GET|POST|PUT|PATCH|DELETE) (\/(?:v\d|alt)\/[\w/:{}.-]*[\w}])/g

test('an operation that is named exists', async () => {
  const { paths } = await readDocument()
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => [method.toUpperCase(), ...path.split('/')]),
  )
  const isOperation = (named: readonly string[]) =>
    operations.some(
      (segments) =>
        segments.length === named.length &&
        segments.every((segment, index) => segment === named[index] || segment.startsWith('{')),
    )
  const named = TEXTS.flatMap((pattern) =>
    [...new Bun.Glob(pattern).scanSync({ cwd: HOUSE })].flatMap((file) =>
      [...readFileSync(join(HOUSE, file), 'utf8').matchAll(NAMED)].map(
        ([operation, method = '', path = '']) => ({ file, operation, method, path }),
      ),
    ),
  )
  expect(named.length).toBeGreaterThan(50)
  const unknown = named.filter(({ method, path }) => !isOperation([method, ...path.split('/')]))
  expect(unknown.map(({ file, operation }) => `${file}: ${operation}`)).toEqual([])
}, 60_000)
