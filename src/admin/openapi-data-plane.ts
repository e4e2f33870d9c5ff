/**
 * Describes the data plane for OpenAPI readers. Documentation only: those endpoints follow the vendors' formats, which
 * are checked where they are spoken, and pass through what is not listed here.
 */
import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { errorBody } from '../contract/errors.ts'
import { gatehouseChatAnswer, gatehouseChatRequest } from './openapi-gatehouse-chat.ts'

type Registry = OpenAPIHono['openAPIRegistry']

interface Endpoint {
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly request: z.ZodType
  /** What a successful answer and the stream's events are called in the vendor's documentation; it may have no streams. */
  readonly answer: string
  readonly events?: string
  /** Where the format is our own; absent: the vendor's. */
  readonly answerBody?: z.ZodType
  readonly envelope: z.ZodType
}

const gateId = z.string().meta({ description: 'Id of a gate.', example: 'demo' })
const stream = z.boolean().optional().meta({ description: 'Answer as server-sent events.' })
const vendorsAnswerBody = z
  .looseObject({})
  .meta({ description: "In the vendor's format, as the provider sent it." })

const nestedErrorBody = z
  .object({
    error: z.object({
      message: z.string(),
      type: z.string().meta({ example: 'invalid_request_error' }),
      param: z.string().nullable(),
      code: z.string().nullable(),
    }),
  })
  .meta({ id: 'NestedError', description: 'The error envelope that the OpenAI SDKs read.' })

const responsesRequest = z
  .looseObject({
    model: gateId,
    input: z.union([z.string(), z.array(z.looseObject({}))]),
    instructions: z.string().optional(),
    tools: z.array(z.looseObject({})).optional(),
    tool_choice: z.union([z.string(), z.looseObject({})]).optional(),
    max_output_tokens: z.int().optional(),
    reasoning: z.looseObject({}).optional(),
    stream,
    store: z.literal(false).optional().meta({ description: 'Nothing is stored here: `true` is refused.' }),
  })
  .meta({ id: 'ResponsesRequest', description: "OpenAI's Responses format; other fields pass through." })

const chatRequest = z
  .looseObject({
    gate_id: gateId.optional(),
    model: gateId.optional().meta({ description: 'Id of a gate, where there is no `gate_id`.' }),
    messages: z.array(z.looseObject({ role: z.string() })),
    stream,
  })
  .meta({ id: 'ChatRequest', description: "OpenAI's Chat Completions format; other fields pass through." })

const messagesRequest = z
  .looseObject({
    gate_id: gateId.optional(),
    model: gateId.optional().meta({ description: 'Id of a gate, where there is no `gate_id`.' }),
    max_tokens: z.int(),
    messages: z.array(z.looseObject({ role: z.string() })),
    stream,
  })
  .meta({ id: 'MessagesRequest', description: "Anthropic's Messages format; other fields pass through." })

const countTokensRequest = messagesRequest
  .omit({ max_tokens: true, stream: true })
  .meta({ id: 'CountTokensRequest', description: "Anthropic's token counting format." })

const embeddingsRequest = z
  .looseObject({
    gate_id: gateId.optional(),
    model: gateId.optional().meta({ description: 'Id of a gate, where there is no `gate_id`.' }),
    input: z.union([z.string(), z.array(z.union([z.string(), z.int(), z.array(z.int())]))]),
    dimensions: z.int().optional(),
    encoding_format: z.enum(['float', 'base64']).optional(),
  })
  .meta({ id: 'EmbeddingsRequest', description: "OpenAI's embeddings format; other fields pass through." })

const messagesErrorBody = z
  .object({
    type: z.literal('error'),
    error: z.object({ type: z.string().meta({ example: 'invalid_request_error' }), message: z.string() }),
  })
  .meta({ id: 'MessagesError', description: 'The error envelope that the Anthropic SDKs read.' })

const fimRequest = z
  .looseObject({
    model: gateId,
    prompt: z.string().meta({ description: 'Code before the cursor.' }),
    suffix: z.string().nullish().meta({ description: 'Code after the cursor.' }),
    stream,
    min_tokens: z.number().nullish().meta({ description: 'Accepted, without effect.' }),
  })
  .meta({ id: 'FimRequest', description: "Mistral's fill-in-the-middle format." })

const modelList = z
  .object({
    object: z.literal('list'),
    data: z.array(z.looseObject({ id: gateId, object: z.literal('model') })),
  })
  .meta({ id: 'ModelList', description: "The account's gates, in OpenAI's format." })

const endpoints: readonly Endpoint[] = [
  {
    path: '/v1/responses',
    operationId: 'createResponse',
    summary: 'Responses format',
    description: 'The gate must lead to a provider that speaks this format. SDK base address: `{base}/v1`.',
    request: responsesRequest,
    answer: 'A response object.',
    events: 'named events (`response.created` … `response.completed`)',
    envelope: nestedErrorBody,
  },
  {
    path: '/v1/chat/completions',
    operationId: 'createChatCompletion',
    summary: 'Chat format',
    description: '`gate_id`, or else `model`, names the gate. SDK base address: `{base}/v1`.',
    request: chatRequest,
    answer: 'A chat completion.',
    events: 'chunks, then `[DONE]`',
    envelope: nestedErrorBody,
  },
  {
    path: '/v1/messages',
    operationId: 'createMessage',
    summary: 'Messages format',
    description: 'The key may also be in `x-api-key`. SDK base address: `{base}`.',
    request: messagesRequest,
    answer: 'A message.',
    events: 'named events (`message_start` … `message_stop`)',
    envelope: messagesErrorBody,
  },
  {
    path: '/v1/messages/count_tokens',
    operationId: 'countMessageTokens',
    summary: 'Count the tokens of a Messages request',
    description:
      'Asked of the provider where it can count. Elsewhere it is estimated from the size of the text, and the answer carries `x-gatehouse-estimated: true`.',
    request: countTokensRequest,
    answer: '`{"input_tokens": n}`.',
    envelope: messagesErrorBody,
  },
  {
    path: '/v1/embeddings',
    operationId: 'createEmbeddings',
    summary: 'Embeddings',
    description: 'SDK base address: `{base}/v1`. Cohere, Gemini and Mistral are translated to.',
    request: embeddingsRequest,
    answer: 'A list of embeddings.',
    envelope: nestedErrorBody,
  },
  {
    path: '/v3/chat',
    operationId: 'createChat',
    summary: "The gateway's own chat format",
    description:
      'Strict: an unknown member is refused. `gateId` and `data.messages` are taken as other spellings.',
    request: gatehouseChatRequest,
    answer: 'A chat answer.',
    answerBody: gatehouseChatAnswer,
    events:
      'named events (`chat.started`, `chat.delta` …, `chat.completed` with the whole answer, or `error`)',
    envelope: errorBody,
  },
  {
    path: '/alt/v1/fim/completions',
    operationId: 'createFimCompletion',
    summary: 'Fill-in-the-middle code completion',
    description: 'SDK server address: `{base}/alt`.',
    request: fimRequest,
    answer: 'A completion, shaped like a chat completion.',
    events: 'chunks, then `[DONE]`',
    envelope: errorBody,
  },
  {
    path: '/alt/v1/chat/completions',
    operationId: 'createAltChatCompletion',
    summary: "Chat in Mistral's format",
    description: 'Some code editors fall back to it. SDK server address: `{base}/alt`.',
    request: chatRequest,
    answer: 'A chat completion.',
    events: 'chunks, then `[DONE]`',
    envelope: errorBody,
  },
]

const ERRORS: Readonly<Record<number, string>> = {
  400: 'The request is not valid, or the gate leads to a provider of another format.',
  401: 'The key is missing or not valid.',
  404: 'There is no gate with this id.',
  413: 'The body is too large.',
  429: "Too many calls or tokens with this key: `retry-after` says when to come back, `x-ratelimit-*` what is allowed. Or the account's quota or a budget is used up: then `x-should-retry` is `false`.",
  500: 'The gateway failed.',
  502: 'The provider failed, or refused our credential.',
  503: 'The gateway cannot serve at the moment.',
  504: 'The provider was too slow.',
}

/** Adds the data plane's endpoints to the document. */
export function registerDataPlane(registry: Registry): void {
  for (const endpoint of endpoints) {
    registry.registerPath({
      method: 'post',
      path: endpoint.path,
      operationId: endpoint.operationId,
      summary: endpoint.summary,
      description: endpoint.description,
      tags: ['Inference'],
      security: [{ bearer: [] }],
      request: { body: { required: true, content: { 'application/json': { schema: endpoint.request } } } },
      responses: {
        200: {
          description: describeAnswer(endpoint),
          headers: answerHeaders,
          content: {
            'application/json': { schema: endpoint.answerBody ?? vendorsAnswerBody },
            ...(endpoint.events === undefined ? {} : { 'text/event-stream': { schema: z.string() } }),
          },
        },
        ...toErrorAnswers(endpoint.envelope, Object.keys(ERRORS)),
      },
    })
  }
  registry.registerPath({
    method: 'get',
    path: '/v1/models',
    operationId: 'listModels',
    summary: 'List gates as models',
    tags: ['Inference'],
    security: [{ bearer: [] }],
    responses: {
      200: {
        description: 'All gates of the account.',
        content: { 'application/json': { schema: modelList } },
      },
      ...toErrorAnswers(nestedErrorBody, ['401']),
    },
  })
}

function describeAnswer({ answer, events }: Endpoint): string {
  return events === undefined ? answer : `${answer} With \`stream: true\`: ${events}, as server-sent events.`
}

const answerHeaders = {
  'x-request-id': { description: "The call's id, and its log row's.", schema: { type: 'string' as const } },
  'x-gatehouse-target': {
    description: '`provider/model` that answered.',
    schema: { type: 'string' as const },
  },
  'x-gatehouse-ignored': {
    description: 'Fields that had no effect: the gate decides them, or the target cannot take them.',
    schema: { type: 'string' as const },
  },
  'x-gatehouse-attempts': {
    description: 'How often an upstream was asked.',
    schema: { type: 'integer' as const },
  },
}

function toErrorAnswers(envelope: z.ZodType, statuses: readonly string[]) {
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: ERRORS[Number(status)] ?? 'An error.',
        content: { 'application/json': { schema: envelope } },
      },
    ]),
  )
}
