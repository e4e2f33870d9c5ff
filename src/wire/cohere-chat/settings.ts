/**
 * The settings of Cohere's chat. The provider refuses numbers outside its ranges, and OpenAI's
 * ranges are wider. Source: https://docs.cohere.com/reference/chat
 */
import { flag, number, own, type Settings, texts } from '../settings.ts'

export const COHERE_SETTINGS = {
  maxOutputTokens: number('max_tokens'),
  temperature: number('temperature', { least: 0, most: 1 }),
  topP: number('p', { least: 0.01, most: 0.99 }),
  topK: number('k', { least: 0, most: 500 }),
  stop: texts('stop_sequences', { most: 5 }),
  seed: number('seed'),
  presencePenalty: number('presence_penalty', { least: 0, most: 1 }),
  frequencyPenalty: number('frequency_penalty', { least: 0, most: 1 }),
  logprobs: flag('logprobs'),
  tools: own('tools'),
  toolChoice: own('tool_choice'),
  parallelToolCalls: own(),
  responseFormat: own('response_format'),
  reasoning: own('thinking'),
} satisfies Settings
