/**
 * Bundles web/ into dist/dashboard/, with every file compressed beside itself:
 * `bun scripts/build-dashboard.ts [--if-stale]`. It must not need anything that `npm ci` does not
 * bring.
 */
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { hashDashboardSources } from './dashboard-sources.ts'

const HOUSE = join(import.meta.dir, '..')
const TARGET = join(HOUSE, 'dist/dashboard')
/** What the bundle was made of; when it is still that, there is nothing to do. */
const STAMP = '.sources'
const BASE_PATH = '/dashboard/'
const FONTS_PATH = `${BASE_PATH}fonts/`
const FONTS = [
  '@fontsource-variable/geist/files/geist-latin-wght-normal.woff2',
  '@fontsource-variable/geist-mono/files/geist-mono-latin-wght-normal.woff2',
]
/** Smaller ones gain nothing. */
const FEWEST_BYTES_TO_COMPRESS = 512

function readStamp(): string | undefined {
  try {
    return readFileSync(join(TARGET, STAMP), 'utf8')
  } catch {
    return undefined
  }
}

const STYLE_LINK = /<link rel="stylesheet"[^>]*>/
const ENTRY_SCRIPT = /<script type="module"[^>]*><\/script>/

/**
 * The page with its style sheet after what stands in it: that is seen before the style sheet has
 * come.
 */
function arrangePage(html: string): string {
  const style = STYLE_LINK.exec(html)?.[0]
  const script = ENTRY_SCRIPT.exec(html)?.[0]
  if (style === undefined || script === undefined)
    throw new Error('the bundled page has another form than expected')
  return html
    .replace(style, '')
    .replace(script, '')
    .replace('</body>', `${style}${script}\n</body>`)
}

async function build(sources: string): Promise<void> {
  // Loaded only when there is something to build: most starts find nothing to do.
  const { default: tailwind } = await import('bun-plugin-tailwind')
  const unfinished = `${TARGET}.${process.pid}`
  const result = await Bun.build({
    entrypoints: [join(HOUSE, 'web/index.html')],
    target: 'browser',
    minify: true,
    splitting: true,
    publicPath: BASE_PATH,
    define: { 'process.env.NODE_ENV': '"production"' },
    naming: {
      entry: '[name].[ext]',
      chunk: 'assets/[name]-[hash].[ext]',
      asset: 'assets/[name]-[hash].[ext]',
    },
    external: [`${FONTS_PATH}*`],
    plugins: [tailwind],
  })
  for (const artifact of result.outputs) {
    const bytes = artifact.path.endsWith('.html')
      ? Buffer.from(arrangePage(await artifact.text()))
      : Buffer.from(await artifact.arrayBuffer())
    const path = join(unfinished, artifact.path)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, bytes)
    if (bytes.length < FEWEST_BYTES_TO_COMPRESS || path.endsWith('.woff2')) continue
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
    writeFileSync(
      `${path}.br`,
      brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
    )
  }
  mkdirSync(join(unfinished, 'fonts'))
  for (const font of FONTS)
    copyFileSync(Bun.resolveSync(font, HOUSE), join(unfinished, 'fonts', basename(font)))
  writeFileSync(join(unfinished, STAMP), sources)
  // A gateway that is serving the old files finds all of them or all of the new.
  rmSync(TARGET, { recursive: true, force: true })
  renameSync(unfinished, TARGET)
}

const sources = hashDashboardSources(HOUSE)
if (!process.argv.includes('--if-stale') || readStamp() !== sources) {
  const startedAt = performance.now()
  await build(sources)
  console.log(`dashboard: built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
}
