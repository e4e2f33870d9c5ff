/** Which folder of web/ may import which, as a table and a check of a file's imports. */
import { posix } from 'node:path'
import { readImports } from './read-imports.ts'

/** Besides itself, packages, and src/contract/. */
const MAY: Readonly<Record<string, readonly string[]>> = {
  format: [],
  api: [],
  ui: ['api', 'format'],
  features: ['api', 'format', 'ui'],
  app: ['api', 'format', 'ui', 'features'],
}

/**
 * @param path from the repository's folder: `web/features/gates/gates-page.tsx`
 * @returns a readable line per forbidden import
 */
export function dashboardLayerFaults(path: string, source: string): string[] {
  const [, folder = '', feature = ''] = path.split('/')
  const allowed = MAY[folder]
  // Files directly in web/ join everything.
  if (path.split('/').length === 2) return []
  if (allowed === undefined)
    return [`${path}: web/${folder}/ is not in the table of scripts/dashboard-layers.ts`]
  const own = readImports(path, source).filter((specifier) => specifier.startsWith('.'))
  return own.flatMap((specifier) => {
    const target = posix.join(posix.dirname(path), specifier)
    if (target.startsWith('src/contract/')) return []
    if (path.endsWith('.test.ts') && target === 'test/support/skip-unless.ts') return []
    const [top, targetFolder = '', targetFeature = ''] = target.split('/')
    if (top !== 'web')
      return [`${path} imports ${target}: of src/ the dashboard may import the contract alone`]
    if (folder === 'features' && targetFolder === 'features' && feature !== targetFeature) {
      return [
        `${path} imports ${target}: features stand alone; what two need goes to web/ui, format or api`,
      ]
    }
    if (targetFolder === folder || allowed.includes(targetFolder)) return []
    return [
      `${path} imports ${target}: web/${folder}/ may import ${allowed.join(', ') || 'nothing'} and itself`,
    ]
  })
}
