/** The list of providers: documentation, checks and tests derive their ids from here. One line each. */
import { anthropic } from './anthropic.ts'
import { bedrock } from './bedrock.ts'
import { cerebras } from './cerebras.ts'
import { cohere } from './cohere.ts'
import { deepseek } from './deepseek.ts'
import type { Provider } from './define.ts'
import { fireworks } from './fireworks.ts'
import { gemini } from './gemini.ts'
import { groq } from './groq.ts'
import { lmstudio } from './lmstudio.ts'
import { mistral } from './mistral.ts'
import { nvidia } from './nvidia.ts'
import { ollama } from './ollama.ts'
import { openai } from './openai.ts'
import { openrouter } from './openrouter.ts'
import { perplexity } from './perplexity.ts'
import { sandbox, sandboxAnthropic, sandboxBedrock, sandboxCohere, sandboxGemini } from './sandbox.ts'
import { together } from './together.ts'
import { vllm } from './vllm.ts'
import { xai } from './xai.ts'

export const catalog: readonly Provider[] = [
  anthropic,
  bedrock,
  cerebras,
  cohere,
  deepseek,
  fireworks,
  gemini,
  groq,
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
  vllm,
  xai,
]
