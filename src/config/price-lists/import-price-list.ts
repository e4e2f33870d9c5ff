/** Plans the import of a public price list into the configuration file, and writes the file. */
import { randomUUID } from 'node:crypto'
import { chmod, copyFile, mkdir, open, realpath, rename, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { ModelEntry } from '../../core/model-entry.ts'
import { catalog } from '../../providers/catalog.ts'
import type { Provider } from '../../providers/define.ts'
import { configurationPath, readConfigurationFile } from '../load-settings.ts'
import { configuredProviders } from '../parse-configuration.ts'
import { parseModels } from '../parse-models.ts'
import { type Environment, SettingsError } from '../setting-type.ts'
import { readYaml, type YamlDocument } from '../yaml-document.ts'
import { diffModels, type ModelsDiff } from './diff-models.ts'
import type { PriceList } from './price-list.ts'
import { readPriceList } from './read-price-list.ts'
import { writeModelsSection } from './write-models-section.ts'

export interface ImportPlan extends ModelsDiff {
  /** The configuration file, which may not exist yet. */
  readonly path: string
  readonly before: string | undefined
  readonly after: string
  readonly list: PriceList
}

interface ImportOptions {
  /** The date from which new prices apply. */
  readonly from: string
  /** Only of these providers. Undefined: of all. */
  readonly providers?: readonly string[] | undefined
}

/**
 * @returns undefined when `listed` is not a price list of a known form
 * @throws SettingsError when the configuration file is invalid, or would be afterwards
 */
export async function planImport(
  environment: Environment,
  listed: string,
  { from, providers: wanted }: ImportOptions,
): Promise<ImportPlan | undefined> {
  const file = await readConfigurationFile(environment)
  const path = configurationPath(environment)
  const before = await readEntries(path, file?.text ?? '')
  const list = readPriceList(listed, new Set(before.providers.map(({ id }) => id)))
  if (list === undefined) return undefined
  const imported = list.entries.filter(
    ({ model }) => wanted === undefined || wanted.includes(model.slice(0, model.indexOf('/'))),
  )
  const diff = diffModels(before.entries, imported, from)
  const after = writeModelsSection(file?.text ?? '', diff)
  if (after === undefined)
    throw new SettingsError(
      `The configuration file ${path} has no section models in block form, and cannot be extended.`,
    )
  await assertOnlyModels(path, before.document, after)
  return { ...diff, path, before: file?.text, after, list }
}

/** @returns the path of the copy of the earlier file, if there was one */
export async function writeImport({
  path,
  before,
  after,
}: ImportPlan): Promise<string | undefined> {
  const real = await realpath(path).catch(() => path)
  const mode = await stat(real).then(
    ({ mode }) => mode & 0o777,
    () => NEW_FILE_MODE,
  )
  const backup = before === undefined ? undefined : `${real}.before-import`
  if (backup !== undefined) await copyFile(real, backup)
  await mkdir(dirname(real), { recursive: true, mode: NEW_FOLDER_MODE })
  const draft = `${real}.${randomUUID()}.new`
  const handle = await open(draft, 'wx', mode)
  try {
    await handle.writeFile(after)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await chmod(draft, mode)
  await rename(draft, real)
  return backup
}

const NEW_FILE_MODE = 0o644
const NEW_FOLDER_MODE = 0o700

interface ReadEntries {
  readonly document: YamlDocument | undefined
  readonly entries: readonly ModelEntry[]
  readonly providers: readonly Provider[]
}

async function readEntries(path: string, text: string): Promise<ReadEntries> {
  const document = readYaml(text)
  if (!('value' in document)) throw invalid(path, document)
  const value = document.value ?? {}
  const providers = [...catalog, ...(configuredProviders(value) ?? [])]
  const { entries, faults } = await parseModels({ ...document, value }, providers)
  if (faults.length > 0) throw invalid(path, faults)
  return { document, entries: [...entries], providers }
}

/** The file is only written when it can be read again, and nothing else changed. */
async function assertOnlyModels(
  path: string,
  before: YamlDocument | undefined,
  after: string,
): Promise<void> {
  const { document } = await readEntries(path, after)
  const others = (value: unknown) => ({ ...(value as object | null), models: undefined })
  if (!isDeepStrictEqual(others(before?.value ?? {}), others(document?.value ?? {})))
    throw new SettingsError(
      `The configuration file ${path} shares values between models and other sections, and ` +
        'cannot be extended.',
    )
}

function invalid(
  path: string,
  faults: readonly { readonly line: number; readonly message: string }[],
): SettingsError {
  const places = faults.slice(0, 20).map(({ line, message }) => `${path}:${line}: ${message}`)
  return new SettingsError(`The configuration file is invalid.\n${places.join('\n')}`)
}
