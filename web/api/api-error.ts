export interface ApiProblem {
  readonly field: string
  readonly message: string
}

export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly requestId: string | undefined
  readonly problems: readonly ApiProblem[]
  readonly retryAfterMs: number | undefined

  constructor(
    message: string,
    told: {
      readonly status: number
      readonly code: string
      readonly requestId?: string | undefined
      readonly problems?: readonly ApiProblem[]
      readonly retryAfterMs?: number | undefined
    },
  ) {
    super(message)
    this.status = told.status
    this.code = told.code
    this.requestId = told.requestId
    this.problems = told.problems ?? []
    this.retryAfterMs = told.retryAfterMs
  }
}

export function problemWith(error: unknown, field: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  const isOfField = (place: string) =>
    place === field || place.startsWith(`${field}.`) || place.startsWith(`${field}[`)
  const found = error.problems.find((problem) => isOfField(problem.field))
  if (found !== undefined) return found.message
  // A refusal of one field without a list of problems begins with the field's name.
  const [place = '', ...message] = error.message.split(': ')
  return message.length > 0 && isOfField(place) ? message.join(': ') : undefined
}

export async function toApiError(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '')
  const body = parseObject(text)
  const nested = asObject(body?.error)
  const retryAfterSeconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new ApiError(
    asText(body?.message) ??
      asText(nested?.message) ??
      `The gateway answered with status ${response.status}.`,
    {
      status: response.status,
      code: asText(body?.error) ?? asText(nested?.code) ?? 'unknown',
      requestId: response.headers.get('x-request-id') ?? undefined,
      problems: toProblems(body?.details),
      retryAfterMs: Number.isFinite(retryAfterSeconds) ? retryAfterSeconds * 1000 : undefined,
    },
  )
}

export function unreachable(cause: unknown): ApiError {
  const error = new ApiError('The gateway cannot be reached. Is it running, and are you online?', {
    status: 0,
    code: 'unreachable',
  })
  error.cause = cause
  return error
}

type JsonObject = Readonly<Record<string, unknown>>

function toProblems(details: unknown): readonly ApiProblem[] {
  if (!Array.isArray(details)) return []
  return details.flatMap((detail: unknown) => {
    const field = asText(asObject(detail)?.field)
    const message = asText(asObject(detail)?.message)
    return field === undefined || message === undefined ? [] : [{ field, message }]
  })
}

function parseObject(text: string): JsonObject | undefined {
  try {
    return asObject(JSON.parse(text))
  } catch {
    return undefined
  }
}

function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
