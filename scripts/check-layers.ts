/**
 * Checks that src/ keeps to layers.mjs: `bun scripts/check-layers.ts`. dependency-cruiser runs as a
 * process of its own because its parser for TypeScript works in Node.js only.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { IConfiguration, ICruiseOptions, ICruiseResult, IViolation } from 'dependency-cruiser'
import { layers, roots } from '../layers.mjs'
import { type LayerTable, layerRules, layerTableFaults } from './layer-rules.ts'

const HOUSE = join(import.meta.dir, '..')
/**
 * Fewer modules than this means that the parser or the folder is wrong, not that the code is clean.
 */
const FEWEST_MODULES = 10

export interface LayerReport {
  readonly modulesCruised: number
  /** One readable line each; empty when all is well. */
  readonly faults: readonly string[]
}

export interface LayerOptions {
  /** Names of the files directly under src/ that join everything. */
  readonly roots: readonly string[]
  readonly fewestModules?: number
}

/** What dependency-cruiser read and found, as far as it matters here. */
export interface Cruised {
  readonly modules: readonly { readonly source: string }[]
  readonly summary: {
    readonly violations: readonly Pick<IViolation, 'from' | 'to' | 'rule' | 'cycle'>[]
  }
}

/** @throws Error when dependency-cruiser itself fails. */
export async function checkLayers(
  folder: string,
  table: LayerTable,
  options: LayerOptions,
): Promise<LayerReport> {
  const rules = layerRules(table, options.roots)
  return toReport(
    await runCruiser(folder, { forbidden: rules, options: cruiserOptions }),
    table,
    options,
  )
}

export function toReport(cruised: Cruised, table: LayerTable, options: LayerOptions): LayerReport {
  const rules = layerRules(table, options.roots)
  const own = cruised.modules
    .map((module) => module.source)
    .filter((path) => path.startsWith('src/'))

  const faults = layerTableFaults(table, options.roots, own)
  for (const violation of cruised.summary.violations) {
    const cycle = violation.cycle?.map((step) => step.name).join(' -> ')
    const why =
      rules.find((rule) => rule.name === violation.rule.name)?.comment ?? 'no reason is written'
    faults.push(
      `${violation.rule.name}: ${violation.from} -> ${cycle ?? violation.to}\n    because ${why}`,
    )
  }
  const fewest = options.fewestModules ?? FEWEST_MODULES
  if (own.length < fewest) {
    faults.push(
      `only ${own.length} modules of src/ were read (at least ${fewest} expected): is the parser (@swc/core) there?`,
    )
  }
  return { modulesCruised: own.length, faults }
}

const cruiserOptions: ICruiseOptions = {
  // TypeScript 7 has no API that dependency-cruiser can read: with it alone, nothing is cruised and
  // all seems well.
  parser: 'swc',
  tsPreCompilationDeps: true,
  doNotFollow: { path: 'node_modules' },
  exclude: { path: '^(node_modules|test/fixtures|docs|data)/' },
  enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.mjs', '.js', '.json'] },
}

async function runCruiser(folder: string, configuration: IConfiguration): Promise<ICruiseResult> {
  const temporary = mkdtempSync(join(tmpdir(), 'gatehouse-layers-'))
  try {
    const configurationPath = join(temporary, 'rules.json')
    writeFileSync(configurationPath, JSON.stringify(configuration))
    const folders = [
      ...new Bun.Glob('{src,scripts,test}').scanSync({ cwd: folder, onlyFiles: false }),
    ]
    const program = join(HOUSE, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs')
    const cruiser = Bun.spawn(
      ['node', program, '--config', configurationPath, '--output-type', 'json', ...folders.sort()],
      { cwd: folder, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
    )
    const [answer, complaint] = await Promise.all([cruiser.stdout.text(), cruiser.stderr.text()])
    await cruiser.exited
    if (!answer.startsWith('{'))
      throw new Error(`dependency-cruiser gave no report:\n${complaint}${answer}`)
    return JSON.parse(answer) as ICruiseResult
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const { modulesCruised, faults } = await checkLayers(HOUSE, layers, { roots })
  for (const fault of faults) console.error(fault)
  console.log(`layers: ${modulesCruised} modules read, ${faults.length} faults`)
  if (faults.length > 0) process.exitCode = 1
}
