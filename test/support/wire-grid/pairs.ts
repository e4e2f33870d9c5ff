/** Every pair of a caller's dialect and an upstream's dialect, whole and streamed. */
import { expect } from 'bun:test'
import {
  CALLERS,
  TRANSLATING_ENDPOINTS,
  UPSTREAMS,
} from '../../../scripts/conformance/conformance-table.ts'
import { DIALECTS, type DialectId } from '../../../src/core/dialects.ts'
import { Secret } from '../../../src/core/secret.ts'
import type { OwnedUpstream } from '../../../src/gateway/ports.ts'
import { ownedProvider } from '../../../src/providers/owned.ts'
import type { JsonRecord } from '../../../src/wire/chat-request.ts'
import { upstreamCodecOf } from '../../../src/wire/dialects.ts'
import { AWS_STREAM_HEADERS } from '../aws-event-stream.ts'
import type { CallerKit, SeenAnswer } from '../callers/caller.ts'
import { InProcessGateway, type Seen } from '../in-process-gateway.ts'
import { json, type Script, type SentRequest, stream } from '../scripted-upstream.ts'
import type { UpstreamKit } from '../upstream-answers/answer-script.ts'
import { accumulate } from './published-sdks.ts'

// Loaded beforehand, because loading takes real time, which the scripted clock ignores.
await import('../../../src/net/sign-aws.ts')
await import('../../../src/net/google-token.ts')

/** A target that reasons on request, for each upstream dialect. */
const TARGETS: Readonly<Record<string, string>> = {
  'openai-chat': 'vllm/qwen3',
  'openai-responses': 'openai/gpt-5',
  'anthropic-messages': 'anthropic/claude-opus-4-8',
  'gemini-generate-content': 'gemini/gemini-3-pro-preview',
  'cohere-chat': 'cohere/command-a-reasoning-08-2025',
  'mistral-chat': 'mistral/mistral-medium-latest',
  'bedrock-converse': 'bedrock/anthropic.claude-opus-4-8',
}

export interface Upstream {
  readonly dialect: string
  readonly target: string
  readonly kit: UpstreamKit
}

export interface Caller {
  readonly path: string
  readonly dialect: string
  readonly kit: CallerKit
}

export interface Cell {
  readonly caller: Caller
  readonly upstream: Upstream
  readonly isStream: boolean
}

function known<Value>(table: Readonly<Record<string, Value>>, dialect: string): Value {
  const value = table[dialect]
  if (value === undefined) throw new Error(`The grid has no entry for ${dialect}.`)
  return value
}

export const GRID_CALLERS: readonly Caller[] = TRANSLATING_ENDPOINTS.map(([path, { id }]) => ({
  path,
  dialect: id,
  kit: known(CALLERS, id),
}))

export function upstreamOf(dialect: string): Upstream {
  return { dialect, target: known(TARGETS, dialect), kit: known(UPSTREAMS, dialect) }
}

/** Upstreams that calls of chat are translated to. */
export const GRID_UPSTREAMS: readonly Upstream[] = (Object.keys(DIALECTS) as DialectId[])
  .filter((id) => upstreamCodecOf(id)?.form === 'chat')
  .map(upstreamOf)

export function isRelayed({ caller, upstream }: Pick<Cell, 'caller' | 'upstream'>): boolean {
  return caller.dialect === upstream.dialect
}

export interface Sample {
  readonly whole: JsonRecord
  readonly stream: readonly (string | Uint8Array)[]
}

export function toScript({ upstream, isStream }: Cell, sample: Sample): Script {
  if (!isStream) return json(200, sample.whole)
  const headers = upstream.dialect === 'bedrock-converse' ? AWS_STREAM_HEADERS : {}
  return stream(sample.stream, { headers })
}

export interface Asked {
  readonly seen: Seen
  readonly sent: readonly SentRequest[]
  readonly sentBody: JsonRecord
}

export interface Ask {
  readonly members?: JsonRecord
  readonly answers?: readonly Script[]
  readonly headers?: Readonly<Record<string, string>>
  readonly asksNoUsage?: boolean
  readonly targets?: readonly string[]
}

/**
 * A server with Responses only, because every vendor of Responses in the catalog also has Chat
 * Completions.
 */
function ownedResponses(target: string): OwnedUpstream {
  return {
    slug: 'mine',
    provider: ownedProvider('owned/mine', 'openai-responses', 'https://models.test'),
    model: target.slice(target.indexOf('/') + 1),
    credential: { secret: new Secret('planted-0123456789'), owner: 'account' },
  }
}

export async function ask(cell: Cell, asked: Ask = {}): Promise<Asked> {
  const { caller, upstream, isStream } = cell
  const { members = {}, answers = [], headers = {}, targets = [upstream.target] } = asked
  const credentials = Object.fromEntries(
    targets.map((target) => [target.split('/', 1)[0] ?? '', 'account'] as const),
  )
  const isOwned = caller.dialect === 'openai-chat' && upstream.dialect === 'openai-responses'
  const gateway = new InProcessGateway({
    gates: { g: isOwned ? ['owned/mine', ...targets.slice(1)] : targets },
    ...(isOwned && { ownedModels: [ownedResponses(targets[0] ?? '')] }),
    credentials,
    upstream: [...answers],
  })
  const named = caller.dialect === 'gatehouse-chat' ? { gate_id: 'g' } : { model: 'g' }
  const streamed =
    asked.asksNoUsage === true ? { stream: isStream } : isStream ? caller.kit.stream : {}
  const body = { ...named, ...caller.kit.plain, ...members, ...streamed }
  const seen = await gateway.ask({ path: caller.path, body, headers })
  const { sent } = gateway.upstream
  return { seen, sent, sentBody: JSON.parse(sent[0]?.body ?? '{}') }
}

export interface Answer {
  /** In the form of a whole answer; a stream as the published SDK accumulates it. */
  readonly json: JsonRecord
  readonly read: SeenAnswer
}

/** Reads a whole answer, or a stream twice: event by event and by the published SDK. */
export async function readAnswer({ caller, isStream }: Cell, { seen }: Asked): Promise<Answer> {
  expect([seen.status, seen.ending, seen.status === 200 ? '' : seen.text]).toEqual([
    200,
    'whole',
    '',
  ])
  const { kit, dialect } = caller
  const whole = isStream ? await accumulate(dialect, seen.text) : JSON.parse(seen.text)
  const read = kit.readAnswer(whole)
  if (!isStream) return { json: whole, read }
  expect(kit.readEnd(seen.text)).toEqual({ isWhole: true, isFailed: false })
  const byEvents = kit.readStream(seen.text)
  // OpenAI's own SDK keeps no reasoning of chat completions.
  const reasoning = dialect === 'openai-chat' ? byEvents.reasoning : read.reasoning
  expect({ ...read, reasoning }).toEqual(byEvents)
  return { json: whole, read: byEvents }
}

export function expectRelayed({ isStream }: Cell, { seen }: Asked, sample: Sample): void {
  const bytes = sample.stream.map((piece) => Buffer.from(piece))
  const expected = isStream ? Buffer.concat(bytes).toString() : JSON.stringify(sample.whole)
  expect({ status: seen.status, text: seen.text }).toEqual({ status: 200, text: expected })
}
