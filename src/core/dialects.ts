/**
 * Facts about the wire formats, for every part of the project. The codecs in wire/dialects.ts have
 * the same ids.
 */

/** A kind of call. Calls are translated only between dialects of the same form. */
export interface DialectForm {
  readonly id: 'chat' | 'fim' | 'embeddings' | 'count'
  readonly isCharged: boolean
  /** True when a model writes the answer token by token. */
  readonly writesText: boolean
}

const CHAT: DialectForm = { id: 'chat', isCharged: true, writesText: true }
const FIM: DialectForm = { id: 'fim', isCharged: true, writesText: true }
const EMBEDDINGS: DialectForm = { id: 'embeddings', isCharged: true, writesText: false }
const COUNT: DialectForm = { id: 'count', isCharged: false, writesText: false }

interface DialectFacts {
  readonly label: string
  readonly form: DialectForm
  /** The path at which clients call the gateway. Undefined: only upstreams use the dialect. */
  readonly endpoint?: string
  /** Present when customers may register their own model with this dialect. */
  readonly owned?: OwnedFacts
}

interface OwnedFacts {
  /** Appended to the base address, as the dialect's SDKs do. */
  readonly path: string
  readonly exampleBaseUrl: string
  /** Advice to users about when to choose the dialect. */
  readonly use: string
}

export const DIALECTS = {
  'openai-chat': {
    label: 'Chat Completions',
    form: CHAT,
    endpoint: '/v1/chat/completions',
    owned: {
      path: '/chat/completions',
      exampleBaseUrl: 'https://models.example.com/v1',
      use: 'For vLLM, Ollama, LM Studio and most providers.',
    },
  },
  'openai-responses': {
    label: 'Responses',
    form: CHAT,
    endpoint: '/v1/responses',
    owned: {
      path: '/responses',
      exampleBaseUrl: 'https://models.example.com/v1',
      use: 'OpenAI’s newer format: reasoning, tool loops.',
    },
  },
  'mistral-fim': {
    label: 'Fill in the middle',
    form: FIM,
    endpoint: '/alt/v1/fim/completions',
    owned: {
      path: '/fim/completions',
      exampleBaseUrl: 'https://models.example.com/v1',
      use: 'Code completion between a prompt and a suffix: llama.cpp, vLLM, Ollama.',
    },
  },
  'anthropic-messages': {
    label: 'Messages',
    form: CHAT,
    endpoint: '/v1/messages',
    owned: {
      path: '/v1/messages',
      exampleBaseUrl: 'https://models.example.com',
      use: 'The format of Anthropic’s SDKs and models.',
    },
  },
  'openai-embeddings': {
    label: 'Embeddings',
    form: EMBEDDINGS,
    endpoint: '/v1/embeddings',
    owned: {
      path: '/embeddings',
      exampleBaseUrl: 'https://models.example.com/v1',
      use: 'Embeddings only: a server that was started for them.',
    },
  },
  'anthropic-count-tokens': {
    label: 'Token counting',
    form: COUNT,
    endpoint: '/v1/messages/count_tokens',
  },
  'mistral-chat': { label: 'Mistral chat', form: CHAT, endpoint: '/alt/v1/chat/completions' },
  'gatehouse-chat': { label: 'Gatehouse chat', form: CHAT, endpoint: '/v3/chat' },
  'gemini-generate-content': { label: 'Generate content', form: CHAT },
  'cohere-chat': { label: 'Cohere chat', form: CHAT },
  'bedrock-converse': { label: 'Converse', form: CHAT },
  'mistral-embeddings': { label: 'Embeddings', form: EMBEDDINGS },
  'gemini-embed-contents': { label: 'Embeddings', form: EMBEDDINGS },
  'cohere-embed': { label: 'Embeddings', form: EMBEDDINGS },
  'completions-suffix': { label: 'Fill in the middle', form: FIM },
  'completions-template': { label: 'Fill in the middle', form: FIM },
  infill: { label: 'Fill in the middle', form: FIM },
} as const satisfies Readonly<Record<string, DialectFacts>>

export type DialectId = keyof typeof DIALECTS

type With<Member extends keyof DialectFacts> = {
  [Id in DialectId]: (typeof DIALECTS)[Id] extends Readonly<Record<Member, unknown>> ? Id : never
}[DialectId]

export type InboundDialectId = With<'endpoint'>

export type OwnedModelDialect = With<'owned'>

const IDS = Object.keys(DIALECTS) as readonly DialectId[]

export const INBOUND_DIALECTS = IDS.filter(
  (id): id is InboundDialectId => 'endpoint' in DIALECTS[id],
)

export const OWNED_MODEL_DIALECTS = IDS.filter(
  (id): id is OwnedModelDialect => 'owned' in DIALECTS[id],
)

export function dialectAt(endpoint: string): InboundDialectId | undefined {
  return INBOUND_DIALECTS.find((id) => DIALECTS[id].endpoint === endpoint)
}

export function formOfDialect(id: DialectId): DialectForm {
  return DIALECTS[id].form
}
