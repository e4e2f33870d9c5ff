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

export const LONG_USER = USER.padEnd(150, '-')
export const STOPS = [STOP, 'probe-b', 'probe-c', 'probe-d', 'probe-e', 'probe-f'] as const
export const CSV = 'cHJvYmUtY2VsbCwxCg=='
/** 100 characters. */
export const TOOL_NAME = `mcp.probe.${'server_'.repeat(12)}weathe`
export const MORE_TOKENS = 1_000_000
export const HIGH_BUDGET = 52_428

export const OPTIONAL_SCHEMA: JsonRecord = {
  type: 'object',
  properties: { city: { type: 'string' }, unit: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
export const BARE_SCHEMA: JsonRecord = { type: 'object' }
export const CHOICE_SCHEMA: JsonRecord = {
  type: 'object',
  anyOf: [
    { properties: { city: { type: 'string' } }, required: ['city'] },
    { properties: { place: { type: 'string' } }, required: ['place'] },
  ],
}
export const BOUND_SCHEMA: JsonRecord = {
  type: 'object',
  properties: { city: { type: 'string', minLength: 2 }, days: { type: 'integer', minimum: 1 } },
  required: ['city', 'days'],
}
