/**
 * Counts of tests: adding them up, reading them from a JUnit report, and the closing line. Runs
 * nothing.
 */

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

/** `N passed, N failed`, and the skipped where there are any: the form that CI reads. */
export function closingLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}

export interface TestReport {
  readonly counts: Counts
  /** The test files that the report speaks of, as it spells them. */
  readonly files: ReadonlySet<string>
  readonly skipped: readonly SkippedTest[]
  readonly failures: readonly Failure[]
}

/** A test that failed, or something else that counts as one. */
export interface Failure {
  /** `file: group > test`. */
  readonly name: string
  /** What went wrong, as the runner tells it: of many lines, or empty. */
  readonly message: string
  /** The test's file; undefined: it is no test's. */
  readonly file?: string | undefined
}

export interface SkippedTest {
  /** `file: group > test`. */
  readonly name: string
  /** What `test/support/skip-unless.ts` put at the end of its name, or of its group's. */
  readonly reason: string | undefined
}

const REASON = / \(skipped: (needs .+?)\)(?= > |$)/

/** Reads the JUnit report of `bun test`; an empty text is a report of nothing. */
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
