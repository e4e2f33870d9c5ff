/** The settings of Mistral's fill-in-the-middle. Source: https://docs.mistral.ai/api/ */
import { TEMPERATURE } from '../mistral-chat/settings.ts'
import { number, own, type Settings, texts } from '../settings.ts'

export const FIM_SETTINGS = {
  maxOutputTokens: number('max_tokens'),
  temperature: TEMPERATURE,
  topP: number('top_p'),
  seed: number('random_seed'),
  stop: texts('stop'),
  metadata: own('metadata', { json: ['object'] }),
  promptCacheKey: own('prompt_cache_key'),
} satisfies Settings
