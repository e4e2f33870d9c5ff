/**
 * How a resource looks from outside, described once: its routes, their documents and examples come
 * of it, and for a plain one the verbs of the command line. Knows no resource, no store and no
 * server.
 */
import type { z } from 'zod'
import type { FieldNotes } from './problems.ts'

export interface ResourceDescription<
  Body extends z.ZodType = z.ZodType,
  Created extends z.ZodType = z.ZodType,
  Create extends z.ZodType = z.ZodType,
  Update extends z.ZodType = z.ZodType,
> {
  /** By which its operations are called: `createWebhook`. */
  readonly name: string
  /** `Webhooks`: `listWebhooks`. */
  readonly names: string
  /** For people: `webhook`, `webhooks`. */
  readonly one: string
  readonly many: string
  /** `/v1/webhooks`; one of them is at `/v1/webhooks/{id}`. */
  readonly path: string
  /** The group of operations that it belongs to, and what that is, where no other place says so. */
  readonly group: string
  readonly groupDescription?: string
  readonly summaries: Readonly<Record<'list' | 'create' | 'show' | 'update' | 'delete', string>>
  readonly list: z.ZodType
  readonly body: Body
  /** The answer to a creation, which may hold what is shown but once. */
  readonly created: Created
  readonly create: Create
  readonly update: Update
  /** The message about members that a body must not have. */
  readonly notes: Readonly<Record<'create' | 'update', FieldNotes>>
  /** Bodies by title, which run as they are against a server with the sandbox. */
  readonly examples: {
    /** As one looks. */
    readonly id: string
    /**
     * The customer's own, which the first creation gives; otherwise the gateway's, which nobody
     * knows beforehand.
     */
    readonly isGiven?: boolean
    readonly create: Readonly<Record<string, unknown>>
    readonly update: Readonly<Record<string, unknown>>
  }
}

/** A plain one: what a customer says of a thing is kept as it was said. */
export interface PlainDescription<
  Body extends z.ZodType = z.ZodType,
  Create extends z.ZodType = z.ZodType,
  Update extends z.ZodType = z.ZodType,
> extends ResourceDescription<Body, Body, Create, Update> {
  /** How the command line speaks of it. All that can be said is text. */
  readonly commands: {
    readonly about: string
    /** The member that creation takes as its argument. */
    readonly argument: string
    /** The members that are options, with their help. */
    readonly options: Readonly<Record<string, string>>
    /** Of a list: heading → member. */
    readonly columns: Readonly<Record<string, string>>
    /** An id for examples: `tag_…`. */
    readonly id: string
    /** Example body for `create`. */
    readonly example: string
  }
}
