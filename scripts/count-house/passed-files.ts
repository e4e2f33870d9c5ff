/**
 * Counts the product's files that a request passes on a warm gateway: files with a line that runs
 * again for each further request. Lines do not depend on the load of the machine.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const JOURNEYS = ['call', 'translated call', 'gate PATCH', 'analytics GET'] as const
export type Journey = (typeof JOURNEYS)[number]

const FEW = 20
const MANY = 120
const REQUESTS_BETWEEN = MANY - FEW

type LineCounts = ReadonlyMap<string, ReadonlyMap<number, number>>

/**
 * @param folder a checkout with its packages installed
 * @returns path → lines that each request runs, largest first
 */
export async function findPassedFiles(
  folder: string,
  journey: Journey,
): Promise<readonly (readonly [path: string, lines: number])[]> {
  const few = await countLines(folder, journey, FEW)
  const many = await countLines(folder, journey, MANY)
  const passed: [string, number][] = []
  for (const [path, counts] of many) {
    if (!path.startsWith('src/')) continue
    const before = few.get(path)
    const lines = [...counts].filter(
      ([at, count]) => count - (before?.get(at) ?? 0) >= REQUESTS_BETWEEN,
    )
    if (lines.length > 0) passed.push([path, lines.length])
  }
  return passed.toSorted(([, left], [, right]) => right - left)
}

async function countLines(folder: string, journey: Journey, requests: number): Promise<LineCounts> {
  const reports = mkdtempSync(join(tmpdir(), 'gatehouse-coverage-'))
  try {
    const child = Bun.spawn(
      [
        ...[process.execPath, 'test', '--coverage', '--coverage-reporter=lcov'],
        ...['--coverage-dir', reports, '--timeout=60000'],
        join(import.meta.dir, 'passed-files.fixture.ts'),
      ],
      {
        cwd: folder,
        env: { ...process.env, COUNT_JOURNEY: journey, COUNT_REQUESTS: String(requests) },
        stdout: 'pipe',
        stderr: 'pipe',
      },
    )
    const [output, exitCode] = await Promise.all([new Response(child.stderr).text(), child.exited])
    if (exitCode !== 0) throw new Error(`The requests of "${journey}" failed:\n${output}`)
    return readLcov(readFileSync(join(reports, 'lcov.info'), 'utf8'))
  } finally {
    rmSync(reports, { recursive: true, force: true })
  }
}

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
