/**
 * The OpenAPI document as tests read it: operations in an order in which their examples can run,
 * and schemas for checks.
 */
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

export interface Operation {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly bodies: readonly (readonly [title: string, body: unknown])[]
  readonly takesBody: boolean
  readonly responses: Readonly<Record<string, Answer>>
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  /** The source of a path parameter: another operation and an expression on its answer. */
  readonly sources: ReadonlyMap<
    string,
    { readonly operationId: string; readonly expression: string }
  >
  readonly expectedStatus: number | undefined
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly example?: unknown
  readonly schema?: { readonly example?: unknown }
}

export interface Answer {
  readonly content?: Readonly<Record<string, { readonly example?: unknown }>>
  readonly headers?: Readonly<Record<string, unknown>>
  readonly links?: Readonly<
    Record<
      string,
      { readonly operationId: string; readonly parameters: Readonly<Record<string, string>> }
    >
  >
}

interface RawOperation {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: {
    readonly content: Readonly<
      Record<
        string,
        { readonly examples?: Readonly<Record<string, { summary: string; value: unknown }>> }
      >
    >
  }
  readonly responses: Readonly<Record<string, Answer>>
  readonly security?: Operation['security']
  readonly 'x-example-status'?: number
}

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>
  readonly security: Operation['security']
}

/**
 * Creating operations come first, then reading, changing and deleting operations; a link's source
 * comes before the link.
 */
export function orderOperations(document: OpenApiDocument): readonly Operation[] {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, raw]) => toOperation(document, { path, method, raw })),
  )
  const ordered: Operation[] = []
  const place = (operation: Operation): void => {
    if (ordered.includes(operation)) return
    for (const { operationId } of operation.sources.values()) {
      const source = operations.find((candidate) => candidate.operationId === operationId)
      if (source !== undefined && source !== operation) place(source)
    }
    ordered.push(operation)
  }
  // Parts of a resource are deleted before the resource.
  const removalDepth = ({ method, path }: Operation) =>
    method === 'DELETE' ? path.split('/').length : 0
  const compare = (one: Operation, other: Operation) =>
    rank(one) - rank(other) || removalDepth(other) - removalDepth(one)
  for (const operation of operations.toSorted(compare)) place(operation)
  return ordered
}

function toOperation(
  document: OpenApiDocument,
  {
    path,
    method,
    raw,
  }: { readonly path: string; readonly method: string; readonly raw: RawOperation },
): Operation {
  const examples = raw.requestBody?.content['application/json']?.examples ?? {}
  const sources = new Map<string, { operationId: string; expression: string }>()
  for (const other of Object.values(document.paths).flatMap((item) => Object.values(item))) {
    for (const { links = {} } of Object.values(other.responses)) {
      for (const { operationId, parameters } of Object.values(links)) {
        if (operationId !== raw.operationId) continue
        for (const [name, expression] of Object.entries(parameters))
          sources.set(name, { operationId: other.operationId, expression })
      }
    }
  }
  return {
    operationId: raw.operationId,
    method: method.toUpperCase(),
    path,
    parameters: raw.parameters ?? [],
    bodies: Object.values(examples).map(({ summary, value }) => [summary, value]),
    takesBody: raw.requestBody !== undefined,
    responses: raw.responses,
    security: raw.security ?? document.security,
    sources,
    expectedStatus: raw['x-example-status'],
  }
}

function rank({ method, path, security }: Operation): number {
  const isOnOne = path.includes('{')
  const isBySessionOnly =
    security.length > 0 && security.every((one) => Object.hasOwn(one, 'session'))
  if (isBySessionOnly && !isOnOne && method !== 'GET') return method === 'DELETE' ? 7 : 6
  switch (method) {
    case 'POST':
      return isOnOne ? 2 : 0
    case 'PUT':
      return 1
    case 'GET':
      return 3
    case 'PATCH':
      return 4
    default:
      return 5
  }
}

/** What an operation's examples lack, in words that say what to add. */
export function findGaps(operation: Operation): readonly string[] {
  const { operationId, parameters, takesBody, bodies } = operation
  const where = `add it to '${operationId}' in src/admin/openapi/openapi-examples.ts`
  const gaps = parameters
    .filter((parameter) => parameter.required === true && exampleOf(parameter) === undefined)
    .map(
      ({ name, in: place }) =>
        `${operationId}: its ${place} parameter '${name}' has no example: ${where}`,
    )
  if (takesBody && bodies.length === 0)
    gaps.push(`${operationId}: its body has no example: ${where} (bodies)`)
  return gaps
}

export function exampleOf({ example, schema }: Parameter): unknown {
  return example ?? schema?.example
}

/** Checks values against the document's own schemas, JSON Schema 2020-12. */
export class DocumentSchemas {
  readonly #ajv: Ajv2020

  constructor(document: object) {
    this.#ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true })
    // A CommonJS package: the function is the module's default, or the module itself.
    const add = addFormats as unknown as { default?: (ajv: Ajv2020) => void } & ((
      ajv: Ajv2020,
    ) => void)
    ;(add.default ?? add)(this.#ajv)
    this.#ajv.addSchema({ $id: 'gatehouse', ...document })
  }

  check(pointer: readonly string[], value: unknown): readonly string[] {
    const steps = pointer.map((step) =>
      encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')),
    )
    const validate: ValidateFunction = this.#ajv.compile({ $ref: `gatehouse#/${steps.join('/')}` })
    if (validate(value)) return []
    return (validate.errors ?? []).map(
      ({ instancePath, message }) => `${instancePath || '/'}: ${message}`,
    )
  }
}
