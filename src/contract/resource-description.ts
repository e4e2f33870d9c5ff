/**
 * How a resource looks from outside, described once: its routes, their documents and examples
 * follow. Knows no resource, no store and no server.
 */
import type { z } from 'zod'
import type { FieldNotes } from './problems.ts'

export type Verb = 'list' | 'create' | 'show' | 'update' | 'delete'

/** The document's words for an operation, where they differ from those of every resource's. */
export interface OperationWords {
  readonly summary: string
  readonly description?: string
  /** The request's body, for people. */
  readonly takes?: string
  readonly answers?: string
  /** HTTP statuses beyond those of every resource. */
  readonly refusals?: readonly (403 | 409)[]
  /** Documented as needing a session. The handler enforces it. */
  readonly isForUsers?: boolean
}

export interface ResourceDescription {
  /** Used in operation ids: `createWebhook`. */
  readonly name: string
  /** `Webhooks`: `listWebhooks`. */
  readonly names: string
  /** For people: `webhook`, `webhooks`. */
  readonly one: string
  readonly many: string
  /** `/v1/webhooks`; one of them is at `/v1/webhooks/{id}`. */
  readonly path: string
  /** The parameter that names one in its path; absent: `id`. */
  readonly parameter?: { readonly name: string; readonly schema: z.ZodString }
  /** The group of its operations, with a description unless another place has one. */
  readonly group: string
  readonly groupDescription?: string
  /** The operations that exist. A plain text is the summary. */
  readonly operations: Readonly<Partial<Record<Verb, string | OperationWords>>>
  readonly list: z.ZodType
  readonly body: z.ZodType
  readonly create?: z.ZodType
  /** The answer to a creation, which may hold a secret that is shown once. Absent: `body`. */
  readonly created?: z.ZodType
  readonly update?: z.ZodType
  /** The answer to a change; absent: `body`. */
  readonly updated?: z.ZodType
  /** The message about members that a body must not have. */
  readonly notes?: Readonly<Partial<Record<'create' | 'update', FieldNotes>>>
  /** Bodies by title, which run as they are against a server with the sandbox. */
  readonly examples?: {
    /** An example of one. */
    readonly id: string
    /**
     * The customer's own, which the first creation gives; otherwise the gateway's, which nobody
     * knows beforehand.
     */
    readonly isGiven?: boolean
    readonly create?: Readonly<Record<string, unknown>>
    readonly update?: Readonly<Record<string, unknown>>
  }
}
