/** Defines providers as data. A capability is a present or absent field, never a method. */
import {
  type FlatDays,
  type PriceFactor,
  TOOL_KINDS,
  type ToolFees,
  type ToolKind,
} from '../core/cost.ts'
import type { DialectId } from '../core/dialects.ts'
import type { CostForm } from '../core/usage.ts'
import type { PlatformFeatures } from '../wire/bridge-features.ts'
import type { ModelTraits } from '../wire/codec.ts'
import type { RequestRulesRow } from '../wire/fit/request-rules.ts'

export interface Endpoint {
  /** Appended to the provider's base address; `{model}` stands for the model's name. */
  readonly path: string
  readonly streamPath?: string
  /** The upstream reports a stream's usage only on request (`stream_options.include_usage`). */
  readonly countsStreamsOnRequest?: boolean
  /** Models that callers of other dialects reach by this endpoint. Undefined: all models. */
  readonly translatedModels?: RegExp
  /** Members of the request that make the provider store or run something (`HostedMembers`). */
  readonly hosts?: readonly string[]
  /**
   * Members that select other models than the gate's, or objects in the provider's account. Only an
   * account's own key may send such members.
   */
  readonly ownerMembers?: readonly string[]
  /** Members of the request that name models, or let the provider choose a model. */
  readonly modelMembers?: readonly string[]
  /** Prefixes of tool types that call another model, with the restriction of `ownerMembers`. */
  readonly ownerTools?: readonly string[]
  /** Hosts that serve files of an account, with the restriction of `ownerMembers`. */
  readonly ownerHosts?: RegExp
  /**
   * True when the provider refuses thinking from other signers, so that such thinking is omitted.
   */
  readonly checksSignatures?: boolean
  /** The supported part of the models' original features. Undefined: all features. */
  readonly features?: PlatformFeatures
  /** Members that replace `model` in the body when the path names the model. */
  readonly insteadOfModel?: Readonly<Record<string, string>>
}

export type Signing =
  | { readonly type: 'aws'; readonly service: string }
  /** Exchanges a service account's JSON for a Google access token with this scope. */
  | { readonly type: 'google'; readonly scope: string }

export interface ComposedAddress {
  /** By their names in the templates. A part without a fallback is required. */
  readonly parts: Readonly<
    Record<string, { readonly variable: string; readonly fallback?: string }>
  >
  /** The part that selects the template: the first matching pattern applies. */
  readonly choosing: string
  readonly templates: readonly (readonly [pattern: RegExp, template: string])[]
}

/** US dollars per million tokens. */
export interface ModelPrices {
  readonly input: number
  readonly output: number
  /** Undefined: the price of other input. */
  readonly cachedInput?: number | undefined
}

/** US dollars per thousand uses. */
type UsdPerThousand = { readonly [Kind in ToolKind]?: number | undefined }

/**
 * The usual fees of providers' own tools (2026-11): a search of the web or of live data costs 10 to
 * 25 US dollars per thousand, a container 30, a high-quality picture about 200.
 */
const USUAL_TOOL_FEES: UsdPerThousand = {
  webSearch: 25,
  fileSearch: 2.5,
  codeInterpreter: 30,
  imageGeneration: 200,
  otherTool: 30,
}

/** A free GET request that the provider refuses without a valid key. */
export interface KeyCheck {
  readonly path: string
  /** The status for an invalid key. Undefined: 401 or 403. */
  readonly refusedWith?: number
}

export interface Provider {
  /**
   * The part of a target before the slash, and the stem of `<PROVIDER>_API_KEY` and
   * `<PROVIDER>_BASE_URL`.
   */
  readonly id: string
  readonly name: string
  readonly telemetryName?: string
  /** The provider's documentation. Undefined: the operator's own provider. */
  readonly docs?: string
  /**
   * In the form that the provider's own SDK takes. Undefined: `<PROVIDER>_BASE_URL` is required.
   */
  readonly baseUrl?: string
  /** Used when `<PROVIDER>_BASE_URL` is not set. */
  readonly composedBaseUrl?: ComposedAddress
  readonly keyVariable?: string
  /**
   * A caller's own dialect is always relayed; other callers use the first endpoint that supports
   * the model.
   */
  readonly endpoints: Partial<Record<DialectId, Endpoint>>
  readonly keyHeader?: string
  readonly signing?: Signing
  /** Undefined: the provider documents no request that tests a key. */
  readonly keyCheck?: KeyCheck
  /** Sent with every request unless the client sets them. */
  readonly headers?: Readonly<Record<string, string>>
  /** Sent with every request, overriding the client. */
  readonly fixedHeaders?: Readonly<Record<string, string>>
  /** Facts of a model for a codec, by name: the first matching pattern applies. */
  readonly traits?: readonly (readonly [pattern: RegExp, traits: ModelTraits])[]
  /** Rules of the models for translated requests; every matching row applies. */
  readonly rules?: readonly RequestRulesRow[]
  /** Models that think before they answer. */
  readonly reasoningModels?: RegExp
  readonly pricedAs?: string
  /** The provider's own models in a shared price table. */
  readonly pricedModels?: RegExp
  /**
   * Models with charges beyond the price table, such as a search per request, or separately priced
   * speech.
   */
  readonly pricedInPart?: RegExp
  /**
   * Fees in US dollars per thousand uses of tools that the provider runs. Only for tools whose uses
   * are reported, and whose fee depends on their number alone.
   */
  readonly toolFees?: UsdPerThousand
  /**
   * Estimates of unpublished fees, or of fees that depend on more than the number of uses. Default:
   * `USUAL_TOOL_FEES`.
   */
  readonly usualToolFees?: UsdPerThousand
  /** Published multiples of the list price by how a call was served. */
  readonly priceFactors?: readonly PriceFactor[]
  readonly reportsCosts?: {
    readonly form: CostForm
    /**
     * US dollars per million tokens for a model without a price, when a bound is needed before or
     * without the report: the price of the most expensive usual models.
     */
    readonly unlisted: { readonly input: number; readonly output: number }
  }
  /** Days on which the price table's times of day do not apply. */
  readonly flatDays?: FlatDays
  /** A server of the operator's own: usage of models without a known price is free. */
  readonly isSelfHosted?: true
  /** Answers of every model are free. */
  readonly isFree?: true
  /** Prices by model name; `*`: every other model. Replaces the price table. */
  readonly declaredPrices?: ReadonlyMap<string, ModelPrices>
  /** Models to offer for a provider without a price table; the provider may have more models. */
  readonly knownModels?: readonly string[]
  /** Used when no key is configured: only for upstreams that accept any key. */
  readonly fallbackKey?: string
}

export function defineProvider<const P extends Provider>(provider: P): P {
  return provider
}

export const MODEL_MEMBERS = ['models', 'fallbacks', 'preset'] as const

export type Pricing =
  | { readonly type: 'free'; readonly models: readonly string[] }
  | ({ readonly type: 'declared'; readonly prices: ReadonlyMap<string, ModelPrices> } & Fees)
  /** `models`: the provider's own models in a shared table. */
  | ({
      readonly type: 'listed'
      readonly name: string
      readonly models?: RegExp | undefined
      readonly inPart?: RegExp | undefined
      readonly factors?: readonly PriceFactor[] | undefined
      readonly address?: string | undefined
      readonly isSelfHosted?: boolean | undefined
      readonly flatDays?: FlatDays | undefined
      readonly reports?: Provider['reportsCosts'] | undefined
    } & Fees)

interface Fees {
  readonly toolFees: ToolFees
  readonly usualToolFees: ToolFees
}

/**
 * The pricing also determines the known models.
 * @param address the operator's base address; default: the provider's own
 */
export function pricingOf(provider: Provider, address = provider.baseUrl): Pricing {
  const { id, docs, pricedAs, pricedModels, isFree, knownModels } = provider
  const toolFees = toUsdPerMillion(provider.toolFees ?? {})
  const usualToolFees = toUsdPerMillion({ ...USUAL_TOOL_FEES, ...provider.usualToolFees })
  const fees = { toolFees, usualToolFees }
  // No table lists the prices of the operator's own providers.
  const isOperators = docs === undefined
  const declaredPrices = provider.declaredPrices ?? (isOperators ? NO_PRICES : undefined)
  if (declaredPrices !== undefined) return { type: 'declared', prices: declaredPrices, ...fees }
  return isFree === true
    ? { type: 'free', models: knownModels ?? [] }
    : {
        type: 'listed',
        name: pricedAs ?? id,
        models: pricedModels,
        inPart: provider.pricedInPart,
        factors: provider.priceFactors,
        address,
        isSelfHosted: provider.isSelfHosted,
        flatDays: provider.flatDays,
        reports: provider.reportsCosts,
        ...fees,
      }
}

const NO_PRICES: ReadonlyMap<string, ModelPrices> = new Map()

function toUsdPerMillion(fees: UsdPerThousand): ToolFees {
  return Object.fromEntries(
    TOOL_KINDS.flatMap((kind) => {
      const usd = fees[kind]
      return usd === undefined ? [] : [[kind, Math.round(usd * 1_000)]]
    }),
  )
}

export function keyVariableOf(provider: Pick<Provider, 'id' | 'keyVariable'>): string {
  return provider.keyVariable ?? `${toStem(provider.id)}_API_KEY`
}

export function baseUrlVariableOf(provider: Pick<Provider, 'id'>): string {
  return `${toStem(provider.id)}_BASE_URL`
}

/** The required parts of a composed address, otherwise the variable of the address itself. */
export function addressVariablesOf(
  provider: Pick<Provider, 'id' | 'composedBaseUrl'>,
): readonly [string, ...string[]] {
  const parts = Object.values(provider.composedBaseUrl?.parts ?? {})
  const [first, ...rest] = parts.filter(({ fallback }) => fallback === undefined)
  return first === undefined
    ? [baseUrlVariableOf(provider)]
    : [first.variable, ...rest.map(({ variable }) => variable)]
}

function toStem(providerId: string): string {
  return providerId.toUpperCase().replaceAll('-', '_')
}
