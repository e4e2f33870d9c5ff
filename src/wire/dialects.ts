/**
 * The registry of wire formats, with the codecs for callers and upstreams. core/dialects.ts has the
 * other facts.
 */
import {
  DIALECTS,
  type DialectId,
  formOfDialect,
  INBOUND_DIALECTS,
  type InboundDialectId,
} from '../core/dialects.ts'
import { anthropicCountTokens } from './anthropic-messages/count-tokens.ts'
import { anthropicMessages, anthropicUpstreamCodec } from './anthropic-messages/index.ts'
import { bedrockUpstreamCodec } from './bedrock-converse/index.ts'
import type { InboundCodec, UpstreamCodec } from './codec.ts'
import { cohereUpstreamCodec } from './cohere-chat/index.ts'
import { type Dialect, isRelayed, type RelayedDialect } from './dialect.ts'
import {
  cohereEmbeddingsUpstreamCodec,
  type EmbeddingsCodec,
  geminiEmbeddingsUpstreamCodec,
  mistralEmbeddingsUpstreamCodec,
  openaiEmbeddings,
} from './embeddings/index.ts'
import {
  completionsSuffixUpstreamCodec,
  completionsTemplateUpstreamCodec,
  infillUpstreamCodec,
} from './fill-in-the-middle/completions-codec.ts'
import type { FimCodec } from './fill-in-the-middle/fim-codec.ts'
import { gatehouseChat } from './gatehouse-chat/index.ts'
import { geminiUpstreamCodec } from './gemini/index.ts'
import { mistralChat, mistralChatUpstreamCodec } from './mistral-chat/index.ts'
import { mistralFim } from './mistral-fim/index.ts'
import { openaiChat, openaiChatUpstreamCodec } from './openai-chat/index.ts'
import { openaiResponses, openaiResponsesUpstreamCodec } from './openai-responses/index.ts'

type AnyUpstreamCodec = UpstreamCodec | EmbeddingsCodec | FimCodec

/** Callers can use exactly the dialects that have an endpoint. */
type Registry = {
  readonly [Id in DialectId]: Id extends InboundDialectId
    ? { readonly inbound: Dialect; readonly upstream?: AnyUpstreamCodec }
    : { readonly inbound?: never; readonly upstream: AnyUpstreamCodec }
}

const REGISTRY: Registry = {
  'openai-chat': { inbound: openaiChat, upstream: openaiChatUpstreamCodec },
  'openai-responses': { inbound: openaiResponses, upstream: openaiResponsesUpstreamCodec },
  'mistral-fim': { inbound: mistralFim },
  'anthropic-messages': { inbound: anthropicMessages, upstream: anthropicUpstreamCodec },
  'openai-embeddings': { inbound: openaiEmbeddings },
  'anthropic-count-tokens': { inbound: anthropicCountTokens },
  'mistral-chat': { inbound: mistralChat, upstream: mistralChatUpstreamCodec },
  'gatehouse-chat': { inbound: gatehouseChat },
  'gemini-generate-content': { upstream: geminiUpstreamCodec },
  'cohere-chat': { upstream: cohereUpstreamCodec },
  'bedrock-converse': { upstream: bedrockUpstreamCodec },
  'mistral-embeddings': { upstream: mistralEmbeddingsUpstreamCodec },
  'gemini-embed-contents': { upstream: geminiEmbeddingsUpstreamCodec },
  'cohere-embed': { upstream: cohereEmbeddingsUpstreamCodec },
  'completions-suffix': { upstream: completionsSuffixUpstreamCodec },
  'completions-template': { upstream: completionsTemplateUpstreamCodec },
  infill: { upstream: infillUpstreamCodec },
}

export const CALL_ENDPOINTS: Readonly<Record<string, Dialect>> = Object.fromEntries(
  INBOUND_DIALECTS.map((id) => [DIALECTS[id].endpoint, REGISTRY[id].inbound]),
)

/** @returns undefined when calls are not translated to this dialect */
export function upstreamCodecOf(id: DialectId): AnyUpstreamCodec | undefined {
  return REGISTRY[id].upstream
}

export type Translator = { readonly dialect: DialectId } & (
  | { readonly form: 'chat'; readonly inbound: InboundCodec; readonly upstream: UpstreamCodec }
  | { readonly form: 'fim'; readonly inbound: RelayedDialect; readonly upstream: FimCodec }
  | { readonly form: 'embeddings'; readonly upstream: EmbeddingsCodec }
)

export function translatorFor(inbound: Dialect, id: DialectId): Translator | undefined {
  const upstream = upstreamCodecOf(id)
  if (upstream === undefined || formOfDialect(id) !== formOfDialect(inbound.id)) return undefined
  switch (upstream.form) {
    case 'chat': {
      const { inboundCodec } = inbound
      return inboundCodec && { form: 'chat', dialect: id, inbound: inboundCodec, upstream }
    }
    case 'fim':
      return isRelayed(inbound) ? { form: 'fim', dialect: id, inbound, upstream } : undefined
    case 'embeddings':
      return { form: 'embeddings', dialect: id, upstream }
  }
}
