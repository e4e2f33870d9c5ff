/**
 * Bundles web/ into dist/dashboard/, with a compressed copy of every file: `bun
 * scripts/build-dashboard.ts [--if-stale]`. Needs only packages of `npm ci`.
 */
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { hashDashboardSources } from './dashboard-sources.ts'

const HOUSE = join(import.meta.dir, '..')
const TARGET = join(HOUSE, 'dist/dashboard')
/** A hash of the bundle's sources. An equal hash means that the bundle is current. */
const STAMP = '.sources'
const BASE_PATH = '/dashboard/'
const FONTS_PATH = `${BASE_PATH}fonts/`
const FONTS = [
  '@fontsource-variable/geist/files/geist-latin-wght-normal.woff2',
  '@fontsource-variable/geist-mono/files/geist-mono-latin-wght-normal.woff2',
]
/** Compressing smaller files saves nothing. */
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

const ASKED_FIRST = '<link rel="preload" as="fetch" crossorigin href="/v1/session">'

/**
 * Moves the style sheet behind the page's first content, so that the content is visible before the
 * style sheet arrives.
 */
function arrangePage(html: string): string {
  const style = STYLE_LINK.exec(html)?.[0]
  const script = ENTRY_SCRIPT.exec(html)?.[0]
  if (style === undefined || script === undefined)
    throw new Error('the bundled page has another form than expected')
  return html
    .replace(style, '')
    .replace(script, '')
    .replace('</head>', `${ASKED_FIRST}\n</head>`)
    .replace('</body>', `${style}${script}\n</body>`)
}

async function build(sources: string): Promise<void> {
  // Imported on demand, because most starts have nothing to build.
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
  // Renamed as a whole, so that a serving gateway finds either all old or all new files.
  rmSync(TARGET, { recursive: true, force: true })
  renameSync(unfinished, TARGET)
}

const sources = hashDashboardSources(HOUSE)
if (!process.argv.includes('--if-stale') || readStamp() !== sources) {
  const startedAt = performance.now()
  await build(sources)
  console.log(`dashboard: built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
}
