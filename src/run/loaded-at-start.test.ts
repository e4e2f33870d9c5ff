/**
 * Packages that a server loads before its first call: each costs every start tens of milliseconds,
 * and memory for good.
 */
import { expect, test } from 'bun:test'
import { dirname, join } from 'node:path'

const transpiler = new Bun.Transpiler({ loader: 'ts' })

/**
 * @returns the packages that are loaded with this file, by the files that name them: at once, not
 * when they are asked for
 */
async function packagesLoadedWith(entry: string): Promise<Map<string, string>> {
  const packages = new Map<string, string>()
  const files = new Set([join(import.meta.dir, entry)])
  for (const file of files) {
    if (!file.endsWith('.ts')) continue
    for (const { kind, path } of transpiler.scanImports(await Bun.file(file).text())) {
      if (kind !== 'import-statement') continue
      if (path.startsWith('.')) files.add(join(dirname(file), path))
      else if (!/^(node|bun):/.test(path)) packages.set(path, file)
    }
  }
  return packages
}

test('a server loads only the needs of every call: no Redis, no Postgres, no zod, no control plane', async () => {
  const packages = await packagesLoadedWith('./serve.ts')
  expect([...packages.keys()].sort(), [...packages].join('\n')).toEqual(['kysely', 'pino'])
})

test('the command line loads its parser alone, and the rest when a command runs', async () => {
  const packages = await packagesLoadedWith('../cli/program.ts')
  expect([...packages.keys()], [...packages].join('\n')).toEqual(['commander'])
})
