/**
 * Checks src/ against layers.mjs, and all files for import cycles: `bun scripts/check-layers.ts`.
 */
import { readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { layers, roots } from '../layers.mjs'
import {
  type ImportGraph,
  type LayerTable,
  layerRules,
  layerTableFaults,
  layerViolations,
  unusedPermissions,
} from './layer-rules.ts'
import { readImports } from './read-imports.ts'

const HOUSE = join(import.meta.dir, '..')
const CODE = new Bun.Glob('{src,scripts,test,bench,web,wasm}/**/*.{ts,tsx,mts,cts,js,jsx,mjs,cjs}')
const FEWEST_MODULES = 10

export interface LayerReport {
  readonly modulesRead: number
  /** One readable line per fault. */
  readonly faults: readonly string[]
}

export interface LayerOptions {
  /** Names of the files directly under src/ that join everything. */
  readonly roots: readonly string[]
  readonly fewestModules?: number
}

/** @throws Error when a file cannot be parsed */
export function checkLayers(folder: string, table: LayerTable, options: LayerOptions): LayerReport {
  const graph = readGraph(folder)
  const { modulesRead, faults } = toReport(graph, table, options)
  return { modulesRead, faults: [...faults, ...missingFiles(folder, graph)] }
}

export function toReport(
  graph: ImportGraph,
  table: LayerTable,
  options: LayerOptions,
): LayerReport {
  const own = [...graph.keys()].filter((path) => path.startsWith('src/'))
  const faults = layerTableFaults(table, options.roots, own)
  for (const { name, way, comment } of layerViolations(graph, layerRules(table, options.roots)))
    faults.push(`${name}: ${way.join(' -> ')}\n    because ${comment}`)
  faults.push(...unusedPermissions(graph, table))
  const fewest = options.fewestModules ?? FEWEST_MODULES
  if (own.length < fewest)
    faults.push(`only ${own.length} modules of src/ were read (at least ${fewest} expected)`)
  return { modulesRead: own.length, faults }
}

export function readGraph(folder: string): ImportGraph {
  const graph = new Map<string, readonly string[]>()
  for (const file of [...CODE.scanSync({ cwd: folder })].sort()) {
    const targets = readImports(file, readFileSync(join(folder, file), 'utf8'))
      .filter((imported) => imported.startsWith('.'))
      .map((imported) => posix.join(posix.dirname(file), imported))
    graph.set(file, [...new Set(targets)])
  }
  return graph
}

/** Finds imports of missing files. An import must name its file with the extension. */
function missingFiles(folder: string, graph: ImportGraph): string[] {
  const isThere = (path: string) => graph.has(path) || isFile(join(folder, path))
  return [...graph].flatMap(([file, targets]) =>
    targets
      .filter((target) => !isThere(target))
      .map(
        (target) =>
          `no-such-file: ${file} -> ${target}\n    because an import names its file with its ending`,
      ),
  )
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}

if (import.meta.main) {
  const { modulesRead, faults } = checkLayers(HOUSE, layers, { roots })
  for (const fault of faults) console.error(fault)
  console.log(`layers: ${modulesRead} modules read, ${faults.length} faults`)
  if (faults.length > 0) process.exitCode = 1
}
