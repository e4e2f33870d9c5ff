/** Converts a model that a customer hosts or pays for to the form of a provider. */
import { DIALECTS, type DialectId, type OwnedModelDialect } from '../core/dialects.ts'
import type { FimEndpoint, FimTemplateName } from '../core/owned-model.ts'
import type { FimTemplate } from '../wire/codec.ts'
import { anthropic } from './anthropic.ts'
import type { Provider } from './define.ts'
import { openai } from './openai.ts'
import { OPEN_MODEL_RULES } from './request-rules.ts'

const STARCODER: Omit<FimTemplate, 'stop'> = {
  order: 'prefix-first',
  prefix: '<fim_prefix>',
  suffix: '<fim_suffix>',
  middle: '<fim_middle>',
}

/** Several newer models put bars around the tokens. */
const BARRED: Omit<FimTemplate, 'stop'> = {
  order: 'prefix-first',
  prefix: '<|fim_prefix|>',
  suffix: '<|fim_suffix|>',
  middle: '<|fim_middle|>',
}

/**
 * The fill-in-the-middle templates of well-known code models, as documented by their makers. A
 * server stops at its end-of-text token itself, so that token is listed only where code cannot
 * contain it.
 */
export const FIM_TEMPLATES: Readonly<Record<FimTemplateName, FimTemplate>> = {
  // https://huggingface.co/google/codegemma-7b
  codegemma: { ...BARRED, stop: ['<|file_separator|>'] },
  // https://huggingface.co/codellama/CodeLlama-7b-hf: the space belongs to the tokens.
  codellama: {
    order: 'prefix-first',
    prefix: '<PRE> ',
    suffix: ' <SUF>',
    middle: ' <MID>',
    stop: ['<EOT>'],
  },
  // https://docs.mistral.ai/capabilities/code_generation/: the suffix comes first, and nothing
  // follows the prefix.
  codestral: {
    order: 'suffix-first',
    prefix: '[PREFIX]',
    suffix: '[SUFFIX]',
    middle: '',
    stop: [],
  },
  // https://github.com/deepseek-ai/DeepSeek-Coder#2code-insertion: the bars and lines are special
  // characters.
  'deepseek-coder': {
    order: 'prefix-first',
    prefix: '<\uff5cfim\u2581begin\uff5c>',
    suffix: '<\uff5cfim\u2581hole\uff5c>',
    middle: '<\uff5cfim\u2581end\uff5c>',
    stop: ['<|EOT|>', '<\uff5cend\u2581of\u2581sentence\uff5c>'],
  },
  // https://huggingface.co/ibm-granite/granite-8b-code-base-4k
  'granite-code': { ...STARCODER, stop: ['<fim_pad>', '<|endoftext|>'] },
  // https://github.com/QwenLM/Qwen3-Coder#fill-in-the-middle-with-qwen3-coder, and the same for
  // Qwen2.5-Coder.
  'qwen-coder': {
    ...BARRED,
    stop: ['<|fim_pad|>', '<|repo_name|>', '<|file_sep|>', '<|endoftext|>', '<|im_end|>'],
  },
  // https://huggingface.co/bigcode/starcoder2-15b
  starcoder2: { ...STARCODER, stop: ['<file_sep>', '<repo_name>', '<|endoftext|>'] },
}

const NAMES: readonly (readonly [pattern: RegExp, name: FimTemplateName])[] = [
  [/codestral/i, 'codestral'],
  [/qwen[\d.]{0,4}-?coder/i, 'qwen-coder'],
  [/starcoder/i, 'starcoder2'],
  [/deepseek-?coder/i, 'deepseek-coder'],
  [/code-?llama/i, 'codellama'],
  [/code-?gemma/i, 'codegemma'],
  [/granite-(?:\d{1,2}b-)?code/i, 'granite-code'],
]

export function fimTemplateOf(model: string): FimTemplateName | undefined {
  return NAMES.find(([pattern]) => pattern.test(model))?.[1]
}

type Shape = Omit<Provider, 'id' | 'name' | 'docs' | 'baseUrl'>

export interface OwnedServer {
  /** Undefined: the header of the dialect's own clients. */
  readonly credentialHeader?: 'authorization' | 'x-api-key' | undefined
  /** The server also embeds, or counts tokens. */
  readonly embeddings?: boolean | undefined
  readonly countTokens?: boolean | undefined
  /** Undefined: the fill-in-the-middle endpoint of the dialect's own provider. */
  readonly fimEndpoint?: FimEndpoint | undefined
  /** The model's template, when the server leaves the prompt to clients. */
  readonly fimTemplate?: FimTemplateName | undefined
}

// A known model name keeps its traits behind an owned address (a customer's account, a proxy). Any
// other name counts as an unknown model.
const NAMED_TRAITS = openai.traits.filter(([pattern]) => !pattern.test('any other model'))
const MESSAGES_DEFAULT = { defaultMaxOutputTokens: 4096 }

const EMBEDDINGS = { 'openai-embeddings': { path: DIALECTS['openai-embeddings'].owned.path } }
const COUNT_TOKENS = { 'anthropic-count-tokens': { path: '/v1/messages/count_tokens' } }

const SHAPES: Readonly<Record<OwnedModelDialect, Shape>> = {
  'openai-chat': {
    endpoints: {
      'openai-chat': { path: DIALECTS['openai-chat'].owned.path, countsStreamsOnRequest: true },
    },
    rules: OPEN_MODEL_RULES,
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
    // The server may not store threads. A server that ignores `thread` would answer without the
    // earlier messages, so `hosts` omits it.
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
 * @param id used in messages and for sealed reasoning: `owned/<slug>`
 * @param baseUrl in the form that the dialect's SDKs use
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

/** Undefined in a provider's data means `Authorization: Bearer`. */
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
  // A prompt needs a template. New registrations without a template are refused; older ones keep
  // the usual endpoint.
  const isUnwritable = fimEndpoint === 'completions-template' && fimTemplate === undefined
  const { dialect, path } =
    FIM_PLACES[isUnwritable ? 'fim-completions' : (fimEndpoint ?? 'fim-completions')]
  return {
    // `/infill` is the only path outside OpenAI's version prefix.
    baseUrl: dialect === 'infill' ? baseUrl.replace(/\/v1$/, '') : baseUrl,
    endpoints: { [dialect]: { path } },
    ...(fimTemplate === undefined
      ? {}
      : { traits: [[/./, { fimTemplate: FIM_TEMPLATES[fimTemplate] }]] as const }),
  }
}
