/** Lists the dialects of upstreams that calls can be translated to. Knows no provider. */
import { anthropicClientCodec } from './anthropic-messages/client-codec.ts'
import { bedrockClientCodec } from './bedrock-converse/client-codec.ts'
import type { ClientCodec } from './codec.ts'
import { cohereClientCodec } from './cohere-chat/client-codec.ts'
import type { DialectId } from './dialect.ts'
import { geminiClientCodec } from './gemini/client-codec.ts'
import { mistralChatClientCodec } from './mistral-chat/client-codec.ts'
import { openaiChatClientCodec } from './openai-chat/client-codec.ts'
import { openaiResponsesClientCodec } from './openai-responses/client-codec.ts'

export const CLIENT_CODECS: Partial<Record<DialectId, ClientCodec>> = {
  'openai-chat': openaiChatClientCodec,
  'openai-responses': openaiResponsesClientCodec,
  'anthropic-messages': anthropicClientCodec,
  'gemini-generate-content': geminiClientCodec,
  'cohere-chat': cohereClientCodec,
  'mistral-chat': mistralChatClientCodec,
  'bedrock-converse': bedrockClientCodec,
}
