/**
 * Writes a diff into the text of the configuration file. Text outside of `models` stays byte for
 * byte; inside, comments and other entries stay.
 */
import {
  Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  parseDocument,
  YAMLMap,
  YAMLSeq,
} from 'yaml'
import type { DatedPrices } from '../../core/model-entry.ts'
import type { ModelsDiff } from './diff-models.ts'

const SECTION = 'models'

/** @returns undefined for a file in a form that cannot be extended, such as `{…}` as a whole */
export function writeModelsSection(text: string, diff: ModelsDiff): string | undefined {
  const document = parseDocument(text)
  const { contents } = document
  if (contents !== null && !(isMap(contents) && contents.flow !== true)) return undefined
  const pair = isMap(contents)
    ? contents.items.find(({ key }) => nameOf(key) === SECTION)
    : undefined
  const section = isSeq(pair?.value) ? pair.value : document.createNode<unknown[]>([])
  if (!isSeq(section)) return undefined
  applyDiff(document, section, diff)
  const written = toText(section)
  if (pair === undefined)
    return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${written}`
  const start = isNode(pair.key) ? pair.key.range?.[0] : undefined
  const end = isNode(pair.value) ? pair.value.range?.[2] : undefined
  if (start === undefined || end === undefined) return undefined
  const rest = text.slice(end)
  return `${text.slice(0, start)}${rest.startsWith('\n') ? written.trimEnd() : written}${rest}`
}

function nameOf(key: unknown): unknown {
  return isScalar(key) ? key.value : key
}

function applyDiff(document: Document, section: YAMLSeq, { added, changed }: ModelsDiff): void {
  const inLine = (value: object): Node => {
    const node = document.createNode(value)
    node.flow = true
    return node
  }
  for (const { index, prices, facts } of changed) {
    const entry = section.items[index]
    if (!isMap(entry)) continue
    if (prices !== undefined) addPrices(document, entry, { prices, inLine })
    if (Object.keys(facts).length === 0) continue
    const known = entry.get('facts')
    if (!isMap(known)) entry.set('facts', inLine(facts))
    else for (const [name, value] of Object.entries(facts)) known.set(name, inValue(value, inLine))
  }
  for (const { model, prices = [], facts } of added) {
    const list = new YAMLSeq<Node>()
    for (const each of prices) list.add(inLine(each))
    const entry = new YAMLMap<string, unknown>()
    entry.set('model', model)
    entry.set('prices', list)
    if (facts !== undefined) entry.set('facts', inLine(facts))
    section.add(entry)
  }
  section.flow = false
}

function inValue(value: unknown, inLine: (value: object) => Node): unknown {
  return typeof value === 'object' && value !== null ? inLine(value) : value
}

function addPrices(
  document: Document,
  entry: YAMLMap,
  { prices, inLine }: { prices: DatedPrices; inLine: (value: object) => Node },
): void {
  const known = entry.get('prices')
  const list = isSeq(known) ? known : document.createNode<unknown[]>([])
  if (!isSeq(list)) return
  if (list !== known) entry.set('prices', list)
  const at = list.items.findIndex((each) => isMap(each) && each.get('from') === prices.from)
  if (at === -1) list.add(inLine(prices))
  else list.set(at, inLine(prices))
}

function toText(section: YAMLSeq): string {
  const document = new Document({})
  document.set(SECTION, section)
  return document.toString({ lineWidth: 0, verifyAliasOrder: false, flowCollectionPadding: true })
}
