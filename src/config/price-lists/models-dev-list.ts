/** https://models.dev/api.json: providers, their models, and prices per million tokens. */
import type { EntryPrices, PricesAbove } from '../../core/model-entry.ts'
import { MODELS_DEV_NAMES } from '../../providers/names-in-price-lists.ts'
import {
  isRow,
  ListedModels,
  modalitiesOf,
  type PriceList,
  priceOf,
  type Row,
  stepsOf,
  tokensOf,
  UNKNOWN_PROVIDER,
} from './price-list.ts'

const LONG_CONTEXT_TOKENS = 200_000

export function isModelsDev(document: unknown): document is Row {
  return isRow(document) && Object.values(document).some((one) => isRow(one) && isRow(one.models))
}

export function readModelsDev(document: Row, providers: ReadonlySet<string>): PriceList {
  const list = new ListedModels('models.dev')
  for (const [name, vendor] of Object.entries(document)) {
    if (!isRow(vendor) || !isRow(vendor.models)) continue
    const provider = MODELS_DEV_NAMES[name] ?? name
    for (const [id, model] of Object.entries(vendor.models)) {
      if (!providers.has(provider)) list.leaveOut(UNKNOWN_PROVIDER)
      else if (!isRow(model)) list.leaveOut('not an object')
      else if (model.status === 'deprecated') list.leaveOut('deprecated')
      else addModel(list, `${provider}/${id}`, model)
    }
  }
  return list
}

function addModel(list: ListedModels, target: string, model: Row): void {
  const cost = isRow(model.cost) ? model.cost : {}
  const limit = isRow(model.limit) ? model.limit : {}
  const modalities = isRow(model.modalities) ? model.modalities : {}
  const base = toPrices(cost)
  const reasoning = priceOf(cost.reasoning)
  if (reasoning !== undefined && reasoning !== base.output) list.leaveOutPrice('reasoning tokens')
  list.add(
    target,
    { ...base, above: stepsOf(base, toSteps(cost)) },
    {
      contextTokens: tokensOf(limit.context),
      maxOutputTokens: tokensOf(limit.output),
      inputModalities: modalitiesOf(modalities.input),
      outputModalities: modalitiesOf(modalities.output),
      ...(model.reasoning === false ? { reasoningEfforts: [] } : {}),
    },
  )
}

function toPrices(cost: Row): EntryPrices {
  return {
    input: priceOf(cost.input),
    output: priceOf(cost.output),
    cachedInput: priceOf(cost.cache_read),
    cacheWrite: priceOf(cost.cache_write),
    inputAudio: priceOf(cost.input_audio),
    outputAudio: priceOf(cost.output_audio),
  }
}

/** `tiers` is newer and exact; `context_over_200k` has one step, whatever its real length. */
function toSteps(cost: Row): readonly PricesAbove[] {
  const tiers: readonly unknown[] = Array.isArray(cost.tiers) ? cost.tiers : []
  const steps = tiers.flatMap((each) => {
    const tier = isRow(each) && isRow(each.tier) ? each.tier : {}
    const inputTokens = tier.type === 'context' ? tokensOf(tier.size) : undefined
    return inputTokens === undefined ? [] : [{ inputTokens, ...toPrices(each as Row) }]
  })
  if (steps.length > 0 || !isRow(cost.context_over_200k)) return steps
  return [{ inputTokens: LONG_CONTEXT_TOKENS, ...toPrices(cost.context_over_200k) }]
}
