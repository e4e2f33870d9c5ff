/** Stops of members and access tokens as the control plane reads and writes them. */
import { z } from 'zod'
import { STOPPED_KINDS } from '../core/stop.ts'
import { label } from './text.ts'

export const stopState = z
  .object({
    kind: z.enum(STOPPED_KINDS).meta({
      description:
        'The kind of the stopped resource: an access token may be stopped with its owner. `fuse`: only in the audit log.',
    }),
    reason: z.string().nullable(),
    createdAt: z.iso.datetime(),
    createdBy: z
      .string()
      .nullable()
      .meta({ description: 'The id of a user or a key, `operator` or `fuse`; null: unknown.' }),
  })
  .meta({ id: 'Stop' })
  .nullable()
  .meta({ description: 'Why its calls are refused; null: it is not stopped.' })

export const stopBody = z
  .strictObject({
    reason: label({ min: 1, max: 300 })
      .optional()
      .meta({ description: 'Shown to the stopped caller.', example: 'The laptop was stolen.' }),
  })
  .meta({ id: 'StopRequest' })

export const endReport = z
  .object({
    stopped: z.literal(true),
    callsEnded: z.int().meta({
      description: 'Running calls that ended, on all nodes that have reported to the database.',
    }),
    nodesNotHeard: z.int().meta({
      description:
        'Nodes that did not confirm before their lease ended. They accept no call, and may still ' +
        'run calls that began before. A node that was killed counts for up to an hour.',
    }),
  })
  .meta({ id: 'StopReport' })
