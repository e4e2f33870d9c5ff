/**
 * `make binary`: builds dist/gatehouse, a program with the runtime, the gateway, its pages and its
 * documents. `--target bun-linux-arm64` and similar build for another machine, if the runtime can
 * be downloaded.
 */
import { statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { buildProgram } from './build-program.ts'

const { values } = parseArgs({
  options: {
    target: { type: 'string' },
    outfile: { type: 'string', default: join(import.meta.dir, '../dist/gatehouse') },
  },
})

const startedAt = performance.now()
const { path, shipped } = await buildProgram(resolve(values.outfile), values.target)
const megabytes = (statSync(path).size / 1_000_000).toFixed(0)
console.log(
  `${relative(process.cwd(), path)}: ${megabytes} MB, ${shipped} files inside, in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
)
