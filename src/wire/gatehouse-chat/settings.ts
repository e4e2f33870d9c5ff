import { number, own, record, type Settings, texts } from '../settings.ts'

export const OWN_SETTINGS = {
  tools: own('tools', { json: ['array'] }),
  toolChoice: own('tool_choice', { json: ['string', 'object'] }),
  responseFormat: own('response_format', { json: ['object'] }),
  temperature: number('temperature'),
  topP: number('top_p'),
  maxOutputTokens: number('max_output_tokens'),
  stop: texts('stop'),
  reasoning: own('reasoning.effort'),
  metadata: record('metadata'),
} satisfies Settings
