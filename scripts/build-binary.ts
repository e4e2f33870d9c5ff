/**
 * `make binary`: one program with the runtime, the gateway, its pages and its documents inside, as dist/gatehouse.
 * `--target bun-linux-arm64` and its like build for another machine, where the runtime for it can be fetched.
 */
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'

const HOUSE = join(import.meta.dir, '..')
const FOLDER = join(HOUSE, 'dist')
const ENTRY = join(FOLDER, 'binary-entry.ts')

/** Read by path while it runs: whatever is asked of src/core/shipped-files.ts. */
const SHIPPED = [
  'dist/dashboard/index.html*',
  'dist/dashboard/{assets,fonts}/*',
  'src/admin/docs-page.{css,browser.js}',
  'node_modules/swagger-ui-dist/swagger-ui{.css,-bundle.js}',
]

const { values } = parseArgs({
  options: { target: { type: 'string' }, outfile: { type: 'string', default: join(FOLDER, 'gatehouse') } },
})

const files = SHIPPED.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ cwd: HOUSE })]).sort()
if (!files.includes('dist/dashboard/index.html'))
  throw new Error('the dashboard is not built: make dashboard')
mkdirSync(FOLDER, { recursive: true })
const names = files.map(
  (path, index) => `import file${index} from '${join(HOUSE, path)}' with { type: 'file' }`,
)
writeFileSync(
  ENTRY,
  [
    ...names,
    `export const shipped = [${files.map((_, index) => `file${index}`).join(', ')}]`,
    "await import('../src/main.ts')",
    '',
  ].join('\n'),
)
const startedAt = performance.now()
try {
  await Bun.build({
    entrypoints: [ENTRY],
    root: HOUSE,
    // The names under which they are read: their paths from here.
    naming: { asset: '[dir]/[name].[ext]' },
    minify: { whitespace: true, syntax: true, identifiers: false },
    sourcemap: 'inline',
    compile: {
      outfile: values.outfile,
      ...(values.target === undefined ? {} : { target: values.target as Bun.Build.CompileTarget }),
    },
  })
} finally {
  rmSync(ENTRY, { force: true })
}
const megabytes = (statSync(values.outfile).size / 1_000_000).toFixed(0)
console.log(
  `${relative(process.cwd(), values.outfile)}: ${megabytes} MB, ${files.length} files inside, in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
)
