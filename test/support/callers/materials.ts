/** Texts for the probes of every dialect. Each text is unique, so that a test can search for it. */
import type { JsonRecord } from '../../../src/wire/chat-request.ts'

export const PROMPT = 'probe-prompt'
export const SYSTEM = 'probe-system'
export const ANSWERED = 'probe-answered'
export const FOLLOW_UP = 'probe-follow-up'
export const IMAGE = 'aVZCT1J3MEtHZ29QUk9CRUlNQUdF'
export const IMAGE_URL = 'https://example.com/probe.png'
export const PDF = 'JVBERi0xLjcKUFJPQkVQREY'
export const PDF_URL = 'https://example.com/probe.pdf'
export const AUDIO = 'UklGRlBST0JFQVVESU8'
export const USER = 'probe-user'
export const STOP = 'probe-stop'

export const SCHEMA: JsonRecord = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}

export const CALLS = [
  { id: 'call1abcd', name: 'weather', arguments: '{"city":"Oslo"}' },
  { id: 'call2abcd', name: 'clock', arguments: '{}' },
] as const
export const RESULTS = ['probe-result-one', 'probe-result-two'] as const
