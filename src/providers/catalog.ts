/** The list of providers: documentation, checks and tests derive their ids from here. One line each. */
import { anthropic } from './anthropic.ts'
import { deepseek } from './deepseek.ts'
import type { Provider } from './define.ts'
import { gemini } from './gemini.ts'
import { groq } from './groq.ts'
import { mistral } from './mistral.ts'
import { openai } from './openai.ts'
import { openrouter } from './openrouter.ts'
import { sandbox } from './sandbox.ts'
import { together } from './together.ts'
import { xai } from './xai.ts'

export const catalog: readonly Provider[] = [
  anthropic,
  deepseek,
  gemini,
  groq,
  mistral,
  openai,
  openrouter,
  sandbox,
  together,
  xai,
]
