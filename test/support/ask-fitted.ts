/** Sends a request through a gate of one target, and reads what the target got. */
import { InProcessGateway, type Seen } from './in-process-gateway.ts'
import { json } from './scripted-upstream.ts'
import type { AnswerScript, UpstreamKit } from './upstream-answers/answer-script.ts'
import { bedrockUpstream } from './upstream-answers/bedrock-upstream.ts'
import { mistralUpstream, openaiUpstream } from './upstream-answers/chat-upstreams.ts'
import { responsesUpstream } from './upstream-answers/responses-upstream.ts'
import {
  anthropicUpstream,
  cohereUpstream,
  geminiUpstream,
} from './upstream-answers/vendor-upstreams.ts'

// Loaded beforehand, because loading takes real time, which the scripted clock ignores.
await import('../../src/net/sign-aws.ts')

export const MESSAGES = '/v1/messages'
export const CHAT = '/v1/chat/completions'
export const OWN = '/v3/chat'
const ANSWER: AnswerScript = { text: 'ok', finish: 'stop' }
export const USER = { role: 'user', content: 'hi' }

const kitOf = (target: string): UpstreamKit => {
  if (target.startsWith('anthropic/')) return anthropicUpstream
  if (target.startsWith('gemini/')) return geminiUpstream
  if (target.startsWith('bedrock/')) return bedrockUpstream
  if (target.startsWith('mistral/')) return mistralUpstream
  if (target.startsWith('cohere/')) return cohereUpstream
  return /^openai\/(?:o\d|gpt-5)/.test(target) ? responsesUpstream : openaiUpstream
}

export interface Asked {
  readonly seen: Seen
  readonly sent: string
  readonly body: ReturnType<typeof JSON.parse>
}

export async function ask(
  path: string,
  target: string,
  members: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Asked> {
  const gateway = new InProcessGateway({
    gates: { g: [target] },
    upstream: [json(200, JSON.stringify(kitOf(target).whole(ANSWER)))],
  })
  const base = path === MESSAGES ? { max_tokens: 64 } : {}
  const body = { [path === OWN ? 'gate_id' : 'model']: 'g', ...base, messages: [USER], ...members }
  const seen = await gateway.ask({ path, headers, body })
  const sent = gateway.upstream.sent[0]?.body ?? ''
  return { seen, sent, body: sent === '' ? undefined : JSON.parse(sent) }
}

export const STRICT = { 'x-gatehouse-strict': 'true' }
