/**
 * The providers that Gatehouse knows; an operator may add others. Documentation, checks and tests
 * derive their ids from here. One line each.
 */
import { anthropic } from './anthropic.ts'
import { azureOpenai } from './azure-openai.ts'
import { bedrock } from './bedrock.ts'
import { cerebras } from './cerebras.ts'
import { cohere } from './cohere.ts'
import { deepseek } from './deepseek.ts'
import type { Provider } from './define.ts'
import { fireworks } from './fireworks.ts'
import { gemini } from './gemini.ts'
import { groq } from './groq.ts'
import { llamacpp } from './llamacpp.ts'
import { lmstudio } from './lmstudio.ts'
import { mistral } from './mistral.ts'
import { nvidia } from './nvidia.ts'
import { ollama } from './ollama.ts'
import { openai } from './openai.ts'
import { openrouter } from './openrouter.ts'
import { perplexity } from './perplexity.ts'
import {
  sandbox,
  sandboxAnthropic,
  sandboxBedrock,
  sandboxCohere,
  sandboxGemini,
} from './sandbox.ts'
import { together } from './together.ts'
import { vertex } from './vertex.ts'
import { vertexAnthropic } from './vertex-anthropic.ts'
import { vllm } from './vllm.ts'
import { xai } from './xai.ts'

export const catalog: readonly Provider[] = [
  anthropic,
  azureOpenai,
  bedrock,
  cerebras,
  cohere,
  deepseek,
  fireworks,
  gemini,
  groq,
  llamacpp,
  lmstudio,
  mistral,
  nvidia,
  ollama,
  openai,
  openrouter,
  perplexity,
  sandbox,
  sandboxAnthropic,
  sandboxBedrock,
  sandboxCohere,
  sandboxGemini,
  together,
  vertex,
  vertexAnthropic,
  vllm,
  xai,
]
