/**
 * The built-in providers; an operator may add others. Documentation, checks and tests derive their
 * ids from this list.
 */
import { anthropic } from './anthropic.ts'
import { azureOpenai } from './azure-openai.ts'
import { bedrock } from './bedrock.ts'
import { cohere } from './cohere.ts'
import type { Provider } from './define.ts'
import { gemini } from './gemini.ts'
import { mistral } from './mistral.ts'
import { openai } from './openai.ts'
import { openaiCompatible } from './openai-compatible.ts'
import {
  sandbox,
  sandboxAnthropic,
  sandboxBedrock,
  sandboxCohere,
  sandboxGemini,
} from './sandbox.ts'
import { vertex, vertexAnthropic } from './vertex.ts'

export const catalog: readonly Provider[] = [
  anthropic,
  azureOpenai,
  bedrock,
  cohere,
  gemini,
  mistral,
  openai,
  sandbox,
  sandboxAnthropic,
  sandboxBedrock,
  sandboxCohere,
  sandboxGemini,
  vertex,
  vertexAnthropic,
  ...openaiCompatible,
].toSorted((one, other) => (one.id < other.id ? -1 : 1))
