/**
 * Checks that no file of src/ outside src/providers/ names a provider: `bun
 * scripts/check-provider-names.ts`.
 */
import { join } from 'node:path'
import { DIALECTS } from '../src/core/dialects.ts'
import { catalog } from '../src/providers/catalog.ts'
import { findProviderNames } from './provider-names.ts'

const HOUSE = join(import.meta.dir, '..')
const MAY_NAME = /^src\/(providers|sandbox)\/|\.(test|fixture|generated)\.ts$/

// The longest names come first, because a name may contain another name.
const folders = await Array.fromAsync(
  new Bun.Glob('*').scan({ cwd: join(HOUSE, 'src/wire'), onlyFiles: false }),
)
const dialects = [...folders, ...Object.keys(DIALECTS)].sort((a, b) => b.length - a.length)
// `sandbox` is a part of the gateway itself, which every file may name.
const providers = catalog.map((provider) => provider.id).filter((id) => id !== 'sandbox')

let filesRead = 0
let faults = 0
for (const path of [...new Bun.Glob('src/**/*.ts').scanSync({ cwd: HOUSE })].sort()) {
  if (MAY_NAME.test(path)) continue
  filesRead += 1
  const findings = findProviderNames(await Bun.file(join(HOUSE, path)).text(), {
    providers,
    dialects: dialects.filter((name) => !name.includes('.')),
    identifiersAndImports: !path.startsWith('src/wire/'),
  })
  for (const { line, provider, text } of findings) {
    faults += 1
    console.error(`${path}:${line}: names the provider "${provider}" in ${JSON.stringify(text)}`)
  }
}

if (faults > 0) {
  console.error(
    'A provider is data in src/providers/: let it carry a field and read that. If the name is right here,\n' +
      'put "provider-name-ok: the reason" in a comment on the line before.',
  )
}
console.log(`provider names: ${filesRead} files read, ${faults} faults`)
if (faults > 0 || filesRead === 0 || providers.length === 0) process.exitCode = 1
