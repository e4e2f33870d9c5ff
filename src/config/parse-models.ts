/**
 * Checks the configuration file's entries for models, individually and together, and reports every
 * fault. No message repeats a value of the file.
 */
import {
  type EntryFault,
  faultsOfPrices,
  MAX_MODELS,
  modelEntry,
} from '../contract/models-section.ts'
import type { ModelEntry } from '../core/model-entry.ts'
import type { Provider } from '../providers/define.ts'
import { isListedModel } from './listed-models.ts'
import { toYamlFaults, type YamlDocument, type YamlFault } from './yaml-document.ts'

export interface ParsedModels {
  readonly entries: readonly ModelEntry[]
  readonly faults: readonly YamlFault[]
}

/**
 * @param document the whole file
 * @param providers all providers that entries may name; undefined when faulty, so that names are
 * not checked
 */
export function parseModels(
  document: Pick<YamlDocument, 'value' | 'lineOf'>,
  providers: readonly Provider[] | undefined,
): ParsedModels {
  const { value, lineOf } = document
  const section = (value as { readonly models?: unknown }).models ?? []
  const fault = (path: readonly PropertyKey[], message: string): YamlFault => ({
    line: lineOf(['models', ...path]),
    message: `models${path.map(toStep).join('')} ${message}`,
  })
  if (!Array.isArray(section)) return { entries: [], faults: [fault([], 'must be an array')] }
  if (section.length > MAX_MODELS)
    return { entries: [], faults: [fault([], `must have at most ${MAX_MODELS} elements`)] }

  const faults: YamlFault[] = []
  const entries = new Map<number, ModelEntry>()
  for (const [index, given] of section.entries()) {
    const { data, error } = modelEntry.safeParse(given)
    if (data !== undefined) entries.set(index, data)
    else {
      const issues = error.issues.map((issue) => ({
        ...issue,
        path: ['models', index, ...issue.path],
      }))
      faults.push(...toYamlFaults({ issues }, { value, lineOf, notes: {} }))
    }
  }
  const checks = new EntryChecks([...entries.values()], providers)
  for (const [index, entry] of entries)
    for (const [path, message] of checks.faultsOf(entry))
      faults.push(fault([index, ...path], message))
  return { entries: [...entries.values()], faults }
}

function toStep(step: PropertyKey): string {
  return typeof step === 'number' ? `[${step}]` : `.${String(step)}`
}

class EntryChecks {
  readonly #providers: ReadonlyMap<string, Provider> | undefined
  readonly #entries = new Map<string, ModelEntry>()

  constructor(entries: readonly ModelEntry[], providers: readonly Provider[] | undefined) {
    this.#providers = providers && new Map(providers.map((provider) => [provider.id, provider]))
    for (const entry of entries)
      if (!this.#entries.has(entry.model)) this.#entries.set(entry.model, entry)
  }

  *faultsOf(entry: ModelEntry): Generator<EntryFault> {
    if (this.#entries.get(entry.model) !== entry)
      yield [['model'], 'must be another than that of the entries before it']
    yield* faultsOfPrices(entry)
    const { model, like } = entry
    if (like !== undefined && this.#isCircle(entry)) yield [['like'], CIRCLE]
    if (this.#providers === undefined) return
    const providerOf = (target: string) => this.#providers?.get(target.split('/', 1)[0] ?? '')
    if (providerOf(model) === undefined) yield [['model'], UNKNOWN_PROVIDER]
    if (like !== undefined && !this.#isKnown(like, providerOf(like)))
      yield [['like'], UNKNOWN_MODEL]
  }

  #isCircle(entry: ModelEntry): boolean {
    const seen = new Set<ModelEntry>()
    for (
      let next: ModelEntry | undefined = entry;
      next !== undefined;
      next = next.like === undefined ? undefined : this.#entries.get(next.like)
    ) {
      if (seen.has(next)) return true
      seen.add(next)
    }
    return false
  }

  #isKnown(target: string, provider: Provider | undefined): boolean {
    if (this.#entries.has(target)) return true
    return provider !== undefined && isListedModel(provider, target.slice(provider.id.length + 1))
  }
}

const CIRCLE = 'must not lead to an entry that leads back to itself'
const UNKNOWN_MODEL =
  'is not a model with a price: name another entry, or a model of GET /v1/provider-models'
const UNKNOWN_PROVIDER = 'must begin with the id of a provider: GET /v1/providers lists them'
