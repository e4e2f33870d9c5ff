/** Defines a provider: data. A capability is a present or absent field, never a method. */
import { type PriceFactor, TOOL_KINDS, type ToolFees, type ToolKind } from '../core/cost.ts'
import type { DialectId } from '../core/dialects.ts'
import type { CostForm } from '../core/usage.ts'
import type { PlatformFeatures } from '../wire/bridge-features.ts'
import type { ModelTraits } from '../wire/codec.ts'

export interface Endpoint {
  /** Appended to the provider's base address; `{model}` stands for the model's name. */
  readonly path: string
  /** For streams, where their path is another. */
  readonly streamPath?: string
  /** The upstream counts a stream only when asked with `stream_options.include_usage`. */
  readonly countsStreamsOnRequest?: boolean
  /** Models that callers of other dialects reach by this endpoint; absent: all. */
  readonly translatedModels?: RegExp
  /**
   * Members of the request by which it keeps or runs something itself (`HostedMembers`); absent: it
   * has none.
   */
  readonly hosts?: readonly string[]
  /**
   * Members of the request that choose other models than the gate's, or open what is in the
   * vendor's account: they go there with an account's own key alone. Absent: it has none.
   */
  readonly ownerMembers?: readonly string[]
  /** Members of the request that name models, or leave their choice to the vendor. */
  readonly modelMembers?: readonly string[]
  /** Beginnings of the types of tools of which the same is true: each asks another model. */
  readonly ownerTools?: readonly string[]
  /** Matches the hosts at which it keeps files of an account: the same is true of their addresses. */
  readonly ownerHosts?: RegExp
  /**
   * It refuses thinking that it has not signed itself: such thinking is left out of what goes
   * there.
   */
  readonly checksSignatures?: boolean
  /** What it takes of features that its models have at their own vendor; absent: all of them. */
  readonly features?: PlatformFeatures
  /** The body names no model, because the path does, and says this instead. */
  readonly insteadOfModel?: Readonly<Record<string, string>>
}

/**
 * How a credential of the vendor's own kind becomes what is sent; any other credential is a key,
 * sent as it is.
 */
export type Signing =
  /** AWS's signature, version 4, for the service so named. */
  | { readonly type: 'aws'; readonly service: string }
  /**
   * Google's access tokens: a service account's JSON is exchanged for one that opens this scope.
   */
  | { readonly type: 'google'; readonly scope: string }

/**
 * An address put together from variables of the operator, for vendors that have one for each
 * customer.
 */
export interface ComposedAddress {
  /** By their names in the templates. One without a fallback has to be given. */
  readonly parts: Readonly<
    Record<string, { readonly variable: string; readonly fallback?: string }>
  >
  /** The part that chooses among the templates: the first pattern that matches its value counts. */
  readonly choosing: string
  readonly templates: readonly (readonly [pattern: RegExp, template: string])[]
}

/** US dollars per million tokens. */
export interface ModelPrices {
  readonly input: number
  readonly output: number
  /** Absent: as any other input. */
  readonly cachedInput?: number | undefined
}

/** US dollars per thousand uses. */
type UsdPerThousand = { readonly [Kind in ToolKind]?: number | undefined }

/**
 * The usual fees of vendors' own tools (2026-11): a search of the web or of live data costs 10 to 25
 * US dollars per thousand, a container 30, a picture of high quality about 200.
 */
const USUAL_TOOL_FEES: UsdPerThousand = {
  webSearch: 25,
  fileSearch: 2.5,
  codeInterpreter: 30,
  imageGeneration: 200,
  otherTool: 30,
}

/** A GET that costs nothing and that the vendor refuses without a valid key. */
export interface KeyCheck {
  /** Appended to the provider's base address. */
  readonly path: string
  /** Refuses a wrong key with this status; absent: with 401 or 403 alone. */
  readonly refusedWith?: number
}

export interface Provider {
  /**
   * The part of a target before the slash, and the stem of `<PROVIDER>_API_KEY` and
   * `<PROVIDER>_BASE_URL`.
   */
  readonly id: string
  readonly name: string
  /** Its name in OpenTelemetry (`gen_ai.provider.name`), where that is not its id. */
  readonly telemetryName?: string
  /** The page of the vendor's documentation. Absent: a provider of the operator's own. */
  readonly docs?: string
  /**
   * In the form the vendor's own SDK takes it. Absent: it must be given by `<PROVIDER>_BASE_URL`.
   */
  readonly baseUrl?: string
  /** Used where `<PROVIDER>_BASE_URL` is not given. */
  readonly composedBaseUrl?: ComposedAddress
  /** The variable of its key, where that is not `<PROVIDER>_API_KEY`. */
  readonly keyVariable?: string
  /**
   * A caller's own dialect is always relayed; callers of others reach a model by the first endpoint
   * that takes it.
   */
  readonly endpoints: Partial<Record<DialectId, Endpoint>>
  /** How the credential is sent; absent: `Authorization: Bearer`. */
  readonly keyHeader?: string
  readonly signing?: Signing
  /** How a key is tested; absent: its vendor documents no such request. */
  readonly keyCheck?: KeyCheck
  /** Sent with every request, unless the client says otherwise. */
  readonly headers?: Readonly<Record<string, string>>
  /** Sent with every request, whatever the client says. */
  readonly fixedHeaders?: Readonly<Record<string, string>>
  /** Facts of a model for a codec, by its name: the first pattern that matches counts. */
  readonly traits?: readonly (readonly [pattern: RegExp, traits: ModelTraits])[]
  /** Models that think before they answer; absent: none are known to. */
  readonly reasoningModels?: RegExp
  /** Its name in price tables, where that is not its id. */
  readonly pricedAs?: string
  /**
   * Matches the models of its price table that are its own, where it shares the table with another.
   */
  readonly pricedModels?: RegExp
  /**
   * Matches models that charge for more than its price table lists, such as a search for each
   * request, or speech at a price of its own.
   */
  readonly pricedInPart?: RegExp
  /**
   * Fees for each use of tools that it runs itself, in US dollars per thousand uses: of those kinds
   * whose uses an answer tells of, and whose fee depends on their number alone.
   */
  readonly toolFees?: UsdPerThousand
  /**
   * Estimates of the fees that it does not publish, or that depend on more than the number of uses;
   * `USUAL_TOOL_FEES` hold where it says nothing.
   */
  readonly usualToolFees?: UsdPerThousand
  /** Published multiples of the list's prices, by how a call was served. Absent: none is known. */
  readonly priceFactors?: readonly PriceFactor[]
  /** Its answers report what it bills for them; absent: it does not say so. */
  readonly reportsCosts?: {
    readonly form: CostForm
    /**
     * US dollars per million tokens for a model that its price table does not list, where a bound is
     * needed before the report, or the report does not come: those of its dearest usual models.
     */
    readonly unlisted: { readonly input: number; readonly output: number }
  }
  /** Its answers cost nothing, whatever the model. */
  readonly isFree?: true
  /** Prices of its models, by their names; `*`: every other one. Then no price table is asked. */
  readonly declaredPrices?: ReadonlyMap<string, ModelPrices>
  /**
   * To be offered where models are chosen, of a provider that no price table lists; it may have
   * more.
   */
  readonly knownModels?: readonly string[]
  /** Used when no key is configured: only for upstreams that take any key. */
  readonly fallbackKey?: string
}

export function defineProvider<const P extends Provider>(provider: P): P {
  return provider
}

/** Members of a request that name models, at every vendor that has such members. */
export const MODEL_MEMBERS = ['models', 'fallbacks', 'preset'] as const

export type Pricing =
  | { readonly type: 'free'; readonly models: readonly string[] }
  | ({ readonly type: 'declared'; readonly prices: ReadonlyMap<string, ModelPrices> } & Fees)
  /** `models`: those of the table that are its own. */
  | ({
      readonly type: 'listed'
      readonly name: string
      readonly models?: RegExp | undefined
      /** Those that cost more than it says. */
      readonly inPart?: RegExp | undefined
      readonly factors?: readonly PriceFactor[] | undefined
      readonly address?: string | undefined
      readonly reports?: Provider['reportsCosts'] | undefined
    } & Fees)

interface Fees {
  readonly toolFees: ToolFees
  readonly usualToolFees: ToolFees
}

/**
 * How calls to it are priced, and by that which of its models are known.
 * @param address the base address that the operator gave; absent: the vendor's own
 */
export function pricingOf(provider: Provider, address = provider.baseUrl): Pricing {
  const { id, pricedAs, pricedModels, isFree, knownModels, declaredPrices } = provider
  const toolFees = toUsdPerMillion(provider.toolFees ?? {})
  const usualToolFees = toUsdPerMillion({ ...USUAL_TOOL_FEES, ...provider.usualToolFees })
  const fees = { toolFees, usualToolFees }
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
        reports: provider.reportsCosts,
        ...fees,
      }
}

/** Whole dollars for a million uses. */
function toUsdPerMillion(fees: UsdPerThousand): ToolFees {
  return Object.fromEntries(
    TOOL_KINDS.flatMap((kind) => {
      const usd = fees[kind]
      return usd === undefined ? [] : [[kind, Math.round(usd * 1_000)]]
    }),
  )
}

/** `OPENAI_API_KEY` for `openai`: the name under which the operator gives a provider's key. */
export function keyVariableOf(provider: Pick<Provider, 'id' | 'keyVariable'>): string {
  return provider.keyVariable ?? `${toStem(provider.id)}_API_KEY`
}

export function baseUrlVariableOf(provider: Pick<Provider, 'id'>): string {
  return `${toStem(provider.id)}_BASE_URL`
}

/**
 * By which the operator says where it is: what its address is put together from, as far as that has
 * no default, else the address.
 */
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
