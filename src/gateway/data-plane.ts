/** The routes of the data plane: which path speaks which dialect. */
import { type ErrorKind, GatewayError } from '../core/errors.ts'
import type { HeaderFields } from '../net/fields.ts'
import type { Answer, HttpRequest } from '../net/messages.ts'
import { anthropicMessages } from '../wire/anthropic-messages/index.ts'
import type { Dialect, Envelope } from '../wire/dialect.ts'
import { CALL_ENDPOINTS } from '../wire/dialects.ts'
import type { ClientAddress } from './authenticate.ts'
import {
  answerJson,
  listModels,
  modelShapeOf,
  newIdHeaders,
  retrieveModel,
} from './models/list-models.ts'
import { speaksMessages } from './models/model-shapes.ts'
import { createPipeline, type PipelinePorts } from './pipeline.ts'
import { refuse } from './refuse.ts'
import { SPEND_VIEW_PATH, showSpend } from './spend-view.ts'

/** `end` is the path after the base address, which messages to clients repeat. */
const ENDPOINTS = Object.entries(CALL_ENDPOINTS).map(([path, dialect]) => ({
  path,
  dialect,
  end: path.replace(/^(?:\/alt)?\/v1/, ''),
}))
const VERSION = /^v\d$/

/**
 * Guesses the intended endpoint of a wrong path by comparing the ends of paths, because clients
 * often have a wrong base address.
 */
export function findMisplaced(
  path: string,
): { readonly path: string; readonly dialect: Dialect } | undefined {
  const family = path.startsWith('/alt/') ? '/alt/' : '/v'
  const requested = path.endsWith('/') ? path.slice(0, -1) : path
  const meant = ENDPOINTS.filter(
    ({ end }) => requested.endsWith(end) && isBase(requested.slice(0, -end.length)),
  )
  return meant.find((endpoint) => endpoint.path.startsWith(family)) ?? meant[0]
}

/**
 * True when a prefix looks like a base address. Accounts may choose the name `messages`, so
 * `/v1/gates/messages` is not a wrong endpoint.
 */
function isBase(path: string): boolean {
  const given = path.replace(/\/v\d$/, '')
  if (ENDPOINTS.some((endpoint) => given.endsWith(endpoint.path))) return true
  const segments = path.split('/')
  const start = segments.findIndex((segment) => VERSION.test(segment))
  return start < 0 || segments.slice(start).every((one) => one === '' || VERSION.test(one))
}

type Handler = (request: HttpRequest, addressOf?: ClientAddress) => Promise<Answer>

export interface DataPlane {
  find(path: string): Handler | undefined
}

export function createDataPlane(ports: PipelinePorts): DataPlane {
  const serveCall = createPipeline(ports)
  const handlers = new Map<string, Handler>()
  for (const path of MODEL_LISTS)
    handlers.set(path, (request, addressOf) => {
      const shape = modelShapeOf(path, request.headers)
      return answerGet(request, shape, () => listModels(ports, request, shape, addressOf))
    })
  const serveModel =
    (path: string): Handler =>
    (request, addressOf) => {
      const shape = modelShapeOf(path, request.headers)
      return answerGet(request, shape, () => retrieveModel(ports, request, shape, addressOf))
    }
  handlers.set(SPEND_VIEW_PATH, (request, addressOf) =>
    answerGet(request, anthropicMessages, async () =>
      answerJson(await showSpend(ports, request, addressOf), anthropicMessages),
    ),
  )
  for (const [path, dialect] of Object.entries(CALL_ENDPOINTS)) {
    handlers.set(path, (request, addressOf) =>
      request.method === 'POST'
        ? serveCall(request, dialect, undefined, addressOf)
        : Promise.resolve(refuseOtherMethod(request, dialect.envelope)),
    )
  }
  return {
    find: (path) => handlers.get(path) ?? (isModel(path) ? serveModel(path) : undefined),
  }
}

function isModel(path: string): boolean {
  return MODEL_LISTS.some((list) => path.startsWith(`${list}/`))
}

const MODEL_LISTS = ['/v1/models', '/alt/v1/models'] as const

function refuseOtherMethod(request: HttpRequest, envelope: Envelope): Response {
  const isUpgrade = request.headers.get('upgrade')?.toLowerCase() === 'websocket'
  return isUpgrade
    ? refuseRoute('upgrade_not_supported', envelope, UPGRADE_MESSAGE, { upgrade: 'HTTP/1.1' })
    : refuseMethod(request, envelope, 'POST')
}

const UPGRADE_MESSAGE = 'WebSocket connections are not supported here: send the request with POST.'

type AnswerShape = Pick<Dialect, 'envelope' | 'requestIdHeader'>

async function answerGet(
  request: HttpRequest,
  shape: AnswerShape,
  answer: () => Promise<Response>,
): Promise<Response> {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return refuseMethod(request, shape.envelope, 'GET, HEAD')
  try {
    return await answer()
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
    return refuse(thrown, shape.envelope, newIdHeaders(shape))
  }
}

function refuseMethod(request: HttpRequest, envelope: Envelope, allow: string): Response {
  const message = `${request.method} is not allowed on this path: use ${allow}.`
  return refuseRoute('method_not_allowed', envelope, message, { allow })
}

export function refuseRoute(
  kind: ErrorKind,
  envelope: Envelope,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const error = new GatewayError(kind, message, { headers })
  return refuse(error, envelope, newIdHeaders(envelope === 'messages' ? anthropicMessages : {}))
}

/**
 * The error envelope that clients of this path's family expect, even when the path does not exist.
 */
export function envelopeOf(pathname: string, headers?: HeaderFields): Envelope {
  const [, first, second] = pathname.split('/', 3)
  if (first === 'alt') return 'alt'
  if (first !== 'v1' || second === undefined) return 'flat'
  if (second === 'messages') return 'messages'
  if (!NESTED_FAMILIES.has(second)) return 'flat'
  // OpenAI and Anthropic both have files, models and skills; only Anthropic requires the header.
  return headers !== undefined && speaksMessages(headers) ? 'messages' : 'nested'
}

/** Paths of OpenAI's API, offered here or not (https://platform.openai.com/docs/api-reference). */
const NESTED_FAMILIES: ReadonlySet<string> = new Set([
  'agents',
  'assistants',
  'audio',
  'batches',
  'chat',
  'chatkit',
  'completions',
  'containers',
  'content_provenance_checks',
  'conversations',
  'decisions',
  'edits',
  'embeddings',
  'engines',
  'evals',
  'files',
  'fine_tuning',
  'images',
  'live',
  'models',
  'moderations',
  'organization',
  'projects',
  'realtime',
  'responses',
  'skills',
  'threads',
  'uploads',
  'vaults',
  'vector_stores',
  'videos',
])

/** Clients repeat the same path, so a cache of one entry is enough. */
let newest = { url: '', path: '' }

/**
 * Cuts the path out of the URL, because parsing the URL costs more than the rest of the routing.
 * @param url absolute; only the path when `Host` is missing or unusable
 */
export function pathOf(url: string): string {
  if (newest.url === url) return newest.path
  const start = hasNoHost(url) ? 0 : url.indexOf('/', url.indexOf('//') + 2)
  const query = url.indexOf('?', start)
  newest = { url, path: query < 0 ? url.slice(start) : url.slice(start, query) }
  return newest.path
}

export function hasNoHost(url: string): boolean {
  return url.startsWith('/')
}
