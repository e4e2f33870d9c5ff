/**
 * Makes one program of the sources, with the runtime, the pages and the documents inside. Knows
 * nothing of who wants it: `make binary` for machines of other kinds too, `make test` because it
 * starts the program hundreds of times.
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { recordBytecodeOrder } from './record-bytecode-order.ts'

const HOUSE = join(import.meta.dir, '..')

/** Read by path while it runs: whatever is asked of src/core/shipped-files.ts. */
const SHIPPED = [
  'dist/dashboard/index.html*',
  'dist/dashboard/{assets,fonts}/*',
  'src/admin/openapi/docs-page.{css,browser.js}',
  'node_modules/swagger-ui-dist/swagger-ui{.css,-bundle.js}',
]

interface BuiltProgram {
  readonly path: string
  /** How many files that are no code it holds. */
  readonly shipped: number
}

/**
 * @param target of Bun's names; undefined: machines like this one
 * @throws with what is wrong in the sources, or where the dashboard is not built
 */
export async function buildProgram(path: string, target?: string): Promise<BuiltProgram> {
  const files = SHIPPED.flatMap((pattern) => [
    ...new Bun.Glob(pattern).scanSync({ cwd: HOUSE }),
  ]).sort()
  if (!files.includes('dist/dashboard/index.html'))
    throw new Error('the dashboard is not built: make dashboard')
  mkdirSync(dirname(path), { recursive: true })
  // Bun leaves source maps beside the program, which has them inside already.
  const folder = mkdtempSync(`${path}-`)
  try {
    const entry = join(folder, 'program-entry.ts')
    writeFileSync(entry, entryText(files))
    // Twice: a start reads parsed code from the file, by the page, and of the functions in each page
    // few are used, unless those that a run used stand together. The order is the same on machines
    // of other kinds.
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
    // The names under which they are read: their paths from here.
    naming: { asset: '[dir]/[name].[ext]' },
    minify: { whitespace: true, syntax: true, identifiers: false },
    sourcemap: 'inline',
    // A start reads what it runs, and finds it parsed: without these two, --version parses
    // everything (220 ms of processor time; 25 with them).
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
