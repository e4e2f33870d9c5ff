/**
 * Turns the layer table into dependency-cruiser rules. Knows nothing of how they are run or shown.
 */
import type { IForbiddenRuleType } from 'dependency-cruiser'

export interface Layer {
  /** Folders under src/ that this one may import besides itself. */
  readonly may: readonly string[]
  /** What the folder is for, in half a sentence. */
  readonly does: string
}

export type LayerTable = Readonly<Record<string, Layer>>

const TEST_CODE = '(\\.(test|fixture)\\.ts$|^test/)'

/**
 * One rule a folder, and those that hold everywhere. `roots` are file names directly under src/.
 */
export function layerRules(layers: LayerTable, roots: readonly string[]): IForbiddenRuleType[] {
  const folderRules = Object.entries(layers).map(([folder, layer]): IForbiddenRuleType => {
    const allowed = layer.may.length === 0 ? 'nothing' : layer.may.join(', ')
    return {
      name: `layer-${folder}`,
      severity: 'error',
      comment: `src/${folder} (${layer.does}) may import ${allowed} and itself: layers.mjs`,
      from: { path: `^src/${escapePattern(folder)}/`, pathNot: TEST_CODE },
      to: {
        path: '^(src|scripts|bench|web)/',
        pathNot: `^src/(${[folder, ...layer.may].map(escapePattern).join('|')})/|${TEST_CODE}`,
      },
    }
  })
  const rootFiles = `^src/(${roots.map(escapePattern).join('|')})$`
  return [
    ...folderRules,
    {
      name: 'roots-are-not-imported',
      severity: 'error',
      comment: 'the composition root joins everything, so nothing may depend on it: layers.mjs',
      from: { pathNot: `${rootFiles}|${TEST_CODE}` },
      to: { path: rootFiles },
    },
    {
      name: 'tests-are-not-imported',
      severity: 'error',
      comment: 'code that ships, and the scripts around it, must not depend on test code',
      from: { path: '^(src|scripts)/', pathNot: TEST_CODE },
      to: { path: TEST_CODE },
    },
    {
      name: 'no-circular',
      severity: 'error',
      comment:
        'files that import each other can only be understood together; move what both need into a third',
      from: {},
      to: { circular: true },
    },
  ]
}

/**
 * Names that layers.mjs has wrong: a folder it does not list, or one that it lets import a folder
 * it does not list.
 */
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

function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
