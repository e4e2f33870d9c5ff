/** An answer that is an error, before a dialect gives it its shape. */

export type KeyFault = 'bad' | 'missing'

export interface RefusalDetails {
  /** OpenAI's `type`; Mistral's too. */
  readonly type?: string
  readonly code?: string | null
  /** The field at fault, as the caller wrote it. */
  readonly param?: string | null
  readonly headers?: Readonly<Record<string, string>>
  /** The fault of the key: vendors differ in the status and the words for it. */
  readonly keyFault?: KeyFault
  /** Replaces the message where a vendor sends an object (Mistral's validation errors). */
  readonly detail?: unknown
}

export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  readonly type: string
  readonly code: string | null
  readonly param: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly keyFault: KeyFault | null
  readonly detail: unknown

  constructor(status: number, message: string, details: RefusalDetails = {}) {
    super(message)
    this.status = status
    this.type = details.type ?? (status >= 500 ? 'server_error' : 'invalid_request_error')
    this.code = details.code ?? null
    this.param = details.param ?? null
    this.headers = details.headers ?? {}
    this.keyFault = details.keyFault ?? null
    this.detail = details.detail
  }
}

/** A 400 about one field. */
export function badField(message: string, param: string, code: string | null = null): Refusal {
  return new Refusal(400, message, { param, code })
}

/** OpenAI's 400 for a field that is not there. */
export function missingField(param: string): Refusal {
  return badField(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter')
}

/** OpenAI's error body: all four members always present. */
export function encodeOpenAiRefusal(refusal: Refusal): unknown {
  return {
    error: {
      message: refusal.message,
      type: refusal.type,
      param: refusal.param,
      code: refusal.code,
    },
  }
}

/** Mistral's error body; its `message` is an object when a field did not validate. */
export function encodeMistralRefusal(refusal: Refusal): unknown {
  return {
    object: 'error',
    message: refusal.detail ?? refusal.message,
    type: refusal.type,
    param: refusal.param,
    code: refusal.code,
    raw_status_code: refusal.status,
  }
}
