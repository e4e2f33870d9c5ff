/**
 * The audit log as the control plane shows it: who changed what, before and after. Holds no secret.
 */
import { z } from 'zod'
import { listOf, pageQuery } from './lists.ts'

const TIME_PROBLEM = 'must be a time such as 2026-11-01T00:00:00Z, or a day such as 2026-11-01'

/**
 * ISO 8601, with a zone; a day alone begins at midnight UTC. Becomes milliseconds since the Unix
 * epoch.
 */
const time = z
  .string({ error: TIME_PROBLEM })
  .regex(/^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/, {
    error: TIME_PROBLEM,
    abort: true,
  })
  .transform((text) => Date.parse(text))
  .refine((at) => Number.isFinite(at) && at >= 0, { error: TIME_PROBLEM })

const id = z
  .string({ error: 'must be given once' })
  .regex(/^[\x20-\x7e]{1,300}$/, { error: 'must be 1 to 300 printable characters' })

/** @param actions every change that can be asked for, `resource.verb` */
export function auditLogQuery(actions: readonly string[]) {
  const resources = [...new Set(actions.map((action) => action.slice(0, action.indexOf('.'))))]
  return z
    .strictObject({
      ...pageQuery.shape,
      actor: id
        .optional()
        .meta({ description: 'The id of the key or user that made it; `local`: the operator.' }),
      action: z
        .enum(actions, { error: `must be one of ${actions.join(', ')}` })
        .optional()
        .meta({ example: 'gate.update' }),
      resourceType: z
        .enum(resources, { error: `must be one of ${resources.join(', ')}` })
        .optional()
        .meta({ example: 'gate' }),
      resourceId: id.optional().meta({ description: 'Of what was changed.' }),
      from: time
        .optional()
        .meta({ type: 'string', format: 'date-time', description: 'Changes of then or later.' }),
      to: time
        .optional()
        .meta({ type: 'string', format: 'date-time', description: 'Changes from before.' }),
    })
    .superRefine(({ from, to }, context) => {
      if (from === undefined || to === undefined || from < to) return
      context.addIssue({ code: 'custom', path: ['to'], message: 'must be later than from' })
    })
}

const form = z.record(z.string(), z.unknown()).nullable()

export const auditEntryBody = z
  .object({
    id: z.string(),
    at: z.iso.datetime(),
    actor: z
      .object({
        type: z.enum(['key', 'user', 'operator']).meta({
          description:
            "`operator`: a process on the gateway's own machine, such as the command line there.",
        }),
        id: z.string(),
        name: z.string().nullable().meta({ description: 'As it was called then.' }),
      })
      .meta({ id: 'AuditActor' }),
    action: z.string().meta({ description: '`resource.verb`.', example: 'gate.update' }),
    resourceType: z.string().meta({ example: 'gate' }),
    resourceId: z.string(),
    before: form.meta({ description: 'As the interface showed it; null: it was not there.' }),
    after: form.meta({ description: 'As the interface shows it since; null: it is gone.' }),
    requestId: z.string().nullable().meta({ description: "The answer's `x-request-id`." }),
    clientAddress: z.string().nullable(),
  })
  .meta({ id: 'AuditEntry', description: 'One change, and who made it.' })

export const auditLogList = listOf(auditEntryBody, 'AuditLog')

export type AuditEntryBody = z.infer<typeof auditEntryBody>
