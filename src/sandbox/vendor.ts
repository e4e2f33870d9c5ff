/**
 * The parts that all endpoints of one vendor share: how a key is sent, how an error looks. Knows
 * no dialect.
 */
import type { BaseModel } from './parse-model.ts'
import type { Refusal } from './refusal.ts'

export interface ErrorReply {
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
