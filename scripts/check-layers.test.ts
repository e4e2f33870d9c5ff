import { beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { checkLayers, toReport } from './check-layers.ts'
import { unusedPermissions } from './layer-rules.ts'

const table = {
  core: { may: [], does: 'nouns' },
  wire: { may: ['core'], does: 'formats' },
  gateway: { may: ['core', 'wire'], does: 'the hot path' },
}
const options = { roots: ['main.ts', 'joins.ts'], fewestModules: 1 }

const ALLOWED = {
  'src/core/noun.ts': 'export const noun = 1\nexport interface Noun { a: 1 }\n',
  'src/wire/format.ts': "export { noun } from '../core/noun.ts'\n",
  'src/main.ts': "import { noun } from './wire/format.ts'\nnoun\n",
  'src/gateway/path.ts': 'export const path = 1\nexport interface Path { a: 1 }\n',
  'src/core/noun.test.ts':
    "import { path } from '../gateway/path.ts'\nexport const sample = path\n",
  'test/support/fake.ts': 'export const fake = 1\n',
}

const FORMS = {
  plain: "import { path } from '../gateway/path.ts'\npath\n",
  'type-only': "import type { Path } from '../gateway/path.ts'\nexport type P = Path\n",
  'inline-type': "import { type Path } from '../gateway/path.ts'\nexport type P = Path\n",
  're-export': "export { path } from '../gateway/path.ts'\n",
  'star-re-export': "export * from '../gateway/path.ts'\n",
  'type-re-export': "export type { Path } from '../gateway/path.ts'\n",
  'for-its-effect': "import '../gateway/path.ts'\n",
  dynamic: "export const later = () => import('../gateway/path.ts')\n",
  'dynamic-in-a-template': 'export const later = () => import(`../gateway/path.ts`)\n',
  'type-of-a-module': "export type P = typeof import('../gateway/path.ts')\n",
  'named-in-a-type': "export type P = import('../gateway/path.ts').Path\n",
  required: "export const later = () => require('../gateway/path.ts')\n",
  'required-by-name': "import path = require('../gateway/path.ts')\npath\n",
  'of-nothing': "export {} from '../gateway/path.ts'\n",
}
const FORM_FILES = Object.entries(FORMS).map(
  ([form, text]) => [`src/wire/${form}.ts`, text] as const,
)

const REFUSED = {
  ...Object.fromEntries(FORM_FILES),
  'src/wire/sampled.ts': "import { sample } from '../core/noun.test.ts'\nsample\n",
  'src/core/faked.ts': "import { fake } from '../../test/support/fake.ts'\nfake\n",
  'src/wire/missing.ts': "import type { M } from '../gateway/missing.ts'\nexport type N = M\n",
  'src/wire/shortened.ts': "import { noun } from '../core/noun'\nnoun\n",
  'src/joins.ts': 'export const joins = 1\n',
  'src/gateway/one.ts':
    "import { two } from './two.ts'\nimport { joins } from '../joins.ts'\nexport const one = () => [two, joins]\n",
  'src/gateway/two.ts': "import { one } from './one.ts'\nexport const two = () => one\n",
  'src/extra/thing.ts': 'export {}\n',
  'src/stray.ts': 'export {}\n',
}

let faults: readonly string[]

beforeAll(() => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-layers-test-'))
  try {
    for (const [path, text] of Object.entries({ ...ALLOWED, ...REFUSED })) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    faults = checkLayers(folder, table, options).faults
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

describe('the layer check', () => {
  test('sees every kind of import, of types too, and names the rule and the reason', () => {
    for (const [path] of FORM_FILES)
      expect(faults.join('\n')).toContain(`layer-wire: ${path} -> src/gateway/path.ts`)
    expect(faults.join('\n')).toContain('src/wire (formats) may import core and itself')
  })

  test('lets a test beside the code import any layer, but not be imported itself', () => {
    expect(faults.join('\n')).toContain(
      'tests-are-not-imported: src/wire/sampled.ts -> src/core/noun.test.ts',
    )
    expect(faults.join('\n')).not.toContain('layer-core')
  })

  test('refuses an import of the composition root, of test/, and a circle', () => {
    expect(faults.join('\n')).toContain(
      'roots-are-not-imported: src/gateway/one.ts -> src/joins.ts',
    )
    expect(faults.join('\n')).toContain(
      'tests-are-not-imported: src/core/faked.ts -> test/support/fake.ts',
    )
    expect(faults.join('\n')).toContain('no-circular: ')
  })

  test('refuses an import of what is no file, and holds it to the rules all the same', () => {
    expect(faults.join('\n')).toContain('layer-wire: src/wire/missing.ts -> src/gateway/missing.ts')
    expect(faults.join('\n')).toContain(
      'no-such-file: src/wire/missing.ts -> src/gateway/missing.ts',
    )
    expect(faults.join('\n')).toContain('no-such-file: src/wire/shortened.ts -> src/core/noun')
  })

  test('refuses a folder that the table does not list and a file in no folder', () => {
    expect(faults.join('\n')).toContain('src/extra/ is not in layers.mjs')
    expect(faults.join('\n')).toContain('src/stray.ts is in no folder')
  })

  test('refuses a permission that no file uses, or test code alone', () => {
    const graph = new Map([
      ['src/wire/format.ts', ['src/core/noun.ts']],
      ['src/gateway/path.test.ts', ['src/wire/format.ts']],
    ])
    expect(unusedPermissions(graph, table)).toEqual([
      'layers.mjs: gateway may import "core" and does not: remove it',
      'layers.mjs: gateway may import "wire" and does not: remove it',
    ])
  })

  test('accepts imports that the table allows, and reports only the others', () => {
    const headlines = faults.map((fault) => fault.split('\n')[0])
    expect(headlines.toSorted()).toEqual(
      [
        ...FORM_FILES.map(([path]) => `layer-wire: ${path} -> src/gateway/path.ts`),
        'layer-wire: src/wire/missing.ts -> src/gateway/missing.ts',
        'layer-gateway: src/gateway/one.ts -> src/joins.ts',
        'layers.mjs: gateway may import "core" and does not: remove it',
        'layers.mjs: gateway may import "wire" and does not: remove it',
        'no-circular: src/gateway/one.ts -> src/gateway/two.ts -> src/gateway/one.ts',
        'no-such-file: src/wire/missing.ts -> src/gateway/missing.ts',
        'no-such-file: src/wire/shortened.ts -> src/core/noun',
        'roots-are-not-imported: src/gateway/one.ts -> src/joins.ts',
        'src/extra/ is not in layers.mjs: say what it does and may import',
        'src/stray.ts is in no folder; only main.ts and joins.ts stand directly in src/',
        'tests-are-not-imported: src/core/faked.ts -> test/support/fake.ts',
        'tests-are-not-imported: src/wire/sampled.ts -> src/core/noun.test.ts',
      ].toSorted(),
    )
  })

  test('says which file it could not parse', () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-layers-test-'))
    try {
      mkdirSync(join(folder, 'src/core'), { recursive: true })
      writeFileSync(join(folder, 'src/core/torn.ts'), "import { noun from './noun.ts'\n")
      expect(() => checkLayers(folder, table, options)).toThrow('src/core/torn.ts cannot be parsed')
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  test('fails when it has read nearly nothing', () => {
    const graph = new Map([['src/core/noun.ts', []]])
    expect(toReport(graph, table, { ...options, fewestModules: 10 }).faults.join('\n')).toContain(
      'only 1 modules of src/ were read',
    )
    const alone = { core: table.core }
    expect(toReport(graph, alone, options).faults).toEqual([])
  })
})
