/** Builds Bedrock Converse's answers: the message, and its events in binary frames. */
import type { EventStreamCodec } from '@smithy/eventstream-codec'
import { type Composition, composeThoughts } from '../compose-answer.ts'
import { splitTokens } from '../count-tokens.ts'
import {
  bearerOf,
  defineDialect,
  type Frame,
  obfuscationAt,
  Refusal,
  type Scene,
  toDigits,
  type Vendor,
} from '../dialect.ts'
import { signThinking } from '../thinking.ts'
import { type BedrockRequest, readBedrockRequest } from './bedrock-request.ts'

/** Bedrock accepts two forms of key: a Bearer key and an AWS signature. */
export const bedrockVendor: Vendor = {
  findKey({ headers }) {
    const authorization = headers.get('authorization')?.trim() ?? ''
    if (!authorization.startsWith('AWS4')) return bearerOf(headers)
    const { key, signed } = SIGNATURE.exec(authorization)?.groups ?? {}
    const isSigned = signed?.split(';').includes('host') && signed.includes('x-amz-date')
    if (key !== undefined && isSigned && headers.has('x-amz-date')) return key
    throw new Refusal(
      403,
      'The signature of the request is not well-formed, or does not cover host and x-amz-date.',
      { type: 'IncompleteSignatureException' },
    )
  },
  idHeader: 'x-amzn-requestid',
  encodeRefusal(refusal) {
    const { message, keyFault } = refusal
    const status = keyFault === null ? refusal.status : 403
    const fallback = status >= 500 ? 'InternalServerException' : 'ValidationException'
    const ofStatus =
      keyFault === 'bad' ? 'UnrecognizedClientException' : (TYPES[status] ?? fallback)
    const type = refusal.type.endsWith('Exception') ? refusal.type : ofStatus
    return { status, headers: { 'x-amzn-errortype': type }, body: { message } }
  },
}

let codec: EventStreamCodec | undefined

/** Loading the codec takes 25 ms and 16 MB, so a start does not load it. */
function loadCodec(): EventStreamCodec {
  if (codec === undefined) {
    const library =
      require('@smithy/eventstream-codec') as typeof import('@smithy/eventstream-codec')
    codec = new library.EventStreamCodec(
      (bytes) => (typeof bytes === 'string' ? bytes : new TextDecoder().decode(bytes)),
      (text) => new TextEncoder().encode(text),
    )
  }
  return codec
}

const string = (value: string) => ({ type: 'string' as const, value })

function encodeFrame(kind: 'event' | 'exception', type: string, payload: object): Uint8Array {
  return loadCodec().encode({
    headers: {
      ':message-type': string(kind),
      [`:${kind}-type`]: string(type),
      ':content-type': string('application/json'),
    },
    body: new TextEncoder().encode(JSON.stringify(payload)),
  })
}

/** Valid checksums, but the payload lacks its last brace. */
function spoil(frame: Frame): Frame {
  if (typeof frame === 'string') return frame
  const { headers, body } = loadCodec().decode(frame)
  return loadCodec().encode({ headers, body: body.subarray(0, -1) })
}

type BedrockScene = Scene<BedrockRequest>

export const bedrockDialect = defineDialect<BedrockRequest>({
  vendor: bedrockVendor,
  framing: { contentType: 'application/vnd.amazon.eventstream', spoil },
  readRequest: readBedrockRequest,
  buildAnswer,
  *streamFrames(scene) {
    let position = 0
    // Amazon pads its events, so sizes reveal nothing.
    for (const { type, payload } of streamEvents(scene))
      yield encodeFrame('event', type, {
        ...payload,
        p: obfuscationAt(scene.exchange.seed, position++),
      })
  },
  failureFrames: (message) => [encodeFrame('exception', 'internalServerException', { message })],
})

function buildAnswer(scene: BedrockScene, text: string) {
  const { composition } = scene
  const thoughts = buildThoughts(scene)
  const content = [
    ...(thoughts === undefined ? [] : [{ reasoningContent: { reasoningText: thoughts } }]),
    ...(text === '' ? [] : [{ text }]),
    ...buildCalls(scene).map(({ toolUseId, name, input }) => ({
      toolUse: { toolUseId, name, input: JSON.parse(input) },
    })),
  ]
  return {
    output: { message: { role: 'assistant', content } },
    stopReason: stopReason(composition),
    ...buildMetadata(scene),
  }
}

function buildThoughts({ exchange, request }: BedrockScene) {
  if (request.thinking.type === 'off') return undefined
  const text = request.thinking.isShown ? composeThoughts(exchange.seed) : ''
  return { text, signature: signThinking(exchange.seed.slice(0, 24), text) }
}

function buildCalls({ exchange, composition }: BedrockScene) {
  return composition.calls.map((call, index) => ({
    toolUseId: `tooluse_${exchange.seed.slice(24, 44)}${toDigits(index)}`,
    name: call.name,
    input: call.arguments,
  }))
}

function stopReason({ finish, stoppedBy }: Composition): string {
  const ended = stoppedBy === null ? 'end_turn' : 'stop_sequence'
  return { stop: ended, length: 'max_tokens', tool_calls: 'tool_use' }[finish]
}

/** `inputTokens` excludes tokens read from or written to the cache. */
function buildMetadata({ request, composition }: BedrockScene) {
  const { inputTokens, cachedTokens } = request.count
  return {
    usage: {
      inputTokens: inputTokens - cachedTokens,
      outputTokens: composition.outputTokens,
      totalTokens: inputTokens + composition.outputTokens,
      cacheReadInputTokens: request.isCacheRead ? cachedTokens : 0,
      cacheWriteInputTokens: request.isCacheRead ? 0 : cachedTokens,
    },
    // Fixed, so equal requests get equal answers.
    metrics: { latencyMs: 1 },
  }
}

interface Event {
  readonly type: string
  readonly payload: object
}

/** Only tools have a start; usage comes after the end. */
function* streamEvents(scene: BedrockScene): Generator<Event> {
  const { composition } = scene
  let contentBlockIndex = 0
  const delta = (members: object): Event => ({
    type: 'contentBlockDelta',
    payload: { contentBlockIndex, delta: members },
  })
  const stop = (): Event => ({
    type: 'contentBlockStop',
    payload: { contentBlockIndex: contentBlockIndex++ },
  })
  yield { type: 'messageStart', payload: { role: 'assistant' } }
  const thoughts = buildThoughts(scene)
  if (thoughts !== undefined) {
    for (const text of splitTokens(thoughts.text)) yield delta({ reasoningContent: { text } })
    yield delta({ reasoningContent: { signature: thoughts.signature } })
    yield stop()
  }
  if (composition.text !== null && composition.text !== '') {
    for (const text of composition.pieces()) yield delta({ text })
    yield stop()
  }
  for (const { toolUseId, name, input } of buildCalls(scene)) {
    yield {
      type: 'contentBlockStart',
      payload: { contentBlockIndex, start: { toolUse: { toolUseId, name } } },
    }
    // A tool without arguments has one empty piece.
    const pieces = input === '{}' ? [''] : splitTokens(input)
    for (const piece of pieces) yield delta({ toolUse: { input: piece } })
    yield stop()
  }
  yield { type: 'messageStop', payload: { stopReason: stopReason(composition) } }
  yield { type: 'metadata', payload: buildMetadata(scene) }
}

/**
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html#API_runtime_Converse_Errors
 */
const TYPES: Readonly<Record<number, string>> = {
  400: 'ValidationException',
  401: 'UnrecognizedClientException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  408: 'ModelTimeoutException',
  424: 'ModelErrorException',
  429: 'ThrottlingException',
  500: 'InternalServerException',
  503: 'ServiceUnavailableException',
}

/** The sandbox has no secret to verify a signature, so a well-formed signature is enough. */
const SIGNATURE =
  /^AWS4-HMAC-SHA256 Credential=(?<key>[\w-]+)\/\d{8}\/[a-z0-9-]+\/bedrock\/aws4_request, ?SignedHeaders=(?<signed>[a-z0-9;-]+), ?Signature=[0-9a-f]{64}$/
