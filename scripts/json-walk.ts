/**
 * Compiles wasm/json-walk.ts into a generated source file, so that a start compiles nothing. The
 * compiler is as large as all other packages together, and so is downloaded only when the source
 * has changed.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const JSON_WALK = 'src/wire/json-walk.generated.ts'

const HOUSE = join(import.meta.dir, '..')
const SOURCE = 'wasm/json-walk.ts'
const COMPILER = 'assemblyscript@0.28.20'
const PAGES = 2
const CHARACTERS_PER_LINE = 88

/**
 * @param known the generated file's text
 * @returns whether the text was generated from the current source
 */
export function isJsonWalk(known: string): boolean {
  return known.includes(sourceHash())
}

/** @throws Error for a faulty source or a missing compiler */
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
