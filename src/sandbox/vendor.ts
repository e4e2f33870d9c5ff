/**
 * The parts that all endpoints of one vendor share: how a key is sent, how an error looks. Knows
 * no dialect.
 */
import type { BaseModel } from './parse-model.ts'
import { Refusal } from './refusal.ts'

interface ErrorReply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

export interface Vendor {
  /**
   * @returns the key, or '' when none came in a form that the vendor takes.
   * @throws Refusal for a malformed one
   */
  findKey(request: Request): string
  /**
   * @throws Refusal for what the vendor demands of a request beside the key, in its headers or its
   * address
   */
  checkRequest?(request: Request): void
  /** Under which the vendor sends the request's id. */
  readonly idHeader: string
  encodeRefusal(refusal: Refusal): ErrorReply
  /** Absent: the vendor has no list at this address. */
  encodeModels?(ids: readonly BaseModel[]): unknown
}

/** Answered as a credential that the vendor refuses. */
const BAD_KEY = 'sandbox-bad-key'

/** The key of `Authorization: Bearer`, or ''. */
export function bearerOf(headers: Headers): string {
  return /^Bearer +(\S+)$/i.exec(headers.get('authorization')?.trim() ?? '')?.[1] ?? ''
}

/** @param key '' when none came. @throws Refusal 401. */
export function checkKey(key: string, requireKey: boolean): void {
  if (key === BAD_KEY) {
    throw new Refusal(
      401,
      `Incorrect API key provided: ${maskKey(key)}. The sandbox takes any key but this one.`,
      {
        code: 'invalid_api_key',
        keyFault: 'bad',
      },
    )
  }
  if (key === '' && requireKey) {
    throw new Refusal(
      401,
      "You didn't provide an API key: send it as 'Authorization: Bearer KEY'. Any key will do.",
      { keyFault: 'missing' },
    )
  }
}

/** Vendors repeat the masked key in their message; a relay should know that. */
function maskKey(key: string): string {
  return `${key.slice(0, 8)}${'*'.repeat(Math.max(3, key.length - 12))}${key.slice(-4)}`
}
