/**
 * Describes the data plane for OpenAPI readers. Documentation only: wire/ checks requests, and
 * forwards members that are not listed here.
 */
import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { errorBody } from '../../contract/errors.ts'
import {
  altErrorBody,
  altModel,
  altModelList,
  chatAnswer,
  eitherModel,
  eitherModelList,
  embeddingsAnswer,
  messageAnswer,
  messagesErrorBody,
  nestedErrorBody,
  responseAnswer,
  tokenCount,
} from './openapi-answers.ts'
import {
  altChatRequest,
  chatRequest,
  countTokensRequest,
  embeddingsRequest,
  fimRequest,
  gatehouseChatAnswer,
  gatehouseChatRequest,
  messagesRequest,
  responsesRequest,
} from './openapi-requests.ts'

type Registry = OpenAPIHono['openAPIRegistry']

interface Endpoint {
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly request: z.ZodType
  readonly answer: z.ZodType
  readonly events?: string
  readonly envelope: z.ZodType
  readonly alsoTakes?: 'api-key-header' | 'session'
}

const BROKEN =
  'A stream that breaks says so in an event, and its connection is cut ' +
  'without the closing chunk.'

const GATEHOUSE_CHAT = {
  request: gatehouseChatRequest,
  answer: gatehouseChatAnswer,
  events:
    `Named events: \`chat.started\`, \`chat.delta\` (\`content\`, \`reasoning\` or ` +
    `\`tool_call\`), \`chat.completed\` with the whole answer; \`error\` with the error ` +
    `envelope where it fails. ${BROKEN}`,
  envelope: errorBody,
} as const

const endpoints: readonly Endpoint[] = [
  {
    path: '/v1/responses',
    operationId: 'createResponse',
    summary: 'Responses format',
    description:
      'The gate must lead to a provider that speaks this format. Nothing is stored: reasoning ' +
      'comes back encrypted, and is replayed in `input`. SDK base address: `{base}/v1`.',
    request: responsesRequest,
    answer: responseAnswer,
    events:
      `Named events: \`response.created\` … \`response.completed\` or \`response.incomplete\`; ` +
      `where it fails, \`error\`, then \`response.failed\` with a whole response, then ` +
      `\`[DONE]\`. ${BROKEN}`,
    envelope: nestedErrorBody,
  },
  {
    path: '/v1/chat/completions',
    operationId: 'createChatCompletion',
    summary: 'Chat format',
    description:
      '`gate_id`, or else `model`, names the gate, which may lead to a provider of any ' +
      'format. SDK base address: `{base}/v1`.',
    request: chatRequest,
    answer: chatAnswer,
    events:
      `Events without names: chunks (\`object\` is \`chat.completion.chunk\`), then \`[DONE]\`. ` +
      `Where it fails, \`{"error": …}\`, then \`[DONE]\`. ${BROKEN}`,
    envelope: nestedErrorBody,
  },
  {
    path: '/v1/messages',
    operationId: 'createMessage',
    summary: 'Messages format',
    description:
      'The gate may lead to a provider of any format. The key may also be in `x-api-key`. SDK ' +
      'base address: `{base}`.',
    request: messagesRequest,
    answer: messageAnswer,
    events:
      `Named events: \`message_start\`, \`content_block_start\`, \`content_block_delta\`, ` +
      `\`content_block_stop\` …, \`message_delta\`, \`message_stop\`; \`ping\` at any time; ` +
      `\`error\` where it fails. ${BROKEN}`,
    envelope: messagesErrorBody,
    alsoTakes: 'api-key-header',
  },
  {
    path: '/v1/messages/count_tokens',
    operationId: 'countMessageTokens',
    summary: 'Count the tokens of a Messages request',
    description:
      'Asked of the provider where it can count. Elsewhere it is estimated from the size of ' +
      'the text, and the answer carries `x-gatehouse-estimated: true`.',
    request: countTokensRequest,
    answer: tokenCount,
    envelope: messagesErrorBody,
    alsoTakes: 'api-key-header',
  },
  {
    path: '/v1/embeddings',
    operationId: 'createEmbeddings',
    summary: 'Embeddings',
    description: 'SDK base address: `{base}/v1`. Cohere, Gemini and Mistral are translated to.',
    request: embeddingsRequest,
    answer: embeddingsAnswer,
    envelope: nestedErrorBody,
  },
  {
    path: '/v3/chat',
    operationId: 'createChat',
    summary: "The gateway's own chat format",
    description:
      'Strict: an unknown member is refused. `gateId` and `data.messages` are ' +
      'taken as other spellings.',
    ...GATEHOUSE_CHAT,
  },
  {
    path: '/v1/playground',
    operationId: 'createPlaygroundChat',
    summary: 'A call by a signed-in user',
    description:
      '`/v3/chat` for the dashboard, where there is a session and no key: it is a call like ' +
      'any other, counts for the limits, and its row in the log has the id of the user for ' +
      'that of the key. Applications use `/v3/chat`.',
    ...GATEHOUSE_CHAT,
    alsoTakes: 'session',
  },
  {
    path: '/alt/v1/fim/completions',
    operationId: 'createFimCompletion',
    summary: 'Fill-in-the-middle code completion',
    description:
      'SDK server address: `{base}/alt`. An owned model is asked in the form that its server ' +
      'has, which its `fimEndpoint` says: what that form has no place for is named in ' +
      '`x-gatehouse-ignored`.',
    request: fimRequest,
    answer: chatAnswer,
    events:
      `Events without names: chunks, then \`[DONE]\`. Where it fails, \`{"error": …}\`, and no ` +
      `\`[DONE]\`. ${BROKEN}`,
    envelope: altErrorBody,
  },
  {
    path: '/alt/v1/chat/completions',
    operationId: 'createAltChatCompletion',
    summary: "Chat in Mistral's format",
    description: 'Some code editors fall back to it. SDK server address: `{base}/alt`.',
    request: altChatRequest,
    answer: chatAnswer,
    events:
      `Events without names: chunks, then \`[DONE]\`. Where it fails, \`{"error": …}\`, and no ` +
      `\`[DONE]\`. ${BROKEN}`,
    envelope: altErrorBody,
  },
]

/** Every status of a call that is refused, or fails before its first byte. */
const CALL_ERRORS: Readonly<Record<string, string>> = {
  400:
    'The request is not valid, or the gate leads to a provider of another format. The message ' +
    'names the field.',
  401: 'The key is missing or invalid.',
  404: 'There is no gate with this id.',
  408: 'The body did not arrive in time.',
  413: 'The body is too large.',
  429:
    'Too many calls or tokens with this key, or calls with all keys of its account: ' +
    "`retry-after` has the seconds to wait, `x-ratelimit-*` the limits. Or the account's " +
    'quota or a budget is used up: then `x-should-retry` is `false`, and `retry-after` is absent. Or ' +
    'the provider answered 429.',
  '4XX':
    'The provider refused the request: its own status and, where the formats match, its own ' +
    'body. Of a flat envelope, `details` holds both.',
  500: 'The gateway failed.',
  502: 'The provider failed, sent an invalid answer, or refused the credential.',
  503: 'The gateway cannot serve at the moment: it cannot write its ledger, or is shutting down.',
  504: 'The provider was too slow.',
}

const MODEL_ERRORS: Readonly<Record<string, string>> = {
  401: 'The key is missing or invalid.',
  404: 'There is no gate with this id.',
}

const bearer: Record<string, string[]>[] = [{ bearer: [] }]
const SECURITY = {
  'api-key-header': [...bearer, { apiKeyHeader: [] }],
  session: [...bearer, { session: [] }],
}
const FOREIGN_PAGE = "The session's request did not come from the gateway's own pages."
const tags = ['Inference']

export function registerDataPlane(registry: Registry): void {
  for (const endpoint of endpoints) {
    const { path, operationId, summary, description } = endpoint
    registry.registerPath({
      method: 'post',
      path,
      operationId,
      summary,
      description,
      tags,
      security: endpoint.alsoTakes === undefined ? bearer : SECURITY[endpoint.alsoTakes],
      request: {
        body: { required: true, content: { 'application/json': { schema: endpoint.request } } },
      },
      responses: {
        200: {
          description: 'The answer; with `stream: true`, its events.',
          content: {
            'application/json': { schema: endpoint.answer },
            ...toEventContent(endpoint.events),
          },
        },
        ...toErrorAnswers(endpoint.envelope, {
          ...CALL_ERRORS,
          ...(endpoint.alsoTakes === 'session' ? { 403: FOREIGN_PAGE } : {}),
        }),
      },
    })
  }
  for (const list of modelLists) registerModels(registry, list)
}

interface ModelDoors {
  readonly path: string
  readonly operationIds: readonly [list: string, one: string]
  readonly description: string
  readonly query?: z.ZodObject
  readonly list: z.ZodType
  readonly one: z.ZodType
  readonly envelope: z.ZodType
  readonly security: Record<string, string[]>[]
}

const modelLists: readonly ModelDoors[] = [
  {
    path: '/v1/models',
    operationIds: ['listModels', 'getModel'],
    description:
      "With the header `anthropic-version`: in Anthropic's format, a page at a time, with its " +
      'error envelope.',
    query: z.object({
      limit: z.int().min(1).max(1000).optional().meta({
        description: "Of Anthropic's format, where 20 is the default; without effect in OpenAI's.",
      }),
      after_id: z.string().optional().meta({ description: "Of Anthropic's format." }),
      before_id: z.string().optional().meta({ description: "Of Anthropic's format." }),
      client_version: z
        .string()
        .optional()
        .meta({
          description:
            "Sent by Codex: the answer also has `models`, Codex's list, with an `etag` for " +
            '`if-none-match`.',
        }),
    }),
    list: eitherModelList,
    one: eitherModel,
    envelope: z.union([nestedErrorBody, messagesErrorBody]),
    security: SECURITY['api-key-header'],
  },
  {
    path: '/alt/v1/models',
    operationIds: ['listAltModels', 'getAltModel'],
    description: "In Mistral's format: which of its calls a gate takes is in `capabilities`.",
    list: altModelList,
    one: altModel,
    envelope: altErrorBody,
    security: SECURITY['api-key-header'],
  },
]

function registerModels(registry: Registry, doors: ModelDoors): void {
  const { path, description, security, envelope, query } = doors
  const [listId, oneId] = doors.operationIds
  const { 401: refused } = MODEL_ERRORS
  registry.registerPath({
    method: 'get',
    path,
    operationId: listId,
    summary: 'List gates as models',
    description,
    tags,
    security,
    ...(query === undefined ? {} : { request: { query } }),
    responses: {
      200: {
        description: 'All gates of the account, and their listed aliases.',
        content: { 'application/json': { schema: doors.list } },
      },
      ...toErrorAnswers(envelope, {
        ...(query === undefined ? {} : { 400: 'Always null, because the list has one page.' }),
        401: `${refused}`,
      }),
    },
  })
  registry.registerPath({
    method: 'get',
    path: `${path}/{id}`,
    operationId: oneId,
    summary: 'Show a gate as a model',
    description,
    tags,
    security,
    request: { params: z.object({ id: z.string() }) },
    responses: {
      200: { description: 'The gate.', content: { 'application/json': { schema: doors.one } } },
      ...toErrorAnswers(envelope, MODEL_ERRORS),
    },
  })
}

function toEventContent(events: string | undefined) {
  return events === undefined
    ? {}
    : { 'text/event-stream': { schema: z.string().meta({ description: events }) } }
}

function toErrorAnswers(envelope: z.ZodType, errors: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    Object.entries(errors).map(([status, description]) => [
      status,
      { description, content: { 'application/json': { schema: envelope } } },
    ]),
  )
}
