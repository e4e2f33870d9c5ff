import type { ResourceVerb } from '../../core/resource-table.ts'
import type { JsonObject } from '../client.ts'
import type { Kind } from './kinds.ts'

export interface FieldChange {
  readonly field: string
  readonly from: unknown
  readonly to: unknown
}

export interface Change {
  readonly action: ResourceVerb
  readonly kind: Kind
  readonly name: string
  readonly fields: readonly FieldChange[]
  readonly body: JsonObject
  readonly handle: string | undefined
  readonly before: JsonObject | undefined
}
