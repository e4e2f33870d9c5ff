/** How public price lists name the providers. A name that is absent may be a provider's own id. */

/** https://models.dev/api.json: the members of the document. */
export const MODELS_DEV_NAMES: Readonly<Record<string, string>> = {
  azure: 'azure-openai',
  'amazon-bedrock': 'bedrock',
  'fireworks-ai': 'fireworks',
  google: 'gemini',
  'google-vertex': 'vertex',
  'google-vertex-anthropic': 'vertex-anthropic',
  togetherai: 'together',
}

/** The provider of https://openrouter.ai/api/v1/models. */
export const OPEN_ROUTER = 'openrouter'

/** `litellm_provider` in LiteLLM's model_prices_and_context_window.json. */
export const LITELLM_NAMES: Readonly<Record<string, string>> = {
  azure: 'azure-openai',
  bedrock: 'bedrock',
  bedrock_converse: 'bedrock',
  cohere: 'cohere',
  cohere_chat: 'cohere',
  fireworks_ai: 'fireworks',
  'fireworks_ai-embedding-models': 'fireworks',
  nvidia_nim: 'nvidia',
  'text-completion-openai': 'openai',
  together_ai: 'together',
  'vertex_ai-anthropic_models': 'vertex-anthropic',
  'vertex_ai-language-models': 'vertex',
  'vertex_ai-embedding-models': 'vertex',
}
