/** LiteLLM's model_prices_and_context_window.json: one row for each model, prices per token. */
import type { EntryPrices, PricesAbove } from '../../core/model-entry.ts'
import { LITELLM_NAMES } from '../../providers/names-in-price-lists.ts'
import {
  isRow,
  ListedModels,
  modalitiesOf,
  type PriceList,
  perMillion,
  type Row,
  stepsOf,
  tokensOf,
  UNKNOWN_PROVIDER,
} from './price-list.ts'

const EXAMPLE_ROW = 'sample_spec'
const TOKEN_MODES: readonly unknown[] = ['chat', 'completion', 'responses', 'embedding']
/** `us-east-1/…`, `eu/…`: the price of a region, which a target's name does not have. */
const REGION = /^(?:[a-z]{2}(?:-[a-z]+)+-\d|eu|us|global|global-standard)\//

export function isLitellm(document: unknown): document is Row {
  return (
    isRow(document) &&
    Object.values(document).some((row) => isRow(row) && typeof row.litellm_provider === 'string')
  )
}

export function readLitellm(document: Row, providers: ReadonlySet<string>): PriceList {
  const list = new ListedModels('LiteLLM')
  for (const [name, row] of Object.entries(document)) {
    if (name === EXAMPLE_ROW) continue
    if (!isRow(row) || typeof row.litellm_provider !== 'string') {
      list.leaveOut('no litellm_provider')
      continue
    }
    const vendor = row.litellm_provider
    const provider = LITELLM_NAMES[vendor] ?? vendor
    const model = withoutPrefix(name, vendor)
    if (!providers.has(provider)) list.leaveOut(UNKNOWN_PROVIDER)
    else if (!TOKEN_MODES.includes(row.mode)) list.leaveOut('priced in other units than tokens')
    else if (REGION.test(model)) list.leaveOut('the price of a region')
    else addModel(list, `${provider}/${model}`, row)
  }
  return list
}

/** `vertex_ai/…` is the prefix of all providers whose name begins with `vertex_ai-`. */
function withoutPrefix(name: string, vendor: string): string {
  const prefix = `${vendor.split('-', 1)[0] ?? ''}/`
  return name.startsWith(prefix) ? name.slice(prefix.length) : name
}

function addModel(list: ListedModels, target: string, row: Row): void {
  const { output, ...others } = toPrices(row, '')
  const base = { ...others, output: output ?? (row.mode === 'embedding' ? 0 : undefined) }
  const reasoning = perMillion(row.output_cost_per_reasoning_token)
  if (reasoning !== undefined && reasoning !== base.output) list.leaveOutPrice('reasoning tokens')
  list.add(
    target,
    { ...base, above: stepsOf(base, toSteps(row)), tiers: toTiers(row) },
    {
      // `max_input_tokens` is the context of some providers, and less than that of others.
      maxOutputTokens: row.mode === 'embedding' ? undefined : tokensOf(row.max_output_tokens),
      inputModalities: modalitiesOf(row.supported_modalities),
      outputModalities: modalitiesOf(row.supported_output_modalities),
    },
  )
}

function toPrices(row: Row, suffix: string): EntryPrices {
  return {
    input: perMillion(row[`input_cost_per_token${suffix}`]),
    output: perMillion(row[`output_cost_per_token${suffix}`]),
    cachedInput: perMillion(row[`cache_read_input_token_cost${suffix}`]),
    cacheWrite: perMillion(row[`cache_creation_input_token_cost${suffix}`]),
    cacheWriteHour: perMillion(row[`cache_creation_input_token_cost_above_1hr${suffix}`]),
    inputAudio: perMillion(row[`input_cost_per_audio_token${suffix}`]),
    outputAudio: perMillion(row[`output_cost_per_audio_token${suffix}`]),
  }
}

function toSteps(row: Row): readonly PricesAbove[] {
  const thousands = Object.keys(row).flatMap(
    (name) => /_above_(\d+)k_tokens$/.exec(name)?.[1] ?? [],
  )
  return [...new Set(thousands)].map((count) => ({
    inputTokens: Number(count) * 1_000,
    ...toPrices(row, `_above_${count}k_tokens`),
  }))
}

function toTiers(row: Row): Record<string, EntryPrices> | undefined {
  const tiers = ['priority', 'flex'].flatMap((tier) => {
    const known = Object.entries(toPrices(row, `_${tier}`)).filter(
      ([, price]) => price !== undefined,
    )
    return known.length === 0 ? [] : [[tier, Object.fromEntries(known)] as const]
  })
  return tiers.length === 0 ? undefined : Object.fromEntries(tiers)
}
