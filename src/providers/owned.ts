/**
 * A model that a customer hosts or pays for, in the same shape as a vendor's: what a dialect needs,
 * at the customer's address.
 */
import { DIALECTS, type DialectId, type OwnedModelDialect } from '../core/dialects.ts'
import type { FimEndpoint, FimTemplateName } from '../core/owned-model.ts'
import { anthropic } from './anthropic.ts'
import type { Provider } from './define.ts'
import { FIM_TEMPLATES } from './fim-templates.ts'
import { openai } from './openai.ts'

type Shape = Omit<Provider, 'id' | 'name' | 'docs' | 'baseUrl'>

/** Facts about a model's server beside its dialect. */
export interface OwnedServer {
  /** In which header it takes the credential; absent: as the dialect's own clients send it. */
  readonly credentialHeader?: 'authorization' | 'x-api-key' | undefined
  /** It embeds too; or it counts tokens. */
  readonly embeddings?: boolean | undefined
  readonly countTokens?: boolean | undefined
  /** Its endpoint for filling in the middle; absent: that of the dialect's own vendor. */
  readonly fimEndpoint?: FimEndpoint | undefined
  /** Of the model, where its server leaves that to its clients. */
  readonly fimTemplate?: FimTemplateName | undefined
}

// The vendors' own models keep their traits behind an owned address (a customer's account, a proxy
// of theirs); any other name is treated as a plain model, of which nothing is known.
const NAMED_TRAITS = openai.traits.filter(([pattern]) => !pattern.test('any other model'))
const MESSAGES_DEFAULT = { defaultMaxOutputTokens: 4096 }

const EMBEDDINGS = { 'openai-embeddings': { path: DIALECTS['openai-embeddings'].owned.path } }
const COUNT_TOKENS = { 'anthropic-count-tokens': { path: '/v1/messages/count_tokens' } }

const SHAPES: Readonly<Record<OwnedModelDialect, Shape>> = {
  'openai-chat': {
    endpoints: {
      'openai-chat': { path: DIALECTS['openai-chat'].owned.path, countsStreamsOnRequest: true },
    },
    traits: NAMED_TRAITS,
  },
  'openai-responses': {
    endpoints: { 'openai-responses': { path: DIALECTS['openai-responses'].owned.path } },
    reasoningModels: openai.reasoningModels,
    traits: NAMED_TRAITS,
  },
  'openai-embeddings': { endpoints: EMBEDDINGS },
  'mistral-fim': { endpoints: {} },
  'anthropic-messages': {
    // Nothing says whether its server keeps threads, and one that ignores them would answer without
    // what was said before.
    endpoints: {
      'anthropic-messages': {
        path: DIALECTS['anthropic-messages'].owned.path,
        hosts: ['container', 'mcp_servers'],
      },
    },
    keyHeader: anthropic.keyHeader,
    headers: anthropic.headers,
    traits: [
      ...anthropic.traits.slice(0, -1),
      ...anthropic.traits.slice(-1).map(([, traits]) => [/^claude-/, traits] as const),
      [/./, MESSAGES_DEFAULT],
    ],
  },
}

/**
 * @param id names it in messages and in what seals reasoning: `owned/<slug>`
 * @param baseUrl in the form in which an SDK of the dialect takes it
 */
export function ownedProvider(
  id: string,
  dialect: OwnedModelDialect,
  baseUrl: string,
  server: OwnedServer = {},
) {
  const { keyHeader: usual, endpoints, ...shape } = SHAPES[dialect]
  const { credentialHeader } = server
  const fim = dialect === 'mistral-fim' ? fimShape(baseUrl, server) : undefined
  const keyHeader = credentialHeader === undefined ? usual : KEY_HEADERS[credentialHeader]
  return {
    id,
    name: id,
    docs: '',
    baseUrl,
    ...shape,
    ...fim,
    ...(keyHeader === undefined ? {} : { keyHeader }),
    endpoints: {
      ...endpoints,
      ...fim?.endpoints,
      ...(dialect === 'openai-chat' && server.embeddings === true ? EMBEDDINGS : {}),
      ...(dialect === 'anthropic-messages' && server.countTokens === true ? COUNT_TOKENS : {}),
    },
  }
}

/** Absent from a provider's data: `Authorization: Bearer`. */
const KEY_HEADERS = { authorization: undefined, 'x-api-key': 'x-api-key' } as const

const FIM_PLACES: Readonly<
  Record<FimEndpoint, { readonly dialect: DialectId; readonly path: string }>
> = {
  'fim-completions': { dialect: 'mistral-fim', path: DIALECTS['mistral-fim'].owned.path },
  infill: { dialect: 'infill', path: '/infill' },
  'completions-suffix': { dialect: 'completions-suffix', path: '/completions' },
  'completions-template': { dialect: 'completions-template', path: '/completions' },
}

function fimShape(baseUrl: string, { fimEndpoint, fimTemplate }: OwnedServer) {
  // Nothing could be written without one: registrations that lack it are refused, and older ones
  // asked as before.
  const isUnwritable = fimEndpoint === 'completions-template' && fimTemplate === undefined
  const { dialect, path } =
    FIM_PLACES[isUnwritable ? 'fim-completions' : (fimEndpoint ?? 'fim-completions')]
  return {
    // The one address that is not under the version of OpenAI's.
    baseUrl: dialect === 'infill' ? baseUrl.replace(/\/v1$/, '') : baseUrl,
    endpoints: { [dialect]: { path } },
    ...(fimTemplate === undefined
      ? {}
      : { traits: [[/./, { fimTemplate: FIM_TEMPLATES[fimTemplate] }]] as const }),
  }
}
