/**
 * Several workers' metrics as one page for Prometheus: each series says whose it is. Must not know
 * what any metric means.
 */

export interface WorkerPage {
  readonly worker: number
  /** In Prometheus' text format. */
  readonly text: string
}

interface Family {
  /** `# HELP` and `# TYPE`. */
  readonly heading: readonly string[]
  readonly series: string[]
}

/**
 * Nothing is added up: of a sum that a restarted worker takes its part from, `rate` would make
 * calls that never were, while a series that begins anew is what it knows. Series of one metric
 * stand together, as the format demands.
 */
export function mergeExpositions(pages: readonly WorkerPage[]): string {
  const families = new Map<string, Family>()
  for (const { worker, text } of pages) {
    let heading: string[] = []
    let family: Family | undefined
    for (const line of text.split('\n')) {
      if (line === '') continue
      if (line.startsWith('#')) {
        heading.push(line)
        family = undefined
        continue
      }
      family ??= familyOf(families, heading)
      heading = []
      family.series.push(withWorker(line, worker))
    }
  }
  return [...families.values()]
    .flatMap(({ heading, series }) => [...heading, ...series, ''])
    .join('\n')
}

function familyOf(families: Map<string, Family>, heading: readonly string[]): Family {
  const name = /^# \w+ (\S+)/.exec(heading[0] ?? '')?.[1] ?? ''
  const known = families.get(name)
  if (known !== undefined) return known
  const family = { heading, series: [] }
  families.set(name, family)
  return family
}

/**
 * A name holds neither brace nor space, so the first of either ends it; label values may hold
 * anything.
 */
function withWorker(line: string, worker: number): string {
  const end = line.search(/[{ ]/)
  const name = line.slice(0, end)
  if (line[end] === ' ') return `${name}{worker="${worker}"}${line.slice(end)}`
  const separator = line[end + 1] === '}' ? '' : ','
  return `${name}{worker="${worker}"${separator}${line.slice(end + 1)}`
}
