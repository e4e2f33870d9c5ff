/** The layer check against small made-up trees: a check that never complains is worth nothing. */
import { afterEach, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { checkLayers } from './check-layers.ts'

const table = {
  core: { may: [], does: 'nouns' },
  wire: { may: ['core'], does: 'formats' },
  gateway: { may: ['core', 'wire'], does: 'the hot path' },
}

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

async function faultsOf(files: Record<string, string>, fewestModules = 1): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-layers-test-'))
  folders.push(folder)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const report = await checkLayers(folder, table, { roots: ['main.ts'], fewestModules })
  return report.faults.join('\n')
}

const noun = { 'src/core/noun.ts': 'export const noun = 1\nexport interface Noun { a: 1 }\n' }

describe('the layer check', () => {
  test('accepts imports that the table allows', async () => {
    const faults = await faultsOf({
      ...noun,
      'src/wire/format.ts': "export { noun } from '../core/noun.ts'\n",
      'src/main.ts': "import { noun } from './wire/format.ts'\nnoun\n",
    })
    expect(faults).toBe('')
  })

  test('sees every way to import, types too, and says which rule and why', async () => {
    const forms = {
      plain: "import { path } from '../gateway/path.ts'\npath\n",
      'type-only': "import type { Path } from '../gateway/path.ts'\nexport type P = Path\n",
      'inline-type': "import { type Path } from '../gateway/path.ts'\nexport type P = Path\n",
      're-export': "export { path } from '../gateway/path.ts'\n",
      'star-re-export': "export * from '../gateway/path.ts'\n",
      'type-re-export': "export type { Path } from '../gateway/path.ts'\n",
      'for-its-effect': "import '../gateway/path.ts'\n",
      dynamic: "export const later = () => import('../gateway/path.ts')\n",
    }
    const files = Object.entries(forms).map(([form, text]) => [`src/wire/${form}.ts`, text] as const)
    const faults = await faultsOf({
      'src/gateway/path.ts': 'export const path = 1\nexport interface Path { a: 1 }\n',
      ...Object.fromEntries(files),
    })
    for (const [path] of files) expect(faults).toContain(`layer-wire: ${path} -> src/gateway/path.ts`)
    expect(faults).toContain('src/wire (formats) may import core and itself')
  })

  test('lets a test beside the code import any layer, but not be imported itself', async () => {
    const faults = await faultsOf({
      ...noun,
      'src/core/noun.test.ts': "import { path } from '../gateway/path.ts'\nexport const sample = path\n",
      'src/gateway/path.ts': 'export const path = 1\n',
      'src/wire/format.ts': "import { sample } from '../core/noun.test.ts'\nsample\n",
    })
    expect(faults).toContain('tests-are-not-imported: src/wire/format.ts -> src/core/noun.test.ts')
    expect(faults).not.toContain('layer-core')
  })

  test('refuses an import of the composition root, of test/, and a circle', async () => {
    const faults = await faultsOf({
      'src/main.ts': 'export const main = 1\n',
      'test/support/fake.ts': 'export const fake = 1\n',
      'src/core/noun.ts': "import { fake } from '../../test/support/fake.ts'\nfake\n",
      'src/gateway/one.ts':
        "import { two } from './two.ts'\nimport { main } from '../main.ts'\nexport const one = () => [two, main]\n",
      'src/gateway/two.ts': "import { one } from './one.ts'\nexport const two = () => one\n",
    })
    expect(faults).toContain('roots-are-not-imported: src/gateway/one.ts -> src/main.ts')
    expect(faults).toContain('tests-are-not-imported: src/core/noun.ts -> test/support/fake.ts')
    expect(faults).toContain('no-circular: ')
  })

  test('refuses a folder that the table does not list and a file in no folder', async () => {
    const faults = await faultsOf({ 'src/extra/thing.ts': 'export {}\n', 'src/stray.ts': 'export {}\n' })
    expect(faults).toContain('src/extra/ is not in layers.mjs')
    expect(faults).toContain('src/stray.ts is in no folder')
  })

  test('fails when it has read next to nothing', async () => {
    expect(await faultsOf(noun, 10)).toContain('only 1 modules of src/ were read')
  })
})
