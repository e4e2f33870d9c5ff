/** Turns the layer table into rules on imports and applies the rules. */

export interface Layer {
  /** Folders under src/ that this folder may import besides itself. */
  readonly may: readonly string[]
  readonly does: string
}

export type LayerTable = Readonly<Record<string, Layer>>

/** Matches a path that fits `path` and not `not`. */
interface Paths {
  readonly path?: RegExp
  readonly pathNot?: RegExp
}

export interface LayerRule {
  readonly name: string
  readonly comment: string
  readonly from: Paths
  readonly to: Paths
}

export type ImportGraph = ReadonlyMap<string, readonly string[]>

const TEST_CODE = '(\\.(test|fixture)\\.ts$|^test/)'

/**
 * A rule per folder, and rules for all folders.
 * @param roots file names directly under src/
 */
export function layerRules(layers: LayerTable, roots: readonly string[]): LayerRule[] {
  const testCode = new RegExp(TEST_CODE)
  const folderRules = Object.entries(layers).map(([folder, layer]): LayerRule => {
    const allowed = layer.may.length === 0 ? 'nothing' : layer.may.join(', ')
    return {
      name: `layer-${folder}`,
      comment: `src/${folder} (${layer.does}) may import ${allowed} and itself: layers.mjs`,
      from: { path: new RegExp(`^src/${escapePattern(folder)}/`), pathNot: testCode },
      to: {
        path: /^(src|scripts|bench|web)\//,
        pathNot: new RegExp(
          `^src/(${[folder, ...layer.may].map(escapePattern).join('|')})/|${TEST_CODE}`,
        ),
      },
    }
  })
  const rootFiles = `^src/(${roots.map(escapePattern).join('|')})$`
  return [
    ...folderRules,
    {
      name: 'roots-are-not-imported',
      comment: 'the composition root joins everything, so nothing may depend on it: layers.mjs',
      from: { pathNot: new RegExp(`${rootFiles}|${TEST_CODE}`) },
      to: { path: new RegExp(rootFiles) },
    },
    {
      name: 'tests-are-not-imported',
      comment:
        'code that ships, and the scripts around it, must not depend on test code; the probes of ' +
        'scripts/conformance/ ask with the answers of test/support/',
      from: { path: /^(?:src\/|scripts\/(?!conformance\/))/, pathNot: testCode },
      to: { path: testCode },
    },
  ]
}

export interface Violation {
  readonly name: string
  readonly way: readonly string[]
  readonly comment: string
}

export function layerViolations(graph: ImportGraph, rules: readonly LayerRule[]): Violation[] {
  const violations: Violation[] = []
  for (const [file, targets] of graph) {
    const applying = rules.filter(({ from }) => isMeant(file, from))
    for (const target of targets)
      for (const { name, comment, to } of applying)
        if (isMeant(target, to)) violations.push({ name, way: [file, target], comment })
  }
  const comment =
    'files that import each other can only be understood together; move what both need into a third'
  for (const way of findCircles(graph)) violations.push({ name: 'no-circular', way, comment })
  return violations
}

function isMeant(file: string, { path, pathNot }: Paths): boolean {
  return (path?.test(file) ?? true) && !pathNot?.test(file)
}

function findCircles(graph: ImportGraph): string[][] {
  const left = new Map(graph)
  let before: number
  // Files whose imports all lead nowhere are in no cycle, and nearly all files are removed here.
  do {
    before = left.size
    for (const [file, targets] of left)
      if (!targets.some((target) => left.has(target))) left.delete(file)
  } while (left.size < before)

  const circles = new Map<string, string[]>()
  for (const [file, targets] of left) {
    for (const target of targets) {
      const back = shortestWay(left, target, file)
      if (back === undefined) continue
      const members = back.toSorted().join('\n')
      if (!circles.has(members)) circles.set(members, [file, ...back])
    }
  }
  return [...circles.values()]
}

function shortestWay(graph: ImportGraph, from: string, to: string): string[] | undefined {
  const ways = new Map([[from, [from]]])
  // Iterating over a map includes entries that are added meanwhile.
  for (const [file, way] of ways) {
    if (file === to) return way
    for (const next of graph.get(file) ?? []) if (!ways.has(next)) ways.set(next, [...way, next])
  }
  return undefined
}

/** Folders that layers.mjs names but does not list. */
export function layerTableFaults(
  layers: LayerTable,
  roots: readonly string[],
  sourcePaths: readonly string[],
): string[] {
  const faults = new Set<string>()
  for (const [folder, layer] of Object.entries(layers)) {
    for (const name of layer.may) {
      if (!(name in layers))
        faults.add(`layers.mjs: ${folder} may import "${name}", which is not in the table`)
    }
  }
  for (const path of sourcePaths) {
    const [top, first, ...rest] = path.split('/')
    if (top !== 'src' || first === undefined) continue
    if (rest.length > 0) {
      if (!(first in layers))
        faults.add(`src/${first}/ is not in layers.mjs: say what it does and may import`)
    } else if (!roots.includes(first) && !/\.(test|fixture)\.ts$/.test(first)) {
      faults.add(`${path} is in no folder; only ${roots.join(' and ')} stand directly in src/`)
    }
  }
  return [...faults]
}

/** Folder under src/ → other folders that its files import, without test code. */
export function importedFolders(graph: ImportGraph): ReadonlyMap<string, ReadonlySet<string>> {
  const testCode = new RegExp(TEST_CODE)
  const imported = new Map<string, Set<string>>()
  for (const [file, targets] of graph) {
    const folder = folderOf(file)
    if (folder === undefined || testCode.test(file)) continue
    const others = imported.get(folder) ?? new Set()
    for (const other of targets.map(folderOf))
      if (other !== undefined && other !== folder) others.add(other)
    imported.set(folder, others)
  }
  return imported
}

function folderOf(path: string): string | undefined {
  return /^src\/([^/]+)\//.exec(path)?.[1]
}

/** @returns a readable line for each unused permission */
export function unusedPermissions(graph: ImportGraph, layers: LayerTable): string[] {
  const imported = importedFolders(graph)
  return Object.entries(layers).flatMap(([folder, { may }]) =>
    may
      .filter((other) => imported.get(folder)?.has(other) !== true)
      .map((other) => `layers.mjs: ${folder} may import "${other}" and does not: remove it`),
  )
}

function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
