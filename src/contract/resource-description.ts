/**
 * A resource as callers see it, described once: routes, documentation and examples are derived from
 * the description.
 */
import type { z } from 'zod'
import type { FieldNotes } from './problems.ts'

export type Verb = 'list' | 'create' | 'show' | 'update' | 'delete'

export interface OperationWords {
  readonly summary: string
  readonly description?: string
  readonly takes?: string
  readonly answers?: string
  readonly refusals?: readonly (403 | 409)[]
  readonly isForUsers?: boolean
}

export interface ResourceDescription {
  readonly name: string
  readonly names: string
  readonly one: string
  readonly many: string
  /** `/v1/webhooks`; a single webhook is at `/v1/webhooks/{id}`. */
  readonly path: string
  /** The parameter that identifies a resource in its path; default `id`. */
  readonly parameter?: { readonly name: string; readonly schema: z.ZodString }
  readonly group: string
  readonly groupDescription?: string
  readonly operations: Readonly<Partial<Record<Verb, string | OperationWords>>>
  readonly list: z.ZodType
  /** Parameters of the list besides `limit` and `cursor`, all optional. */
  readonly filters?: z.ZodObject
  readonly body: z.ZodType
  readonly create?: z.ZodType
  readonly created?: z.ZodType
  readonly update?: z.ZodType
  readonly updated?: z.ZodType
  /** The answer to a deletion; absent: none. */
  readonly deleted?: z.ZodType
  readonly notes?: Readonly<Partial<Record<'create' | 'update', FieldNotes>>>
  readonly examples?: {
    readonly id: string
    /**
     * Whether the customer chooses the id, in the first creation example. Otherwise the gateway
     * generates the id.
     */
    readonly isGiven?: boolean
    readonly create?: Readonly<Record<string, unknown>>
    readonly update?: Readonly<Record<string, unknown>>
  }
}
