import type { OpenAPIHono } from '@hono/zod-openapi'
import { RETRY_HEADERS, STATE_PATHS } from '../../core/http.ts'
import { ROUTE_DESCRIPTION, type RouteDescription } from '../resource-routes.ts'
import { ANSWER_EXAMPLES, OPERATION_EXAMPLES, type OperationExample } from './openapi-examples.ts'

type Document = ReturnType<OpenAPIHono['getOpenAPI31Document']>
type Operation = NonNullable<NonNullable<Document['paths']>[string]['get']>
type Responses = NonNullable<Operation['responses']>

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const

/** For any control-plane route: unknown parameters and invalid keys are refused. */
const ROUTE_ERRORS: Readonly<Record<string, string>> = {
  400: 'The request is invalid; the message names the field.',
  429: 'Too many requests; `retry-after` says when to try again.',
  500: 'The gateway failed.',
}

/** JSON Schema has no flag for case-insensitive matching. */
const STRICT_WORDS = `^(?:${['true', '1', 'yes', 'on', 'false', '0', 'no', 'off']
  .map((word) => word.replaceAll(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`))
  .join('|')})$`

const STRICT_PARAMETER = {
  name: 'x-gatehouse-strict',
  in: 'header' as const,
  required: false,
  description:
    '`true`, `1`, `yes` or `on`, in any case: 400 rather than leaving out what a target of ' +
    'another format cannot take. ' +
    '`false`, `0`, `no` and `off` are the default; any other word is refused.',
  schema: { type: 'string' as const, pattern: STRICT_WORDS },
}

const CALLER_PARAMETERS = [
  ['x-gatehouse-user', 'The user of your application, at most 255 characters.', 'customer-4711'],
  ['x-gatehouse-session', 'The session of the call, at most 255 characters.', 'conversation-9'],
  ['x-gatehouse-tags', 'Tags of the account as `name` or `name:value`, separated by commas.'],
].map(([name = '', description = '', example]) => ({
  ...{ name, in: 'header' as const, required: false, description },
  ...(example === undefined ? {} : { example }),
  schema: { type: 'string' as const },
}))

const VERSION_PARAMETER = {
  name: 'if-match',
  in: 'header' as const,
  required: false,
  description:
    'The `etag` of the answer that the change is based on: where it is another by now, nothing is ' +
    'changed (412). `*`: any version, as long as there is one.',
  schema: { type: 'string' as const },
}

export function completeDocument(document: Document): Document {
  const operations = listOperations(document).map((placed) => ({
    ...placed,
    ...takeDescription(placed),
  }))
  for (const { path, operation, example, isVersioned = false, takesVersion } of operations) {
    const isCall =
      operation.tags?.includes('Inference') === true && operation.requestBody !== undefined
    if (isCall)
      operation.parameters = [
        ...(operation.parameters ?? []),
        STRICT_PARAMETER,
        ...CALLER_PARAMETERS,
      ]
    if (takesVersion === true)
      operation.parameters = [...(operation.parameters ?? []), VERSION_PARAMETER]
    operation.responses = withErrors(operation, takesVersion)
    for (const [status, response] of Object.entries(operation.responses)) {
      response.headers = {
        ...response.headers,
        ...Object.fromEntries(
          headersOf({ path, status, isCall, isVersioned }).map((name) => [
            name,
            { $ref: `#/components/headers/${name}` },
          ]),
        ),
      }
    }
    if (example !== undefined) addExample(operation, example)
    addAnswerExample(operation)
  }
  for (const placed of operations) addLink(placed, operations)
  for (const schema of Object.values(document.components?.schemas ?? {})) demandGate(schema)
  return {
    ...document,
    tags: toTags(operations),
    components: { ...document.components, headers: structuredClone(HEADERS) },
  }
}

const NAMED = { type: 'string' as const, minLength: 1 }

/**
 * A body must contain one of the two members that name the gate, which a schema of single members
 * cannot express.
 */
function demandGate(
  schema: NonNullable<NonNullable<Document['components']>['schemas']>[string],
): void {
  if (!('properties' in schema) || schema.properties === undefined) return
  const places = ['gate_id', 'model'].filter((name) => Object.hasOwn(schema.properties ?? {}, name))
  if (places.length < 2 || places.some((name) => schema.required?.includes(name))) return
  schema.anyOf = places.map((name) => ({ required: [name], properties: { [name]: NAMED } }))
}

interface PlacedOperation {
  readonly path: string
  readonly operation: Operation
}

interface DescribedOperation extends PlacedOperation, RouteDescription {}

function takeDescription({ operation }: PlacedOperation): RouteDescription {
  const { [ROUTE_DESCRIPTION]: described = {} } = operation as {
    [ROUTE_DESCRIPTION]?: RouteDescription
  }
  delete (operation as Record<string, unknown>)[ROUTE_DESCRIPTION]
  const example = described.example ?? OPERATION_EXAMPLES[`${operation.operationId}`]
  return example === undefined ? described : { ...described, example }
}

function toTags(operations: readonly DescribedOperation[]): NonNullable<Document['tags']> {
  const used = new Map<string, string | undefined>()
  for (const { operation, groupDescription } of operations)
    for (const name of operation.tags ?? []) used.set(name, used.get(name) ?? groupDescription)
  const listed = new Map<string, string | undefined>(
    TAGS.map(({ name, description }) => [name, description]),
  )
  const names = [...listed.keys(), ...used.keys()].filter((name) => used.has(name))
  return [...new Set(names)].map((name) => {
    const description = listed.get(name) ?? used.get(name)
    return description === undefined ? { name } : { name, description }
  })
}

function listOperations(document: Document): PlacedOperation[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method]
      return operation === undefined ? [] : [{ path, operation }]
    }),
  )
}

function withErrors({ tags, responses }: Operation, takesVersion = false): Responses {
  const isRoute = tags?.includes('Inference') !== true && tags?.includes('Service') !== true
  if (!isRoute) return { ...responses }
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
  const errors = Object.entries({
    ...ROUTE_ERRORS,
    ...(takesVersion
      ? { 412: 'The resource was changed: its version is not the one in `if-match`.' }
      : {}),
  }).map(([status, description]) => [status, { description, content }])
  return { ...Object.fromEntries(errors), ...responses }
}

function addExample(
  operation: Operation,
  { parameters = {}, bodies, expects }: OperationExample,
): void {
  operation.parameters =
    operation.parameters?.map((parameter) =>
      'name' in parameter && Object.hasOwn(parameters, parameter.name)
        ? { ...parameter, example: parameters[parameter.name] }
        : parameter,
    ) ?? []
  if (expects !== undefined) operation['x-example-status'] = expects
  if (
    bodies === undefined ||
    operation.requestBody === undefined ||
    !('content' in operation.requestBody)
  )
    return
  for (const media of Object.values(operation.requestBody.content)) {
    media.examples = Object.fromEntries(
      Object.entries(bodies).map(([title, value]) => [toName(title), { summary: title, value }]),
    )
  }
}

function addAnswerExample({ operationId, responses }: Operation): void {
  const example = ANSWER_EXAMPLES[`${operationId}`]
  const content = responses?.['200']?.content
  if (example === undefined || content === undefined) return
  const { 'application/json': whole, 'text/event-stream': stream } = content
  if (whole !== undefined) whole.example = example.whole
  if (stream !== undefined && example.events !== undefined)
    stream.example = example.events.map((lines) => `${lines.join('\n')}\n\n`).join('')
}

function addLink(
  { operation: { operationId }, example }: DescribedOperation,
  operations: readonly PlacedOperation[],
): void {
  const after = example?.after
  if (operationId === undefined || after === undefined) return
  const source = operations.find(
    ({ operation }) => operation.operationId === after.operationId,
  )?.operation
  for (const [status, response] of Object.entries(source?.responses ?? {})) {
    if (!status.startsWith('2')) continue
    response.links = {
      ...response.links,
      [operationId]: { operationId, parameters: { ...after.parameters } },
    }
  }
}

function toName(title: string): string {
  return title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
}

// The groups of operations in reading order. A group without a text here is described by its
// resource.

const TAGS: readonly { readonly name: string; readonly description?: string }[] = [
  {
    name: 'Inference',
    description:
      'Calls through a gate, in the formats that SDKs speak. The body decides on streaming ' +
      '(`stream`), never `accept`. ' +
      'Each path accepts one method. Other methods get 405 with `allow`, and a WebSocket upgrade gets 426.',
  },
  { name: 'Gates' },
  {
    name: 'API keys',
    description:
      'Every key has full access to its account. A key is shown once and stored as a hash.',
  },
  {
    name: 'Access tokens',
    description:
      'For applications and developers: a token calls the gates that it may use and reads its own ' +
      'usage. It cannot read or change anything else.',
  },
  {
    name: 'Provider keys',
    description:
      "The account's own credentials for providers, one per provider, encrypted at rest and used " +
      "instead of the gateway's. Provider keys are never returned.",
  },
  {
    name: 'Owned models',
    description:
      'Models that the account hosts or pays for itself, which gates name as `owned/SLUG`.',
  },
  {
    name: 'Logs',
    description: 'The log has one row for each call, with its usage and without its content.',
  },
  { name: 'Analytics', description: 'Sums over the calls of the account.' },
  { name: 'Costs', description: 'Checks whether the costs in the log are correct.' },
  {
    name: 'Audit log',
    description: 'The changes in the account: who made each one, with the state before and after.',
  },
  {
    name: 'Account',
    description: 'The plan of the account, its limits, and their use.',
  },
  { name: 'Budgets' },
  { name: 'Webhooks' },
  {
    name: 'Providers',
    description: 'The providers that gates can use, and what each endpoint loses in translation.',
  },
  { name: 'Sign-in', description: 'Users and their sessions, for the browser.' },
  { name: 'Members', description: 'The members of the account.' },
  { name: 'Operator', description: 'For the operator of the gateway: the first account.' },
  { name: 'Service', description: 'The gateway itself, without a key.' },
]

type Header = {
  readonly description: string
  readonly schema: { readonly type: 'string' | 'integer'; readonly example?: string | number }
}

function textHeader(description: string, example?: string): Header {
  return { description, schema: { type: 'string', ...(example === undefined ? {} : { example }) } }
}

function countHeader(description: string): Header {
  return { description, schema: { type: 'integer' } }
}

function limitHeaders(name: string, holder: string): Record<string, Header> {
  const what = name === 'tokens' ? 'tokens' : 'requests'
  return {
    [`x-ratelimit-limit-${name}`]: countHeader(
      `The number of ${what} per minute that ${holder} allowed.`,
    ),
    [`x-ratelimit-remaining-${name}`]: countHeader(
      `The remaining number of ${what} in this minute.`,
    ),
    [`x-ratelimit-reset-${name}`]: textHeader(
      'The time until the full limit is available again.',
      '6m0s',
    ),
  }
}

const LIMITS = {
  ...limitHeaders('requests', 'this key is'),
  ...limitHeaders('tokens', 'this key is'),
  ...limitHeaders('account-requests', 'all keys of the account together are'),
}

const HEADERS: Readonly<Record<string, Header>> = {
  'x-request-id': textHeader(
    'The id of the call and of its row in the log. Quote this id when you ask for help.',
    'req_01a1fd5a3257757392d2d51dd0eb0a62',
  ),
  'request-id': textHeader(
    'The id of `x-request-id`, under the name that the Anthropic SDKs read.',
  ),
  'x-gatehouse-target': textHeader(
    'The target that answered, as `provider/model`.',
    'sandbox/echo',
  ),
  'x-gatehouse-attempts': countHeader('The number of attempts at upstreams.'),
  'x-gatehouse-ignored': textHeader(
    'Members of the request without effect, because the gate decides them or the target does ' +
      'not support them. Members within the request are named by their path, which all elements of ' +
      'a list share; `and-more` ends a list that was cut. Names that begin with `answer.` are ' +
      'parts of the answer that the caller does not get; a stream names such parts in comments.',
    'model, seed, messages[].content[].cache_control.scope',
  ),
  'x-gatehouse-adapted': textHeader(
    'Members of the request that were changed for the target without loss. ' +
      '`x-gatehouse-strict` lets them pass.',
    'system[0]',
  ),
  'x-gatehouse-budget': textHeader(
    'The budget that steered or refused the call, and how. To access tokens, and with ' +
      '`budgetHeaders` of the gate to keys.',
    'bud_01a1fbc63aa470d6877cf556d6121edd; cheaper',
  ),
  'x-gatehouse-skipped': textHeader('Targets that could not serve this request and were skipped.'),
  'x-gatehouse-upstream-request-id': textHeader(
    "The vendor's own id of the request, if the vendor reports one.",
  ),
  'x-gatehouse-estimated': textHeader('`true`: the answer is an estimate of the gateway.', 'true'),
  'x-gatehouse-cost-usd': textHeader(
    'The cost in US dollars. With `usageHeaders` of the gate, on whole answers, where it is known.',
    '0.000123',
  ),
  'x-gatehouse-input-tokens': countHeader('Input tokens, as `x-gatehouse-cost-usd`.'),
  'x-gatehouse-output-tokens': countHeader('Output tokens, likewise.'),
  'x-gatehouse-cached-input-tokens': countHeader('Input tokens read from a cache, likewise.'),
  ...LIMITS,
  etag: textHeader(
    'The version of the resource in the answer, for `if-match`. The version changes with every ' +
      'change of the resource, but not with its counts and times of use.',
    '"mX2bqJ0tQ9y4v1fYc7LwZg"',
  ),
  'retry-after': countHeader('Seconds to wait before the next try.'),
  'retry-after-ms': countHeader('Milliseconds to wait before the next try.'),
  'x-should-retry': textHeader('`false`: the same request will be refused again.', 'false'),
  'www-authenticate': textHeader('The scheme for sending the key.', 'Bearer'),
}

interface AnswerPlace {
  readonly path: string
  readonly status: string
  readonly isCall: boolean
  readonly isVersioned: boolean
}

/** Machines request these addresses every few seconds, so their answers have no id. */
const WITHOUT_ID: ReadonlySet<string> = new Set(STATE_PATHS)

function headersOf({ path, status, isCall, isVersioned }: AnswerPlace): readonly string[] {
  if (WITHOUT_ID.has(path)) return []
  const names = ['x-request-id']
  if (path.startsWith('/v1/messages')) names.push('request-id')
  if (status === '401') names.push('www-authenticate')
  if (status === '401' || status === '403') names.push('x-should-retry')
  if (['429', '503', '4XX', '502'].includes(status)) names.push(...RETRY_HEADERS)
  if (isVersioned && status.startsWith('2')) names.push('etag')
  if (!isCall) return names
  if (status !== '401')
    names.push(...Object.keys(LIMITS), 'x-gatehouse-skipped', 'x-gatehouse-budget')
  if (status === '200')
    names.push(
      'x-gatehouse-target',
      'x-gatehouse-attempts',
      'x-gatehouse-ignored',
      'x-gatehouse-adapted',
      'x-gatehouse-upstream-request-id',
      'x-gatehouse-cost-usd',
      'x-gatehouse-input-tokens',
      'x-gatehouse-output-tokens',
      'x-gatehouse-cached-input-tokens',
    )
  if (status === '200' && path.endsWith('/count_tokens')) names.push('x-gatehouse-estimated')
  return names
}
