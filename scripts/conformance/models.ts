/**
 * A model name for each kind of model in a provider's data; the first is the newest kind, which
 * also stands for unknown names. Providers that are missing here treat all models alike.
 */
import type { Provider } from '../../src/providers/define.ts'

export const ANY_MODEL = 'any-model'

const CLAUDE = [
  'claude-opus-5-5',
  'claude-sonnet-5-5',
  'claude-opus-4-8',
  'claude-sonnet-4-5',
  'claude-3-7-sonnet-latest',
  'claude-3-5-haiku-latest',
]
const GEMINI = [
  'gemini-3-pro-preview',
  'gemini-3-flash-preview',
  'gemini-2.5-pro',
  'gemini-2.5-flash',
  'gemini-2.0-flash',
  'gemma-3-27b-it',
]
const GPT = ['gpt-5.1', 'gpt-5', 'gpt-4o']
const OPEN = [ANY_MODEL, 'gpt-oss-120b', 'qwen3-32b', 'deepseek-v3.2']
const ECHO = ['echo', 'echo-reasoning']

const MODELS: Readonly<Record<string, readonly string[]>> = {
  anthropic: CLAUDE,
  'azure-openai': GPT,
  bedrock: [
    'anthropic.claude-opus-5-5',
    'anthropic.claude-sonnet-5-5',
    'anthropic.claude-opus-4-8',
    'anthropic.claude-sonnet-4-5-20250929-v1:0',
    'anthropic.claude-opus-4-1-20250805-v1:0',
    'anthropic.claude-3-7-sonnet-20250219-v1:0',
    'anthropic.claude-3-5-haiku-20241022-v1:0',
    'openai.gpt-oss-120b-1:0',
    'mistral.mistral-large-2407-v1:0',
    'amazon.nova-pro-v1:0',
    'qwen.qwen3-32b-v1:0',
  ],
  cohere: ['command-a-reasoning-08-2025', 'command-a-03-2025'],
  gemini: GEMINI,
  groq: [ANY_MODEL, 'openai/gpt-oss-120b', 'qwen/qwen3-32b'],
  llamacpp: OPEN,
  mistral: ['mistral-medium-latest', 'magistral-medium-latest', 'mistral-large-latest'],
  ollama: [ANY_MODEL, 'gpt-oss:120b'],
  openai: GPT,
  openrouter: [ANY_MODEL, 'openai/gpt-5'],
  sandbox: ECHO,
  'sandbox-anthropic': ECHO,
  'sandbox-bedrock': ECHO,
  'sandbox-cohere': ECHO,
  'sandbox-gemini': ECHO,
  vertex: GEMINI,
  'vertex-anthropic': [
    'claude-opus-5-5',
    'claude-sonnet-5-5',
    'claude-opus-4-8',
    'claude-sonnet-4-5',
    'claude-3-7-sonnet@20250219',
    'claude-3-5-haiku@20241022',
  ],
  vllm: OPEN,
}

export function modelsOf(provider: Provider): readonly string[] {
  return MODELS[provider.id] ?? [ANY_MODEL]
}

/** Kinds of models in a provider's data without a model name above. */
export function missingKinds(provider: Provider): string[] {
  const kindOf = (model: string) => provider.traits?.find(([pattern]) => pattern.test(model))?.[0]
  const kinds = new Set(modelsOf(provider).map(kindOf))
  return (provider.traits ?? [])
    .filter(([pattern]) => !kinds.has(pattern))
    .map(([pattern]) => pattern.source)
}
