/**
 * The walk over JSON as WebAssembly inside a file of the code: a start compiles nothing of it from
 * its source, and a program of one file holds it. Its compiler is as large as everything else that
 * the project needs, so it is fetched only where the source has changed, as the made file tells.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const JSON_WALK = 'src/wire/json-walk.generated.ts'

const HOUSE = join(import.meta.dir, '..')
const SOURCE = 'wasm/json-walk.ts'
const COMPILER = 'assemblyscript@0.28.20'
/** Of memory, 64 KiB each: they hold the tables and a window of the text. */
const PAGES = 2
const CHARACTERS_PER_LINE = 88

/** @param known what the file holds: whether it was made of this very source */
export function isJsonWalk(known: string): boolean {
  return known.includes(sourceHash())
}

/** @throws with what is wrong in the source, or why there is no compiler */
export function jsonWalk(): string {
  return `/** The walk over JSON, compiled. Made from ${SOURCE} by \`make fmt\`; edit that. */

// Of that file and the compiler's version: ${sourceHash()}

/** For processors that look at sixteen bytes at once. */
export const WIDE_WALK =
${toLines(compile('enable'))}

/** The same for all others. */
export const PLAIN_WALK =
${toLines(compile('disable'))}
`
}

function sourceHash(): string {
  const source = readFileSync(join(HOUSE, SOURCE))
  return new Bun.CryptoHasher('sha256').update(COMPILER).update(source).digest('hex')
}

function compile(wide: 'enable' | 'disable'): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), 'json-walk-'))
  try {
    const path = join(folder, 'walk.wasm')
    const { exitCode, stderr } = Bun.spawnSync(
      [
        ...['npx', '--yes', '--package', COMPILER, 'asc', SOURCE],
        ...['--outFile', path, '-O3', `--${wide}`, 'simd', '--runtime', 'stub', '--noAssert'],
        ...['--initialMemory', String(PAGES), '--maximumMemory', String(PAGES)],
      ],
      { cwd: HOUSE, timeout: 120_000 },
    )
    if (exitCode !== 0) throw new Error(`${SOURCE} was not compiled:\n${stderr.toString()}`)
    return readFileSync(path)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function toLines(binary: Uint8Array): string {
  const text = Buffer.from(binary).toString('base64')
  const lines = text.match(new RegExp(`.{1,${CHARACTERS_PER_LINE}}`, 'g')) ?? []
  return lines.map((line) => `  '${line}'`).join(' +\n')
}
