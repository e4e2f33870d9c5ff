/**
 * Every example of the OpenAPI document, run as it stands against a server with the sandbox: its
 * answer's status, headers and body are what the document says. The document alone says what there
 * is to run, so a new route is tested as soon as it is there.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { controlPlaneCall } from '../support/control-plane.ts'
import {
  DocumentSchemas,
  findGaps,
  type OpenApiDocument,
  type Operation,
  orderOperations,
} from '../support/openapi-document.ts'
import { pollUntil } from '../support/poll-until.ts'
import {
  type Journey,
  type ReceivedAnswer,
  runExample,
  toOwnPagesHeaders,
  toReceived,
} from '../support/run-openapi-example.ts'
import { parseEvents } from '../support/server-sent-events.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

// Bun makes its tests before it runs any hook, and the document says which tests there are.
const gatehouse: Gatehouse = await startGatehouse({
  sandbox: true,
  environment: { GATEHOUSE_OPERATOR_API: 'on' },
})
// The examples name the user of a call.
await controlPlaneCall(gatehouse, 'PATCH', '/v1/account/attribution', {
  ...{ endUsers: true, peopleFigures: 'administrators' },
})
const document = (await (await fetch(`${gatehouse.url}/openapi.json`)).json()) as OpenApiDocument
const operations = orderOperations(document)
const journey: Journey = { answers: new Map(), cookies: new Map() }
let schemas: DocumentSchemas

beforeAll(() => {
  schemas = new DocumentSchemas(document)
})
afterAll(() => gatehouse.remove())

test('there are operations, each with a unique id', () => {
  expect(operations.length).toBeGreaterThan(30)
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length)
})

test('every operation has the examples that a run needs', () => {
  expect(operations.flatMap(findGaps)).toEqual([])
})

test('the shown answers fit their schemas', () => {
  const shown = operations.flatMap(({ path, method, responses }) =>
    Object.entries(responses).flatMap(([status, { content = {} }]) =>
      Object.entries(content).map(([type, { example }]) => ({
        pointer: [
          'paths',
          path,
          method.toLowerCase(),
          'responses',
          status,
          'content',
          type,
          'schema',
        ],
        example,
      })),
    ),
  )
  const examples = shown.filter(({ example }) => example !== undefined)
  expect(examples.length).toBeGreaterThan(10)
  for (const { pointer, example } of examples)
    expect([pointer, schemas.check(pointer, example)]).toEqual([pointer, []])
})

for (const operation of operations) {
  const { operationId, method, path, bodies } = operation
  const runs = bodies.length === 0 ? [['its example', undefined] as const] : bodies
  describe(`${operationId}: ${method} ${path}`, () => {
    test.each(runs.map(([title, body]) => ({ title, body })))('$title', async ({ body }) => {
      expect(findGaps(operation)).toEqual([])
      if (body !== undefined)
        expect(
          schemas.check(['paths', path, method.toLowerCase(), ...REQUEST_SCHEMA], body),
        ).toEqual([])
      const answer = await runUntilThere(operation, body)
      expect({ status: answer.status, text: answer.text }).toMatchObject({
        status: expectedStatus(operation, answer),
      })
      expectDocumented(operation, answer)
    })
  })
}

describe('a refusal fits the document', () => {
  const guarded = operations.filter(
    ({ security }) => security.length > 0 && security.every((one) => Object.keys(one).length > 0),
  )

  const withBody = operations.filter(
    ({ takesBody, security }) => takesBody && security.some((one) => Object.hasOwn(one, 'bearer')),
  )

  test.each(guarded)('$operationId without a key', async (operation) => {
    const answer = await send(operation, { credential: {} })
    expect(answer.status).toBe(401)
    expectDocumented(operation, answer)
  })

  test.each(withBody)('$operationId with a body that is not an object', async (operation) => {
    const answer = await send(operation, {
      credential: { authorization: `Bearer ${gatehouse.key}` },
      body: '[]',
    })
    expect(answer.status).toBe(400)
    expectDocumented(operation, answer)
  })
})

/** To the address in the document, with its parameters as they stand there. */
async function send(
  { method, path }: Operation,
  { credential, body }: { readonly credential: Record<string, string>; readonly body?: string },
): Promise<ReceivedAnswer> {
  const response = await fetch(gatehouse.url + path, {
    method,
    headers: { ...credential, ...toOwnPagesHeaders(gatehouse), 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
  })
  return toReceived(response)
}

const REQUEST_SCHEMA = ['requestBody', 'content', 'application/json', 'schema']

/** A call is in the log a moment after its answer: what a header leads to is waited for. */
async function runUntilThere(operation: Operation, body: unknown): Promise<ReceivedAnswer> {
  const isLater = [...operation.sources.values()].some(({ expression }) =>
    expression.includes('.header.'),
  )
  if (!isLater) return await runExample(gatehouse, journey, { operation, body })
  return await pollUntil(`an answer of ${operation.operationId}`, async () => {
    const answer = await runExample(gatehouse, journey, { operation, body })
    return answer.status === 404 ? undefined : answer
  })
}

/** An example that is refused is no example, unless the document says that it will be. */
function expectedStatus(
  { expectedStatus, responses }: Operation,
  { status }: ReceivedAnswer,
): number {
  if (expectedStatus !== undefined) return expectedStatus
  const successes = Object.keys(responses).filter((documented) => /^[23]/.test(documented))
  return successes.includes(String(status)) ? status : Number(successes[0])
}

function expectDocumented(
  operation: Operation,
  { status, headers, contentType, text }: ReceivedAnswer,
): void {
  const { path, method, responses } = operation
  const documented = responses[String(status)]
  const named = Object.keys(documented?.headers ?? {})
  const undocumented = [...headers.keys()].filter(
    (name) => OWN_HEADER.test(name) && !named.includes(name),
  )
  expect({ undocumented, cure: 'src/admin/openapi/complete-document.ts' }).toMatchObject({
    undocumented: [],
  })
  if (documented?.content === undefined) {
    expect(text).toBe('')
    return
  }
  expect(Object.keys(documented.content)).toContain(contentType)
  if (contentType === 'text/event-stream') {
    const events = parseEvents(text)
    expect(events.length).toBeGreaterThan(1)
    for (const { data } of events)
      if (data !== '[DONE]') expect(() => JSON.parse(data)).not.toThrow()
  }
  const value: unknown = contentType === 'application/json' ? JSON.parse(text) : text
  const pointer = [
    'paths',
    path,
    method.toLowerCase(),
    'responses',
    String(status),
    'content',
    contentType,
    'schema',
  ]
  expect(schemas.check(pointer, value)).toEqual([])
}

/** Headers that the gateway makes; a provider's own are passed on as they are. */
const OWN_HEADER =
  /^(?:x-gatehouse-|x-ratelimit-|x-request-id$|request-id$|retry-after|x-should-retry$|www-authenticate$)/
