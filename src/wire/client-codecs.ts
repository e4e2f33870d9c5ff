/** Which dialects of upstreams can be translated to. Knows no provider. */
import { anthropicClientCodec } from './anthropic-messages/client-codec.ts'
import type { ClientCodec } from './codec.ts'
import type { DialectId } from './dialect.ts'

export const CLIENT_CODECS: Partial<Record<DialectId, ClientCodec>> = {
  'anthropic-messages': anthropicClientCodec,
}
