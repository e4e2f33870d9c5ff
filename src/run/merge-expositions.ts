export interface WorkerPage {
  readonly worker: number
  readonly text: string
}

interface Family {
  readonly heading: readonly string[]
  readonly series: string[]
}

/**
 * Adds nothing up: when a restarted worker's part leaves a sum, `rate` would show calls that never
 * happened. The format requires adjacent series per metric.
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
 * The first brace or space ends a name, because a name contains neither; label values may contain
 * anything.
 */
function withWorker(line: string, worker: number): string {
  const end = line.search(/[{ ]/)
  const name = line.slice(0, end)
  if (line[end] === ' ') return `${name}{worker="${worker}"}${line.slice(end)}`
  const separator = line[end + 1] === '}' ? '' : ','
  return `${name}{worker="${worker}"${separator}${line.slice(end + 1)}`
}
