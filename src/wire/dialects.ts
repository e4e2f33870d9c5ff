/**
 * The registry of wire formats: how callers speak each to the gateway and the gateway to upstreams.
 * Other facts about them are in core/dialects.ts. It must not know providers.
 */
import {
  DIALECTS,
  type DialectId,
  formOfDialect,
  INBOUND_DIALECTS,
  type InboundDialectId,
} from '../core/dialects.ts'
import { anthropicMessages } from './anthropic-messages/anthropic-messages.ts'
import { anthropicClientCodec } from './anthropic-messages/client-codec.ts'
import { anthropicCountTokens } from './anthropic-messages/count-tokens.ts'
import { bedrockClientCodec } from './bedrock-converse/client-codec.ts'
import type { ClientCodec, ServerCodec } from './codec.ts'
import { cohereClientCodec } from './cohere-chat/client-codec.ts'
import { type Dialect, isRelayed, type RelayedDialect } from './dialect.ts'
import { cohereEmbeddingsCodec } from './embeddings/cohere-embeddings.ts'
import type { EmbeddingsCodec } from './embeddings/embeddings-codec.ts'
import { geminiEmbeddingsCodec } from './embeddings/gemini-embeddings.ts'
import { mistralEmbeddingsCodec } from './embeddings/mistral-embeddings.ts'
import { openaiEmbeddings } from './embeddings/openai-embeddings.ts'
import {
  completionsSuffixCodec,
  completionsTemplateCodec,
} from './fill-in-the-middle/completions-codec.ts'
import type { FimCodec } from './fill-in-the-middle/fim-codec.ts'
import { infillCodec } from './fill-in-the-middle/infill-codec.ts'
import { gatehouseChat } from './gatehouse-chat/gatehouse-chat.ts'
import { geminiClientCodec } from './gemini/client-codec.ts'
import { mistralChatClientCodec } from './mistral-chat/client-codec.ts'
import { mistralChat } from './mistral-chat/mistral-chat.ts'
import { mistralFim } from './mistral-fim/mistral-fim.ts'
import { openaiChatClientCodec } from './openai-chat/client-codec.ts'
import { openaiChat } from './openai-chat/openai-chat.ts'
import { openaiResponsesClientCodec } from './openai-responses/client-codec.ts'
import { openaiResponses } from './openai-responses/openai-responses.ts'

type AnyUpstreamCodec = ClientCodec | EmbeddingsCodec | FimCodec

/** Callers speak the dialects that have an endpoint, and no others. */
type Registry = {
  readonly [Id in DialectId]: Id extends InboundDialectId
    ? { readonly inbound: Dialect; readonly upstream?: AnyUpstreamCodec }
    : { readonly inbound?: never; readonly upstream: AnyUpstreamCodec }
}

const REGISTRY: Registry = {
  'openai-chat': { inbound: openaiChat, upstream: openaiChatClientCodec },
  'openai-responses': { inbound: openaiResponses, upstream: openaiResponsesClientCodec },
  'mistral-fim': { inbound: mistralFim },
  'anthropic-messages': { inbound: anthropicMessages, upstream: anthropicClientCodec },
  'openai-embeddings': { inbound: openaiEmbeddings },
  'anthropic-count-tokens': { inbound: anthropicCountTokens },
  'mistral-chat': { inbound: mistralChat, upstream: mistralChatClientCodec },
  'gatehouse-chat': { inbound: gatehouseChat },
  'gemini-generate-content': { upstream: geminiClientCodec },
  'cohere-chat': { upstream: cohereClientCodec },
  'bedrock-converse': { upstream: bedrockClientCodec },
  'mistral-embeddings': { upstream: mistralEmbeddingsCodec },
  'gemini-embed-contents': { upstream: geminiEmbeddingsCodec },
  'cohere-embed': { upstream: cohereEmbeddingsCodec },
  'completions-suffix': { upstream: completionsSuffixCodec },
  'completions-template': { upstream: completionsTemplateCodec },
  infill: { upstream: infillCodec },
}

/** The dialects that callers speak, by the path at which they call. */
export const CALL_ENDPOINTS: Readonly<Record<string, Dialect>> = Object.fromEntries(
  INBOUND_DIALECTS.map((id) => [DIALECTS[id].endpoint, REGISTRY[id].inbound]),
)

/** @returns undefined where calls in other dialects are not translated to this one */
export function upstreamCodecOf(id: DialectId): AnyUpstreamCodec | undefined {
  return REGISTRY[id].upstream
}

/** Calls in one dialect for an upstream that speaks another. */
export type Translator = { readonly dialect: DialectId } & (
  | { readonly form: 'chat'; readonly inbound: ServerCodec; readonly upstream: ClientCodec }
  | { readonly form: 'fim'; readonly inbound: RelayedDialect; readonly upstream: FimCodec }
  | { readonly form: 'embeddings'; readonly upstream: EmbeddingsCodec }
)

/**
 * @param id that the upstream speaks
 * @returns undefined where calls in `inbound` cannot be translated to it
 */
export function translatorFor(inbound: Dialect, id: DialectId): Translator | undefined {
  const upstream = upstreamCodecOf(id)
  if (upstream === undefined || formOfDialect(id) !== formOfDialect(inbound.id)) return undefined
  switch (upstream.form) {
    case 'chat': {
      const { serverCodec } = inbound
      return serverCodec && { form: 'chat', dialect: id, inbound: serverCodec, upstream }
    }
    case 'fim':
      return isRelayed(inbound) ? { form: 'fim', dialect: id, inbound, upstream } : undefined
    case 'embeddings':
      return { form: 'embeddings', dialect: id, upstream }
  }
}
