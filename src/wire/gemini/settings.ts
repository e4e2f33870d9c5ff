/** The settings of generateContent. Source: https://ai.google.dev/api/generate-content */
import { number, own, type Settings, texts } from '../settings.ts'

export const GEMINI_SETTINGS = {
  maxOutputTokens: number('generationConfig.maxOutputTokens'),
  temperature: number('generationConfig.temperature'),
  topP: number('generationConfig.topP'),
  topK: number('generationConfig.topK'),
  // Gemini refuses more stop texts.
  stop: texts('generationConfig.stopSequences', { most: 5 }),
  seed: number('generationConfig.seed'),
  presencePenalty: number('generationConfig.presencePenalty'),
  frequencyPenalty: number('generationConfig.frequencyPenalty'),
  tools: own('tools'),
  toolChoice: own('toolConfig'),
  parallelToolCalls: own(),
  responseFormat: own('generationConfig.responseMimeType'),
  reasoning: own('generationConfig.thinkingConfig'),
} satisfies Settings
