/** The multiple of the list price for how a call was served: tier, speed, region, address. */
import {
  type Cost,
  type CostPart,
  type OtherPrice,
  type PriceFactor,
  type ServedAs,
  USUAL,
} from '../core/cost.ts'

export interface ServedPrice {
  readonly factor: number
  readonly inSource: string
  readonly isKnown: boolean
}

export const LIST_PRICE: ServedPrice = { factor: 1, inSource: '', isKnown: true }
const NOT_PUBLISHED: ServedPrice = { factor: 1, inSource: '', isKnown: false }

export interface FactorsOfTarget {
  readonly factors: readonly PriceFactor[]
  readonly model: string
}

export function priceAtAddress(
  { factors, model }: FactorsOfTarget,
  address: string | undefined,
): ServedPrice {
  const here = factors.filter(
    ({ kind, value }) => kind === 'address' && address !== undefined && value.test(address),
  )
  return here.length === 0 ? LIST_PRICE : toPrice(here, model, 'region')
}

export function priceAsServed(
  target: FactorsOfTarget,
  atAddress: ServedPrice,
  served: ServedAs | undefined,
): ServedPrice {
  if (served === undefined) return atAddress
  let price = atAddress
  for (const kind of KINDS) {
    const word = served[kind]
    if (word === undefined || word === USUAL[kind]) continue
    const said = target.factors.filter((known) => known.kind === kind && known.value.test(word))
    price = multiply(price, toPrice(said, target.model, word))
  }
  return price
}

const KINDS = Object.keys(USUAL) as readonly (keyof ServedAs)[]

export function isUnanswered(asked: readonly OtherPrice[], served: ServedAs | undefined): boolean {
  return asked.some((other) => other === 'media' || served?.[other] === undefined)
}

export function isUnusual(served: ServedAs | undefined): boolean {
  return KINDS.some((kind) => served?.[kind] !== undefined && served[kind] !== USUAL[kind])
}

function toPrice(known: readonly PriceFactor[], model: string, name: string): ServedPrice {
  const factor = known.find(({ models }) => models?.test(model) !== false)?.factor
  if (factor === undefined) return NOT_PUBLISHED
  return factor === 1 ? LIST_PRICE : { factor, inSource: `*${name}:${factor}`, isKnown: true }
}

function multiply(one: ServedPrice, other: ServedPrice): ServedPrice {
  if (one === LIST_PRICE) return other
  return {
    factor: one.factor * other.factor,
    inSource: one.inSource + other.inSource,
    isKnown: one.isKnown && other.isKnown,
  }
}

// A tier with its own prices is written as a factor of 1 in the source; no other factor is 1.

export function withTier(price: ServedPrice, tier: string): ServedPrice {
  return { ...price, inSource: `*${tier}:1${price.inSource}` }
}

/** The inverse of `withTier`. */
export function tierIn({ inSource }: ServedPrice, tiers: readonly string[]): string | undefined {
  return tiers.find((tier) => inSource.startsWith(`*${tier}:1`))
}

/** More digits than any price has, so that a cost contains no binary fraction. */
const PRECISION = 1e9

export function scaleParts(
  parts: readonly CostPart[],
  { factor }: ServedPrice,
): readonly CostPart[] {
  if (factor === 1) return parts
  return parts.map((part) => ({
    ...part,
    usdPerMillion: Math.round(part.usdPerMillion * factor * PRECISION) / PRECISION,
  }))
}

const FACTOR_IN_SOURCE = /\*[a-z][a-z0-9_.-]*:(\d+(?:\.\d+)?)/g

/** Removes an appended `inSource` from a source, since rows have no other column for factors. */
export function splitFactors(cost: Cost): { readonly cost: Cost; readonly price: ServedPrice } {
  const { source } = cost
  if (source === null || !source.includes('*')) return { cost, price: LIST_PRICE }
  const found = [...source.matchAll(FACTOR_IN_SOURCE)]
  const price = {
    factor: found.reduce((product, [, factor]) => product * Number(factor), 1),
    inSource: found.map(([text]) => text).join(''),
    isKnown: true,
  }
  return { cost: { ...cost, source: source.replaceAll(FACTOR_IN_SOURCE, '') }, price }
}
