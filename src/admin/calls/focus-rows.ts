/**
 * Charges of an hour in the columns of FOCUS 1.2 (https://focus.finops.org/focus-specification/v1-2):
 * a row per gate, target, credential, tags and kind of token. The costs add up exactly to those of
 * the calls.
 */
import type { CsvCell } from '../../contract/csv.ts'
import type { CallRecord } from '../../core/call.ts'
import type { CostPart, CostPartKind } from '../../core/cost.ts'
import { spanOf } from '../../core/period.ts'

const HOUR_MS = 3_600_000

/** `total`: the cost of the calls cannot be divided. `other`: fees per request and for tools. */
type TokenType = 'input' | 'cached_input' | 'cache_write' | 'output' | 'other' | 'total'

const TYPE_OF_KIND: Readonly<Partial<Record<CostPartKind, TokenType>>> = {
  input: 'input',
  inputAudio: 'input',
  cachedInput: 'cached_input',
  cachedInputAudio: 'cached_input',
  cacheWrite: 'cache_write',
  cacheWriteHour: 'cache_write',
  output: 'output',
  outputAudio: 'output',
  reasoning: 'output',
}

const NANO_USD_PER_MILLIONTH = 1_000
/** The parts of a cost add up to the cost before rounding. */
const MOST_ROUNDED_NANO_USD = 1

interface Charge {
  readonly gateId: string
  readonly target: string
  readonly credential: string
  readonly tags: string
  readonly type: TokenType
  tokens: number
  nanoUsd: number
}

export class FocusHour {
  readonly #charges = new Map<string, Charge>()

  /** @param parts undefined: the price of the call is no longer known */
  add(call: CallRecord, parts: readonly CostPart[] | undefined): void {
    const nanoUsd = call.cost?.nanoUsd ?? 0
    if (call.refusals !== undefined || (call.usage === null && nanoUsd === 0)) return
    const tokens = tokensOf(call)
    const divided = divide(nanoUsd, parts)
    if (divided === undefined) {
      const total = tokens.input + tokens.cached_input + tokens.cache_write + tokens.output
      if (total > 0) this.#charge(call, 'total', total, nanoUsd)
      else if (nanoUsd > 0) this.#charge(call, 'other', 1, nanoUsd)
      return
    }
    let other = divided.get('other') ?? 0
    for (const type of ['input', 'cached_input', 'cache_write', 'output'] as const) {
      const cost = divided.get(type) ?? 0
      if (tokens[type] > 0) this.#charge(call, type, tokens[type], cost)
      // A quantity must be positive.
      else other += cost
    }
    if (other > 0) this.#charge(call, 'other', 1, other)
  }

  *rows(hour: FocusContext): Generator<readonly CsvCell[]> {
    for (const place of [...this.#charges.keys()].sort()) {
      const charge = this.#charges.get(place)
      if (charge !== undefined) yield FOCUS_COLUMNS.map(([, read]) => read(charge, hour))
    }
  }

  /** The hashes of tags in the order in which calls bear them. */
  tags(): readonly string[] {
    return [...this.#charges.values()].flatMap(({ tags }) => splitTags(tags))
  }

  #charge(call: CallRecord, type: TokenType, tokens: number, nanoUsd: number): void {
    const { gateId, target, credential, tags } = call
    const place = JSON.stringify([gateId, target, credential, tags, type])
    const charge = this.#charges.get(place) ?? {
      gateId,
      target: target ?? '',
      credential: credential ?? '',
      tags: tags ?? '',
      type,
      tokens: 0,
      nanoUsd: 0,
    }
    charge.tokens += tokens
    charge.nanoUsd += nanoUsd
    this.#charges.set(place, charge)
  }
}

export interface FocusContext {
  readonly startsAtMs: number
  readonly accountId: string
  readonly accountName: string
  /** Undefined: the text of the tag is not known. */
  tagOf(hash: string): string | null
  providerNameOf(id: string): string
}

function tokensOf({ usage }: CallRecord) {
  const cached = usage?.cachedInputTokens ?? 0
  const written = usage?.cacheWriteTokens ?? 0
  return {
    input: Math.max(0, (usage?.inputTokens ?? 0) - cached - written),
    cached_input: cached,
    cache_write: written,
    output: usage?.outputTokens ?? 0,
  }
}

/** @returns whole billionths of a dollar that add up to the cost; undefined: parts do not explain it */
function divide(
  nanoUsd: number,
  parts: readonly CostPart[] | undefined,
): ReadonlyMap<TokenType, number> | undefined {
  if (nanoUsd === 0) return new Map()
  if (parts === undefined || parts.length === 0) return undefined
  const exact = new Map<TokenType, number>()
  let sum = 0
  for (const { kind, count, usdPerMillion } of parts) {
    const type = TYPE_OF_KIND[kind] ?? 'other'
    const cost = count * usdPerMillion * NANO_USD_PER_MILLIONTH
    exact.set(type, (exact.get(type) ?? 0) + cost)
    sum += cost
  }
  // Costs with a factor, for example of a region, are more than their parts.
  if (Math.abs(sum - nanoUsd) > MOST_ROUNDED_NANO_USD) return undefined
  const whole = new Map([...exact].map(([type, cost]) => [type, Math.floor(cost)]))
  const given = [...whole.values()].reduce((total, cost) => total + cost, 0)
  const [greatest] = [...exact].toSorted(([, one], [, other]) => other - one)[0] ?? [
    'input' as const,
  ]
  return whole.set(greatest, (whole.get(greatest) ?? 0) + nanoUsd - given)
}

type Column = readonly [heading: string, read: (charge: Charge, hour: FocusContext) => CsvCell]

const toTime = (timeMs: number) => new Date(timeMs).toISOString().replace('.000Z', 'Z')
const costOf = ({ nanoUsd }: Charge) => toDecimal(nanoUsd)
const unitOf = ({ type }: Charge) => (type === 'other' ? 'Requests' : 'Tokens')
const skuOf = ({ target, type }: Charge) => `${target}/${type}`
const providerOf = ({ target }: Charge) => target.split('/', 1)[0] ?? ''
const nameOfProvider = (charge: Charge, hour: FocusContext) =>
  hour.providerNameOf(providerOf(charge)) || 'Gatehouse'

const FOCUS_COLUMNS: readonly Column[] = [
  ['BilledCost', costOf],
  ['BillingAccountId', (_, { accountId }) => accountId],
  ['BillingAccountName', (_, { accountName }) => accountName],
  ['BillingAccountType', () => 'Gatehouse account'],
  ['BillingCurrency', () => 'USD'],
  ['BillingPeriodStart', (_, { startsAtMs }) => toTime(spanOf('month', startsAtMs).startsAtMs)],
  ['BillingPeriodEnd', (_, { startsAtMs }) => toTime(spanOf('month', startsAtMs).endsAtMs)],
  ['ChargeCategory', () => 'Usage'],
  ['ChargeClass', () => null],
  ['ChargeDescription', ({ target, type }) => `${target} ${type.replace('_', ' ')}`],
  ['ChargeFrequency', () => 'Usage-Based'],
  ['ChargePeriodStart', (_, { startsAtMs }) => toTime(startsAtMs)],
  ['ChargePeriodEnd', (_, { startsAtMs }) => toTime(startsAtMs + HOUR_MS)],
  ['ConsumedQuantity', ({ tokens }) => tokens],
  ['ConsumedUnit', unitOf],
  ['ContractedCost', costOf],
  ['EffectiveCost', costOf],
  ['InvoiceIssuerName', nameOfProvider],
  ['ListCost', costOf],
  ['PricingCategory', () => 'Standard'],
  ['PricingQuantity', ({ tokens }) => tokens],
  ['PricingUnit', unitOf],
  ['ProviderName', nameOfProvider],
  ['PublisherName', nameOfProvider],
  ['ServiceCategory', () => 'AI and Machine Learning'],
  ['ServiceName', nameOfProvider],
  ['ServiceSubcategory', () => 'Generative AI'],
  ['SkuId', skuOf],
  ['SkuPriceId', skuOf],
  ['SubAccountId', () => null],
  ['SubAccountName', () => null],
  ['Tags', ({ tags }, hour) => toTagsJson(tags, hour)],
  ['x_Credential', ({ credential }) => credential],
  ['x_Gate', ({ gateId }) => gateId],
  ['x_Model', ({ target }) => target],
  ['x_TokenType', ({ type }) => type],
]

export const FOCUS_HEADINGS: readonly string[] = FOCUS_COLUMNS.map(([heading]) => heading)

/**
 * A tag without a value has the value true, and each tag has one value, as FOCUS says: the first
 * one, because tags of the account precede those that were sent.
 */
function toTagsJson(tags: string, { tagOf }: FocusContext): string | null {
  const named = new Map<string, string | true>()
  for (const hash of splitTags(tags)) {
    const text = tagOf(hash) ?? hash
    const end = text.indexOf(':')
    const name = end === -1 ? text : text.slice(0, end)
    if (!named.has(name)) named.set(name, end === -1 ? true : text.slice(end + 1))
  }
  return named.size === 0 ? null : JSON.stringify(Object.fromEntries(named))
}

function splitTags(tags: string): readonly string[] {
  return tags === '' ? [] : tags.split(' ')
}

const NANO_DIGITS = 9

/** Exact: a cost in billionths of a dollar has more digits than a binary fraction holds. */
function toDecimal(nanoUsd: number): string {
  const digits = String(nanoUsd).padStart(NANO_DIGITS + 1, '0')
  return `${digits.slice(0, -NANO_DIGITS)}.${digits.slice(-NANO_DIGITS)}`
}
