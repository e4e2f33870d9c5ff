/** A change of one resource on the server. */
import type { ResourceVerb } from '../../core/resource-table.ts'
import type { JsonObject } from '../client.ts'
import type { Kind } from './kinds.ts'

export interface FieldChange {
  /** `defaults.instructions`, or `maxRetries`. */
  readonly field: string
  /** Undefined: the field did not exist. */
  readonly from: unknown
  /** Undefined: the field is removed. */
  readonly to: unknown
}

export interface Change {
  readonly action: ResourceVerb
  readonly kind: Kind
  readonly name: string
  /** The changed members of an update, otherwise empty. */
  readonly fields: readonly FieldChange[]
  /** The body that is sent; empty for a deletion. */
  readonly body: JsonObject
  /** The control plane's id of the existing resource. */
  readonly handle: string | undefined
  /** The server's entry; undefined: it has none yet. */
  readonly before: JsonObject | undefined
}
