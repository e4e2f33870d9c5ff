/** Every target of another dialect gets registered media types, whatever the caller wrote. */
import { describe, expect, test } from 'bun:test'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { json } from '../support/scripted-upstream.ts'
import type { UpstreamKit } from '../support/upstream-answers/answer-script.ts'
import { bedrockUpstream } from '../support/upstream-answers/bedrock-upstream.ts'
import { mistralUpstream, openaiUpstream } from '../support/upstream-answers/chat-upstreams.ts'
import { responsesUpstream } from '../support/upstream-answers/responses-upstream.ts'
import {
  anthropicUpstream,
  cohereUpstream,
  geminiUpstream,
} from '../support/upstream-answers/vendor-upstreams.ts'

// Loaded beforehand, because loading takes real time, which the scripted clock ignores.
await import('../../src/net/sign-aws.ts')

const TARGETS: Readonly<Record<string, UpstreamKit>> = {
  'openai/gpt-4o': openaiUpstream,
  'openai/gpt-5': responsesUpstream,
  'anthropic/claude-opus-4-6': anthropicUpstream,
  'gemini/gemini-2.5-pro': geminiUpstream,
  'bedrock/anthropic.claude-opus-4-6-v1': bedrockUpstream,
  'cohere/command-a-vision-07-2025': cohereUpstream,
  'mistral/mistral-large-latest': mistralUpstream,
}

interface Caller {
  readonly path: string
  /** Dialects of targets that relay this caller's requests. */
  readonly relaying: RegExp
  body(mediaType: string, data: string): object
}

const user = (part: object) => ({ messages: [{ role: 'user', content: [part] }] })
const CALLERS: readonly Caller[] = [
  {
    path: '/v1/messages',
    relaying: /^anthropic/,
    body: (media_type, data) => ({
      ...{ model: 'g', max_tokens: 64 },
      ...user({ type: 'image', source: { type: 'base64', media_type, data } }),
    }),
  },
  {
    path: '/v1/chat/completions',
    relaying: /^openai/,
    body: (mediaType, data) => ({
      model: 'g',
      ...user({ type: 'image_url', image_url: { url: `data:${mediaType};base64,${data}` } }),
    }),
  },
  {
    path: '/v3/chat',
    relaying: /^$/,
    body: (media_type, data) => ({ gate_id: 'g', ...user({ type: 'image', media_type, data }) }),
  },
]
const ROWS = CALLERS.flatMap((caller) =>
  Object.entries(TARGETS)
    .filter(([target]) => !caller.relaying.test(target))
    .map(([target, kit]) => ({ title: `${caller.path} to ${target}`, caller, target, kit })),
)

describe.each(ROWS)('$title', ({ caller, target, kit }) => {
  test.each([
    ['image/jpg', /"?image\/jpeg|"format":"jpeg"/],
    ['IMAGE/PJPEG', /"?image\/jpeg|"format":"jpeg"/],
    ['image/x-png', /"?image\/png|"format":"png"/],
  ])('%s is spelled as registered, and this is named', async (given, spelled) => {
    const gateway = new InProcessGateway({
      gates: { g: [target] },
      upstream: [json(200, JSON.stringify(kit.whole({ text: 'ok', finish: 'stop' })))],
    })
    const headers = { 'x-gatehouse-strict': 'true' }
    const body = caller.body(given, 'AAAA')
    const seen = await gateway.ask({ path: caller.path, headers, body })
    expect([seen.status, seen.text]).toEqual([200, expect.anything()])
    expect(seen.headers['x-gatehouse-adapted']).toContain('messages.content.image')
    const sent = gateway.upstream.sent[0]?.body ?? ''
    expect(sent).toMatch(spelled)
    expect(sent.toLowerCase()).not.toContain(given.toLowerCase())
    expect(sent).toContain('AAAA')
  })
})
