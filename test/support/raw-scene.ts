/** A server between a raw client and a raw upstream that plays every provider. */
import { createGate } from './control-plane.ts'
import { type RawAnswer, sendRaw } from './raw-client.ts'
import { type RawUpstream, startRawUpstream } from './raw-upstream.ts'
import { type Gatehouse, startGatehouse } from './start-gatehouse.ts'

/** The platform's credentials, which tests search for where they must not appear. */
export const PLANTED_OPENAI_KEY = 'sk-proj-planted-openai-0123456789abcdef'
export const PLANTED_MISTRAL_KEY = 'planted-mistral-fedcba9876543210'
const PLANTED_ANTHROPIC_KEY = 'sk-ant-planted-0a1b2c3d4e5f6789'

export const RESPONSES = '/v1/responses'
export const CHAT = '/v1/chat/completions'
export const CHAT_V3 = '/v3/chat'
export const FIM = '/alt/v1/fim/completions'
export const MESSAGES = '/v1/messages'
export const ALT_CHAT = '/alt/v1/chat/completions'

export function plantedKeyOf(target: string): string {
  if (target.startsWith('openai/')) return PLANTED_OPENAI_KEY
  return target.startsWith('anthropic/') ? PLANTED_ANTHROPIC_KEY : PLANTED_MISTRAL_KEY
}

export interface RawScene {
  readonly gatehouse: Gatehouse
  readonly upstream: RawUpstream
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<RawAnswer>
  close(): Promise<void>
}

export interface RawSceneOptions {
  readonly gates: Readonly<Record<string, string | readonly string[]>>
  readonly environment?: Readonly<Record<string, string>>
  readonly command?: readonly string[]
  readonly sandbox?: boolean
}

export async function openRawScene(options: RawSceneOptions): Promise<RawScene> {
  const upstream = await startRawUpstream()
  const gatehouse = await startGatehouse({
    sandbox: options.sandbox ?? false,
    ...(options.command === undefined ? {} : { command: options.command }),
    environment: {
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      OPENAI_API_KEY: PLANTED_OPENAI_KEY,
      MISTRAL_BASE_URL: `${upstream.url}/v1`,
      MISTRAL_API_KEY: PLANTED_MISTRAL_KEY,
      ANTHROPIC_BASE_URL: upstream.url,
      ANTHROPIC_API_KEY: PLANTED_ANTHROPIC_KEY,
      AZURE_OPENAI_BASE_URL: `${upstream.url}/v1`,
      AZURE_OPENAI_API_KEY: PLANTED_OPENAI_KEY,
      ...options.environment,
    },
  })
  for (const [id, models] of Object.entries(options.gates)) await createGate(gatehouse, id, models)
  return {
    gatehouse,
    upstream,
    post: (path, body, headers) =>
      sendRaw(gatehouse.url, {
        path,
        headers: {
          authorization: `Bearer ${gatehouse.key}`,
          'content-type': 'application/json',
          ...headers,
        },
        body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
      }),
    close: async () => {
      await gatehouse.remove()
      await upstream.stop()
    },
  }
}

/** Removes a member of the body, to compare the remaining bytes with what was sent. */
export function withoutMember(body: string, member: string): string {
  if (body.includes(`,${member}`)) return body.replace(`,${member}`, '')
  if (body.includes(`${member},`)) return body.replace(`${member},`, '')
  throw new Error(`the body has no member ${member}: ${body}`)
}
