/**
 * Checks that src/ keeps to layers.mjs, and that no file of the house is in a circle of imports:
 * `bun scripts/check-layers.ts`.
 */
import { readFileSync, realpathSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import { layers, roots } from '../layers.mjs'
import {
  type ImportGraph,
  type LayerTable,
  layerRules,
  layerTableFaults,
  layerViolations,
} from './layer-rules.ts'
import { readImports } from './read-imports.ts'

const HOUSE = join(import.meta.dir, '..')
const CODE = new Bun.Glob('{src,scripts,test,bench,web}/**/*.{ts,tsx,mts,cts,js,jsx,mjs,cjs}')
/** Fewer modules than this means that the folder is wrong, not that the code is clean. */
const FEWEST_MODULES = 10

export interface LayerReport {
  readonly modulesRead: number
  /** One readable line each; empty when all is well. */
  readonly faults: readonly string[]
}

export interface LayerOptions {
  /** Names of the files directly under src/ that join everything. */
  readonly roots: readonly string[]
  readonly fewestModules?: number
}

/** @throws Error when a file cannot be parsed. */
export function checkLayers(folder: string, table: LayerTable, options: LayerOptions): LayerReport {
  return toReport(readGraph(folder), table, options)
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
  const fewest = options.fewestModules ?? FEWEST_MODULES
  if (own.length < fewest)
    faults.push(`only ${own.length} modules of src/ were read (at least ${fewest} expected)`)
  return { modulesRead: own.length, faults }
}

/** Paths are from `folder`. */
function readGraph(folder: string): ImportGraph {
  const house = realpathSync(folder)
  const graph = new Map<string, readonly string[]>()
  for (const file of [...CODE.scanSync({ cwd: house })].sort()) {
    const targets = readImports(file, readFileSync(join(house, file), 'utf8'))
      .map((specifier) => resolveImport(house, file, specifier))
      .filter((target) => target !== undefined)
    graph.set(file, [...new Set(targets)])
  }
  return graph
}

/** @returns undefined for a package; for a file that is not there, where it would be */
function resolveImport(house: string, file: string, specifier: string): string | undefined {
  try {
    return relative(house, Bun.resolveSync(specifier, dirname(join(house, file))))
  } catch {
    return specifier.startsWith('.') ? posix.join(dirname(file), specifier) : undefined
  }
}

if (import.meta.main) {
  const { modulesRead, faults } = checkLayers(HOUSE, layers, { roots })
  for (const fault of faults) console.error(fault)
  console.log(`layers: ${modulesRead} modules read, ${faults.length} faults`)
  if (faults.length > 0) process.exitCode = 1
}
