/**
 * Checks the configuration file's entries for models, individually and together, and reports every
 * fault. No message repeats a value of the file.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type EntryFault,
  faultsOfPrices,
  MAX_MODELS,
  modelEntry,
} from '../contract/models-section.ts'
import { ModelEntries } from '../core/model-entries.ts'
import type { ModelEntry } from '../core/model-entry.ts'
import type { Provider } from '../providers/define.ts'
import { type ListPart, LongList } from './large-list.ts'
import { isListedModel } from './listed-models.ts'
import { toYamlFaults, type YamlDocument, type YamlFault } from './yaml-document.ts'

export interface ParsedModels {
  readonly entries: ModelEntries
  readonly faults: readonly YamlFault[]
}

/**
 * Lets other work run between the parts of a long list.
 * @param document the whole file
 * @param providers all providers that entries may name; undefined when faulty, so that names are
 * not checked
 */
export async function parseModels(
  document: Pick<YamlDocument, 'value' | 'lineOf'>,
  providers: readonly Provider[] | undefined,
): Promise<ParsedModels> {
  const { value, lineOf } = document
  const section = (value as { readonly models?: unknown }).models ?? []
  const fault = (path: readonly PropertyKey[], message: string): YamlFault => ({
    line: lineOf(['models', ...path]),
    message: `models${path.map(toStep).join('')} ${message}`,
  })
  const none = new ModelEntries()
  if (!Array.isArray(section) && !(section instanceof LongList))
    return { entries: none, faults: [fault([], 'must be an array')] }
  if (section.length > MAX_MODELS)
    return { entries: none, faults: [fault([], `must have at most ${MAX_MODELS} elements`)] }

  const faults: YamlFault[] = []
  const checks = new EntryChecks(providers)
  for (const part of partsOf(section)) {
    faults.push(...part.faults)
    for (const [index, given] of part.values) {
      const { data, error } = modelEntry.safeParse(given)
      if (data !== undefined) {
        for (const [path, message] of checks.add(index, data))
          faults.push(fault([index, ...path], message))
        continue
      }
      const issues = error.issues.map((issue) => ({
        ...issue,
        path: ['models', index, ...issue.path],
      }))
      const at = { value: { models: { [index]: given } }, lineOf, notes: {} }
      faults.push(...toYamlFaults({ issues }, at))
    }
    if (section instanceof LongList) await nextTurn()
  }
  let checked = 0
  for (const [model, { index, like }] of checks.likes) {
    const message = checks.faultOfLike(model, like)
    if (message !== undefined) faults.push(fault([index, 'like'], message))
    checked += 1
    if (checked % LIKES_AT_A_TIME === 0) await nextTurn()
  }
  return { entries: checks.entries, faults }
}

const LIKES_AT_A_TIME = 50

function partsOf(section: readonly unknown[] | LongList): Iterable<ListPart> {
  return section instanceof LongList
    ? section.parts()
    : [{ values: new Map(section.entries()), faults: [] }]
}

function toStep(step: PropertyKey): string {
  return typeof step === 'number' ? `[${step}]` : `.${String(step)}`
}

class EntryChecks {
  readonly entries = new ModelEntries()
  /** By the entry's `model`. */
  readonly likes = new Map<string, { readonly index: number; readonly like: string }>()
  readonly #providers: ReadonlyMap<string, Provider> | undefined
  /** By model: whether its `like` leads into a circle, as far as known. */
  readonly #circles = new Map<string, boolean>()

  constructor(providers: readonly Provider[] | undefined) {
    this.#providers = providers && new Map(providers.map((provider) => [provider.id, provider]))
  }

  /** @returns the faults of the entry, except those of `like` */
  *add(index: number, entry: ModelEntry): Generator<EntryFault> {
    const { model, like } = entry
    if (this.entries.has(model))
      yield [['model'], 'must be another than that of the entries before it']
    else {
      this.entries.add(entry)
      if (like !== undefined) this.likes.set(model, { index, like })
    }
    yield* faultsOfPrices(entry)
    if (this.#providers !== undefined && this.#providerOf(model) === undefined)
      yield [['model'], UNKNOWN_PROVIDER]
  }

  /** Call this after all entries were added. */
  faultOfLike(model: string, like: string): string | undefined {
    if (this.#isCircle(model)) return CIRCLE
    return this.#isKnown(like) ? undefined : UNKNOWN_MODEL
  }

  /** Whether the entries in `like` lead into a circle. Walks each entry once for all models. */
  #isCircle(model: string): boolean {
    const walked = new Set<string>()
    let next: string | undefined = model
    while (next !== undefined && !this.#circles.has(next) && !walked.has(next)) {
      walked.add(next)
      next = this.likes.get(next)?.like
    }
    const isCircle = next !== undefined && (this.#circles.get(next) ?? true)
    for (const each of walked) this.#circles.set(each, isCircle)
    return isCircle
  }

  #isKnown(target: string): boolean {
    if (this.#providers === undefined || this.entries.has(target)) return true
    const provider = this.#providerOf(target)
    return provider !== undefined && isListedModel(provider, target.slice(provider.id.length + 1))
  }

  #providerOf(target: string): Provider | undefined {
    return this.#providers?.get(target.split('/', 1)[0] ?? '')
  }
}

const CIRCLE = 'must not lead to an entry that leads back to itself'
const UNKNOWN_MODEL =
  'is not a model with a price: name another entry, or a model of GET /v1/provider-models'
const UNKNOWN_PROVIDER = 'must begin with the id of a provider: GET /v1/providers lists them'
