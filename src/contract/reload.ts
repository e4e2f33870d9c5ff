/** A reload of the configuration file as the control plane shows it: one entry per process. */
import { z } from 'zod'

/** Has no members yet. */
export const reloadRequestBody = z.strictObject({}).meta({ id: 'ReloadRequest' })

const fault = z.object({
  file: z
    .string()
    .nullable()
    .meta({ description: 'The configuration file; null: the fault is in a variable.' }),
  line: z.int().nullable().meta({ description: 'Starting at 1; null: in no line.' }),
  message: z.string(),
})

const reloadedNode = z
  .object({
    node: z.string().nullable().meta({ description: 'Null: it is the only node.' }),
    host: z.string(),
    worker: z.int().nullable().meta({ description: 'Null: the process serves alone.' }),
    status: z.enum(['reloaded', 'refused', 'no_answer']).meta({
      description:
        '`refused`: its file has faults, and its settings from before stay in force. `no_answer`: ' +
        'it did not answer within some seconds.',
    }),
    digest: z.string().nullable().meta({
      description:
        'SHA-256 of the configuration file in force there; null: there is none, or no answer.',
    }),
    faults: z.array(fault).meta({ description: 'Every fault of its file.' }),
    changed: z
      .array(z.string())
      .meta({ description: 'Sections of the file that changed there.', example: ['plans'] }),
    needsRestart: z
      .array(z.string())
      .meta({ description: 'Sections that differ and take effect with a restart.' }),
  })
  .meta({ id: 'ReloadedNode' })

export const reloadBody = z
  .object({
    id: z.string().meta({ description: 'The id of the reload in the audit log.' }),
    status: z.enum(['reloaded', 'incomplete']).meta({
      description: '`reloaded`: every node has reloaded its file, and all files are the same.',
    }),
    nodes: z.array(reloadedNode).meta({ description: 'Every process, the answering one first.' }),
  })
  .meta({ id: 'Reload' })

export type ReloadBody = z.infer<typeof reloadBody>
