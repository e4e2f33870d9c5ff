/** What a provider is: data. A capability is a present or absent field, never a method. */
import type { ModelTraits } from '../wire/codec.ts'
import type { DialectId } from '../wire/dialect.ts'

export interface Endpoint {
  /** Appended to the provider's base address; `{model}` stands for the model's name. */
  readonly path: string
  /** For streams, where their path is another. */
  readonly streamPath?: string
  /** The upstream counts a stream only when asked with `stream_options.include_usage`. */
  readonly countsStreamsOnRequest?: boolean
  /** Models that callers of other dialects reach by this endpoint; absent: all. */
  readonly translatedModels?: RegExp
}

/** AWS's signature, version 4, for the service so named. */
export interface Signing {
  readonly type: 'aws'
  readonly service: string
}

export interface Provider {
  /** The part of a target before the slash, and the stem of `<PROVIDER>_API_KEY` and `<PROVIDER>_BASE_URL`. */
  readonly id: string
  readonly name: string
  /** Where the vendor documents its interface. */
  readonly docs: string
  /** In the form the vendor's own SDK takes it. Absent: it must be given by `<PROVIDER>_BASE_URL`. */
  readonly baseUrl?: string
  /** A caller's own dialect is always relayed; callers of others reach a model by the first endpoint that takes it. */
  readonly endpoints: Partial<Record<DialectId, Endpoint>>
  /** How the credential is sent; absent: `Authorization: Bearer`. */
  readonly keyHeader?: string
  /** Requests may be signed instead, by a credential of that kind; any other credential is sent as a key. */
  readonly signing?: Signing
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** What a codec must know of a model, by its name: the first pattern that matches counts. */
  readonly traits?: readonly (readonly [pattern: RegExp, traits: ModelTraits])[]
  /** Models that think before they answer; absent: none are known to. */
  readonly reasoningModels?: RegExp
  /** Used when no key is configured: only for upstreams that take any key. */
  readonly fallbackKey?: string
}

export function defineProvider<const P extends Provider>(provider: P): P {
  return provider
}

/** A vendor that copied OpenAI's chat endpoint: one address and the same wire format. */
export function openaiCompatible(
  provider: Omit<Provider, 'endpoints'> & {
    readonly chat?: Partial<Endpoint>
    /** It copied the embeddings endpoint too. */
    readonly hasEmbeddings?: true
  },
): Provider {
  const { chat, hasEmbeddings, ...rest } = provider
  return {
    ...rest,
    endpoints: {
      'openai-chat': { path: '/chat/completions', countsStreamsOnRequest: true, ...chat },
      ...(hasEmbeddings === true ? { 'openai-embeddings': { path: '/embeddings' } } : {}),
    },
  }
}

/** `OPENAI_API_KEY` for `openai`: the name under which the operator gives a provider's key. */
export function keyVariable(providerId: string): string {
  return `${providerId.toUpperCase().replaceAll('-', '_')}_API_KEY`
}

export function baseUrlVariable(providerId: string): string {
  return `${providerId.toUpperCase().replaceAll('-', '_')}_BASE_URL`
}
