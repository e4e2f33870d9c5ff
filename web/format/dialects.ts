/** Wire formats by the names that their users know. */

const NAMES: Readonly<Record<string, string>> = {
  'openai-chat': 'Chat Completions',
  'openai-responses': 'Responses',
  'openai-embeddings': 'Embeddings',
  'anthropic-messages': 'Messages',
  'anthropic-count-tokens': 'Token counting',
  'mistral-chat': 'Mistral chat',
  'mistral-fim': 'Fill in the middle',
  'mistral-embeddings': 'Embeddings',
  'gemini-generate-content': 'Generate content',
  'gemini-embed-contents': 'Embeddings',
  'cohere-chat': 'Cohere chat',
  'cohere-embed': 'Embeddings',
  'bedrock-converse': 'Converse',
}

/** Itself when it is not known here. */
export function formatDialect(dialect: string): string {
  return NAMES[dialect] ?? dialect
}

/** `Chat Completions, Embeddings`: each name once. */
export function formatDialects(dialects: readonly string[]): string {
  return [...new Set(dialects.map(formatDialect))].join(', ')
}
