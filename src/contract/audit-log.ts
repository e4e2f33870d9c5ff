/**
 * The audit log as the control plane shows it: who changed what, before and after, without secrets.
 */
import { z } from 'zod'
import { ACTOR_TYPES } from '../core/audit.ts'
import { listOf, pageQuery } from './lists.ts'
import { nameParameter, timeParameter } from './usage-query.ts'

export function auditLogQuery(actions: readonly string[]) {
  const resources = [...new Set(actions.map((action) => action.slice(0, action.indexOf('.'))))]
  return z
    .strictObject({
      ...pageQuery.shape,
      actor: nameParameter.optional().meta({
        description:
          'The id of the key or user that made the change; `local` for the operator; for a fuse, the id of its gate or budget.',
      }),
      action: z
        .enum(actions, { error: `must be one of ${actions.join(', ')}` })
        .optional()
        .meta({ example: 'gate.update' }),
      resourceType: z
        .enum(resources, { error: `must be one of ${resources.join(', ')}` })
        .optional()
        .meta({ example: 'gate' }),
      resourceId: nameParameter.optional().meta({ description: 'The id of the changed resource.' }),
      from: timeParameter.optional().meta({
        type: 'string',
        format: 'date-time',
        description: 'Changes at this time or later.',
      }),
      to: timeParameter
        .optional()
        .meta({ type: 'string', format: 'date-time', description: 'Changes before this time.' }),
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
        type: z.enum(ACTOR_TYPES).meta({
          description:
            "`operator`: a process on the gateway's own machine, such as the command line there. " +
            '`fuse`: the gateway, when a fuse stopped a session or a user.',
        }),
        id: z.string().meta({ description: 'For a fuse: the id of its gate or budget.' }),
        name: z
          .string()
          .nullable()
          .meta({ description: 'The name of the actor at the time of the change.' }),
      })
      .meta({ id: 'AuditActor' }),
    action: z.string().meta({ description: '`resource.verb`.', example: 'gate.update' }),
    resourceType: z.string().meta({ example: 'gate' }),
    resourceId: z.string(),
    before: form.meta({
      description:
        'The resource before the change, as the API shows it; null: the resource did not exist.',
    }),
    after: form.meta({
      description:
        'The resource after the change, as the API shows it; null: the resource was deleted.',
    }),
    requestId: z.string().nullable().meta({ description: "The answer's `x-request-id`." }),
    clientAddress: z.string().nullable(),
  })
  .meta({ id: 'AuditEntry', description: 'One change and its author.' })

export const auditLogList = listOf(auditEntryBody, 'AuditLog')

export type AuditEntryBody = z.infer<typeof auditEntryBody>
