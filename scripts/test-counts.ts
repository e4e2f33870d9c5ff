/** Counts of tests: adding counts, reading counts from a JUnit report, and the closing line. */

export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

export const NO_TESTS: Counts = { passed: 0, failed: 0, skipped: 0 }

export function addCounts(a: Counts, b: Counts): Counts {
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    skipped: a.skipped + b.skipped,
  }
}

export function closingLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}

export interface TestReport {
  readonly counts: Counts
  readonly files: ReadonlySet<string>
  readonly skipped: readonly SkippedTest[]
  readonly failures: readonly Failure[]
}

export interface Failure {
  readonly name: string
  /** The runner's description of the failure, with many lines or none. */
  readonly message: string
  /** The test's file; undefined for failures outside of tests. */
  readonly file?: string | undefined
}

export interface SkippedTest {
  readonly name: string
  /** The reason that `test/support/skip-unless.ts` puts at the end of a name. */
  readonly reason: string | undefined
}

const REASON = / \(skipped: (needs .+?)\)(?= > |$)/

export function readJunit(xml: string): TestReport {
  const files = new Set<string>()
  const skipped: SkippedTest[] = []
  const failures: Failure[] = []
  let tests = 0
  // A test without children is `<testcase … />`; failures and skips are children.
  for (const match of xml.matchAll(
    /<testcase\b((?:[^>"]|"[^"]*")*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g,
  )) {
    const attributes = match[1] ?? ''
    const content = match[2] ?? ''
    const file = attribute(attributes, 'file')
    files.add(file)
    tests += 1
    const failure = /<(?:failure|error)\b((?:[^>"]|"[^"]*")*)/.exec(content)
    const group = attribute(attributes, 'classname')
    const name = `${group === '' ? '' : `${group} > `}${attribute(attributes, 'name')}`
    if (failure !== null) {
      const message = attribute(failure[1] ?? '', 'message')
      failures.push({ name: `${file}: ${name}`, message, file })
    } else if (/<skipped\b/.test(content)) {
      skipped.push({ name: `${file}: ${name.replace(REASON, '')}`, reason: REASON.exec(name)?.[1] })
    }
  }
  const failed = failures.length
  const counts = { passed: tests - failed - skipped.length, failed, skipped: skipped.length }
  return { counts, files, skipped, failures }
}

export function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`
}

function attribute(attributes: string, name: string): string {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? ''
  const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }
  return value.replaceAll(
    /&(?:#(\d+)|(lt|gt|quot|apos|amp));/g,
    (_whole, code?: string, entity = '') =>
      code === undefined ? (entities[entity] ?? '') : String.fromCodePoint(Number(code)),
  )
}
