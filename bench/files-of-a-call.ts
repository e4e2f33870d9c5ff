/**
 * Which files of the product a 1 KB call passes on a warm gateway, with its ledger and telemetry:
 * those that run a line once more for each call more. Counts, no times: it says the same on a busy
 * machine.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const USAGE = `bun bench/files-of-a-call.ts [--most N]

Lists the files under src/ that a 1 KB chat call passes, with how many of their lines it runs.
  --most N  fails where there are more than N
  --help    this text`

const FEW = 20
const MANY = 120
const CALLS_BETWEEN = MANY - FEW

/** Path → line → how often it was run. */
type LineCounts = ReadonlyMap<string, ReadonlyMap<number, number>>

async function countLines(calls: number): Promise<LineCounts> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-coverage-'))
  try {
    const child = Bun.spawn(
      [
        ...[
          process.execPath,
          'test',
          '--coverage',
          '--coverage-reporter=lcov',
          '--coverage-dir',
          folder,
        ],
        ...['--timeout=60000', './bench/files-of-a-call.fixture.ts'],
      ],
      { env: { ...process.env, BENCH_CALLS: String(calls) }, stdout: 'pipe', stderr: 'pipe' },
    )
    const [said, exitCode] = await Promise.all([new Response(child.stderr).text(), child.exited])
    if (exitCode !== 0) throw new Error(`the calls were not answered:\n${said}`)
    return readLcov(readFileSync(join(folder, 'lcov.info'), 'utf8'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The two kinds of lines that matter here: `SF:path` and `DA:line,count`. */
function readLcov(text: string): LineCounts {
  const files = new Map<string, Map<number, number>>()
  let current = new Map<number, number>()
  for (const line of text.split('\n')) {
    if (line.startsWith('SF:')) {
      current = new Map()
      files.set(line.slice('SF:'.length), current)
    } else if (line.startsWith('DA:')) {
      const [at = 0, count = 0] = line.slice('DA:'.length).split(',').map(Number)
      current.set(at, count)
    }
  }
  return files
}

/** @returns path → how many lines each call runs, most first */
function passedFiles(few: LineCounts, many: LineCounts): [string, number][] {
  const passed: [string, number][] = []
  for (const [path, counts] of many) {
    if (!path.startsWith('src/')) continue
    const before = few.get(path)
    const lines = [...counts].filter(
      ([at, count]) => count - (before?.get(at) ?? 0) >= CALLS_BETWEEN,
    )
    if (lines.length > 0) passed.push([path, lines.length])
  }
  return passed.toSorted(([, left], [, right]) => right - left)
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { most: { type: 'string' }, help: { type: 'boolean' } } })
  if (values.help === true) {
    console.log(USAGE)
    return
  }
  const passed = passedFiles(await countLines(FEW), await countLines(MANY))
  for (const [path, lines] of passed) console.log(`${String(lines).padStart(5)} ${path}`)
  console.log(`${passed.length} files`)
  if (values.most !== undefined && passed.length > Number(values.most)) process.exit(1)
}

await main()
