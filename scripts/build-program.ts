/**
 * Builds a program from the sources, with the runtime, the pages and the documents: for `make
 * binary`, and for `make test`, which starts the program hundreds of times.
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { recordBytecodeOrder } from './record-bytecode-order.ts'

const HOUSE = join(import.meta.dir, '..')

/** Files that the program reads by path at run time, through src/core/shipped-files.ts. */
const SHIPPED = [
  'dist/dashboard/index.html*',
  'dist/dashboard/{assets,fonts}/*',
  'src/admin/openapi/docs-page.{css,browser.js}',
  'node_modules/swagger-ui-dist/swagger-ui{.css,-bundle.js}',
]

interface BuiltProgram {
  readonly path: string
  readonly shipped: number
}

/**
 * @param target in Bun's names; undefined for this machine
 * @throws Error for faulty sources or a missing dashboard
 */
export async function buildProgram(path: string, target?: string): Promise<BuiltProgram> {
  const files = SHIPPED.flatMap((pattern) => [
    ...new Bun.Glob(pattern).scanSync({ cwd: HOUSE }),
  ]).sort()
  if (!files.includes('dist/dashboard/index.html'))
    throw new Error('the dashboard is not built: make dashboard')
  mkdirSync(dirname(path), { recursive: true })
  // Bun also writes source maps beside the program, which already contains them.
  const folder = mkdtempSync(`${path}-`)
  try {
    const entry = join(folder, 'program-entry.ts')
    writeFileSync(entry, entryText(files))
    // Built twice: the first program records which functions a run uses, and the second stores
    // these functions together, so that a start reads fewer pages of the file.
    const [recorded, bytecodeOrder] = [join(folder, 'recorded'), join(folder, 'bytecode-order')]
    await bundle(entry, { outfile: recorded })
    await recordBytecodeOrder(recorded, bytecodeOrder)
    const outfile = join(folder, basename(path))
    await bundle(entry, {
      outfile,
      bytecodeOrder,
      ...(target === undefined ? {} : { target: target as Bun.Build.CompileTarget }),
    })
    renameSync(outfile, path)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return { path, shipped: files.length }
}

async function bundle(entry: string, compile: Bun.CompileBuildOptions): Promise<void> {
  await Bun.build({
    entrypoints: [entry],
    root: HOUSE,
    // The names under which the program reads the files: paths relative to the repository.
    naming: { asset: '[dir]/[name].[ext]' },
    minify: { whitespace: true, syntax: true, identifiers: false },
    sourcemap: 'inline',
    // Splitting and bytecode let a start parse only what it runs: `--version` takes 25 ms of
    // processor time instead of 220 ms.
    splitting: true,
    bytecode: true,
    format: 'esm',
    compile,
  })
}

function entryText(files: readonly string[]): string {
  return [
    ...files.map(
      (path, index) => `import file${index} from '${join(HOUSE, path)}' with { type: 'file' }`,
    ),
    `export const shipped = [${files.map((_, index) => `file${index}`).join(', ')}]`,
    `await import('${join(HOUSE, 'src/main.ts')}')`,
    '',
  ].join('\n')
}
