/** The answer of OpenRouter's `GET /api/v1/models`: prices per token, as texts. */
import type { EntryPrices, PricesAbove } from '../../core/model-entry.ts'
import { OPEN_ROUTER } from '../../providers/names-in-price-lists.ts'
import {
  isRow,
  ListedModels,
  modalitiesOf,
  type PriceList,
  perMillion,
  priceOf,
  type Row,
  stepsOf,
  tokensOf,
} from './price-list.ts'

interface OpenRouterAnswer extends Row {
  readonly data: readonly unknown[]
}

export function isOpenRouter(document: unknown): document is OpenRouterAnswer {
  return (
    isRow(document) &&
    Array.isArray(document.data) &&
    document.data.some((model) => isRow(model) && isRow(model.pricing))
  )
}

export function readOpenRouter({ data }: OpenRouterAnswer): PriceList {
  const list = new ListedModels('OpenRouter')
  for (const model of data) {
    if (isRow(model) && typeof model.id === 'string') addModel(list, model.id, model)
    else list.leaveOut('no id')
  }
  return list
}

function addModel(list: ListedModels, id: string, model: Row): void {
  const pricing = isRow(model.pricing) ? model.pricing : {}
  const overrides = Array.isArray(pricing.overrides) ? pricing.overrides.filter(isRow) : []
  const reason = reasonToLeaveOut(pricing, overrides)
  if (reason !== undefined) {
    list.leaveOut(reason)
    return
  }
  const base = { ...toPrices(pricing), perRequest: priceOf(pricing.request) || undefined }
  for (const [member, kind] of Object.entries(OTHER_PRICES))
    if (priceOf(pricing[member]) && perMillion(pricing[member]) !== base.output)
      list.leaveOutPrice(kind)
  const architecture = isRow(model.architecture) ? model.architecture : {}
  const top = isRow(model.top_provider) ? model.top_provider : {}
  list.add(
    `${OPEN_ROUTER}/${id}`,
    { ...base, above: stepsOf(base, overrides.flatMap(toStep)) },
    {
      contextTokens: tokensOf(model.context_length),
      maxOutputTokens: tokensOf(top.max_completion_tokens),
      inputModalities: modalitiesOf(architecture.input_modalities),
      outputModalities: modalitiesOf(architecture.output_modalities),
    },
  )
}

function reasonToLeaveOut(pricing: Row, overrides: readonly Row[]): string | undefined {
  // An entry has no hours, and one of the prices would be wrong for half of the day.
  if (overrides.some((each) => each.utc_start !== undefined))
    return 'a price that depends on the hour'
  // The price of a router is that of the model that the router chooses.
  return Number(pricing.prompt) < 0 ? 'a price that depends on the answer' : undefined
}

const OTHER_PRICES: Readonly<Record<string, string>> = {
  image: 'images',
  web_search: 'web searches',
  internal_reasoning: 'reasoning tokens',
}

function toPrices(pricing: Row): EntryPrices {
  return {
    input: perMillion(pricing.prompt),
    output: perMillion(pricing.completion),
    cachedInput: perMillion(pricing.input_cache_read),
    cacheWrite: perMillion(pricing.input_cache_write),
    inputAudio: perMillion(pricing.audio),
  }
}

function toStep(override: Row): readonly PricesAbove[] {
  const inputTokens = tokensOf(override.min_prompt_tokens)
  return inputTokens === undefined ? [] : [{ inputTokens, ...toPrices(override) }]
}
