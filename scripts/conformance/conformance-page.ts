/** The conformance table as a page for people. */

import { FEATURE_IDS, FEATURES, type FeatureId } from '../../src/contract/conformance-features.ts'
import type { ConformanceRow } from './conformance-table.ts'
import { ANY_MODEL } from './models.ts'
import type { Verdict } from './verdict.ts'

export interface PageNames {
  readonly providers: ReadonlyMap<string, string>
  readonly dialects: ReadonlyMap<string, string>
}

const SYMBOLS: Readonly<Record<Verdict['verdict'], string>> = {
  relayed: '✓',
  lossless: '✓',
  lossy: '◐',
  refused: '✗',
  absent: '–',
}

const INTRODUCTION = `<!-- Written by scripts/docs.ts: run \`make fmt\`. -->
# Conformance

What becomes of each feature between an endpoint and a target. Nothing here is typed by hand: each entry is what the gateway's own code did with a request
that asks for the feature, or with an answer that holds it, whole and streamed. It tells what reaches a model, not what the model makes of it.
The same as data: \`GET /v1/conformance\`, or \`gatehouse providers conformance\`.

| | |
|---|---|
| ✓ | arrives |
| ◐ | is left out or changed; of a request, \`x-gatehouse-ignored\` names it, and \`x-gatehouse-strict: true\` makes it a 400 |
| ✗ | is refused with a 400 before the provider is asked |
| – | the target has nothing of the kind |

Numbers lead to the models that differ. Where a provider's models are of several kinds, one of each was asked. A feature that an endpoint's format cannot ask for
is not in its table.
`

export function conformancePage(rows: readonly ConformanceRow[], names: PageNames): string {
  const sections = [...Map.groupBy(rows, (row) => row.endpoint)].map(([endpoint, ofEndpoint]) =>
    section(endpoint, ofEndpoint, names),
  )
  return `${[INTRODUCTION, ...sections].join('\n').trimEnd()}\n`
}

type Columns = ReadonlyMap<string, readonly ConformanceRow[]>

function section(endpoint: string, rows: readonly ConformanceRow[], names: PageNames): string {
  const reached = rows.filter((row) => row.dialect !== null)
  const isRelayed = (row: ConformanceRow) =>
    Object.values(row.results).every(({ verdict }) => verdict === 'relayed')
  const relayed = reached.filter(isRelayed)
  const translated = Map.groupBy(
    reached.filter((row) => !isRelayed(row)),
    (row) => row.dialect ?? '',
  )
  // Sorted by name, so that a new provider does not move the columns.
  const columns: Columns = new Map(
    [...translated].sort(([left], [right]) => left.localeCompare(right)),
  )
  const asked = FEATURE_IDS.filter((feature) =>
    rows.some((row) => row.results[feature] !== undefined),
  )
  const isWell = (feature: FeatureId) =>
    [...columns.values()].flat().every((row) => symbolOf(row, feature) === SYMBOLS.lossless)
  const wellByGroup = Map.groupBy(asked.filter(isWell), (feature) => FEATURES[feature].group)
  const notes = new Notes()
  const lines = [`## \`POST ${endpoint}\``, '']
  if (relayed.length > 0)
    lines.push(
      `**Relayed byte for byte**, whatever is asked: ${providersOf(relayed, rows, names).join(', ')}.`,
      '',
    )
  const unreached = rows.filter((row) => row.dialect === null)
  if (unreached.length > 0)
    lines.push(`**Not reached**: ${providersOf(unreached, rows, names).join(', ')}.`, '')
  const headings = [...columns.keys()].map((dialect) => names.dialects.get(dialect) ?? dialect)
  lines.push('**Translated** to:', '')
  for (const [dialect, ofColumn] of columns)
    lines.push(
      `- ${names.dialects.get(dialect) ?? dialect}: ${providersOf(ofColumn, rows, names).join(', ')}`,
    )
  lines.push('', '✓ with all of them:', '')
  for (const [group, features] of wellByGroup)
    lines.push(`- ${group}: ${features.map((feature) => FEATURES[feature].label).join(', ')}`)
  lines.push(
    '',
    `| | ${headings.join(' | ')} | what is missing |`,
    `|---|${':-:|'.repeat(headings.length)}---|`,
  )
  let group = ''
  for (const feature of asked.filter((candidate) => !isWell(candidate))) {
    if (FEATURES[feature].group !== group) {
      group = FEATURES[feature].group
      lines.push(`| **${group}** |${' |'.repeat(headings.length + 1)}`)
    }
    const cells = [...columns.values()].map((ofColumn) => cell(ofColumn, feature, notes))
    lines.push(
      `| ${FEATURES[feature].label} | ${cells.join(' | ')} | ${missing(columns, feature)} |`,
    )
  }
  return [...lines, '', ...notes.lines, '', ...refusals(columns, names), '']
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
}

function symbolOf(row: ConformanceRow, feature: FeatureId): string {
  const result = row.results[feature]
  return result === undefined ? '' : SYMBOLS[result.verdict]
}

function rankOf(symbol: string): number {
  return Object.values(SYMBOLS).indexOf(symbol)
}

/** Names a provider with its models if the provider has several kinds at this endpoint. */
function providersOf(
  rows: readonly ConformanceRow[],
  all: readonly ConformanceRow[],
  names: PageNames,
): string[] {
  return [...Map.groupBy(rows, (row) => row.provider)].map(([provider, of]) => {
    const name = names.providers.get(provider) ?? provider
    const isWhole = all.filter((row) => row.provider === provider).length === of.length
    return isWhole ? name : `${name} (${of.map((row) => modelOf(row)).join(', ')})`
  })
}

/** All symbols of the column. A note says which targets have which symbol. */
function cell(rows: readonly ConformanceRow[], feature: FeatureId, notes: Notes): string {
  const bySymbol = [...Map.groupBy(rows, (row) => symbolOf(row, feature))]
  if (bySymbol.length === 1) return bySymbol[0]?.[0] ?? ''
  const [most, ...rest] = bySymbol.toSorted(([, left], [, right]) => right.length - left.length)
  const isAmbiguous = ({ model }: ConformanceRow) =>
    bySymbol.filter(([, of]) => of.some((row) => row.model === model)).length > 1
  const told = rest.map(([symbol, of]) => {
    const models = of.map((row) =>
      isAmbiguous(row) ? `\`${row.provider}/${row.model}\`` : modelOf(row),
    )
    return `${symbol} with ${[...new Set(models)].join(', ')}`
  })
  const number = notes.numberOf(`${told.join('; ')}; ${most?.[0] ?? ''} with the others`)
  const symbols = bySymbol
    .map(([symbol]) => symbol)
    .sort((left, right) => rankOf(left) - rankOf(right))
  return `${symbols.join('/')} (${number})`
}

function modelOf({ provider, model }: ConformanceRow): string {
  return model === ANY_MODEL ? `\`${provider}/…\`` : `\`${model}\``
}

class Notes {
  readonly #numbers = new Map<string, number>()

  numberOf(note: string): number {
    const number = this.#numbers.get(note) ?? this.#numbers.size + 1
    this.#numbers.set(note, number)
    return number
  }

  get lines(): string[] {
    return [...this.#numbers].map(([note, number]) => `${number}. ${note}`)
  }
}

function missing(columns: Columns, feature: FeatureId): string {
  const results = [...columns.values()].flat().map((row) => row.results[feature])
  const fields = results.flatMap((result) => (result?.verdict === 'lossy' ? result.fields : []))
  return [...new Set(fields)].map((field) => `\`${field}\``).join(', ')
}

function refusals(columns: Columns, names: PageNames): string[] {
  const refused = [...columns].flatMap(([dialect, rows]) =>
    rows.flatMap((row) =>
      FEATURE_IDS.flatMap((feature) => {
        const result = row.results[feature]
        const name = names.dialects.get(dialect) ?? dialect
        return result?.verdict === 'refused' ? [{ name, feature, message: result.message }] : []
      }),
    ),
  )
  if (refused.length === 0) return []
  const lines = [...Map.groupBy(refused, ({ message }) => message)].map(([message, alike]) => {
    const byName = Map.groupBy(alike, ({ name }) => name)
    const whos = [...byName].map(([name, of]) => {
      const labels = [...new Set(of.map(({ feature }) => FEATURES[feature].label))].join(', ')
      return { name, labels }
    })
    const isEverywhere =
      whos.length === columns.size && new Set(whos.map(({ labels }) => labels)).size === 1
    const who = isEverywhere ? [{ name: 'all', labels: whos[0]?.labels ?? '' }] : whos
    return `- ${who.map(({ name, labels }) => `${name} (${labels})`).join(', ')}: “${message}”`
  })
  return ['✗ in words:', '', ...lines]
}
