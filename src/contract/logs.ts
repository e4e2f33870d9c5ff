/** The log of calls as the control plane shows it: what was used, never what was said. */
import { z } from 'zod'
import { costWithPartsBody } from './costs.ts'
import { listOf, pageQuery } from './lists.ts'
import { logFields } from './log-fields.ts'
import { logFilterFields, refuseReversedRange } from './usage-query.ts'

export const logQuery = z
  .strictObject({ ...pageQuery.shape, ...logFilterFields })
  .superRefine(refuseReversedRange)

export const exportQuery = z
  .strictObject({
    format: z
      .enum(['csv', 'ndjson'])
      .meta({ description: 'CSV (RFC 4180) with a header line, or a JSON object a line.' }),
    ...logFilterFields,
  })
  .superRefine(refuseReversedRange)

export const logBody = z
  .object(logFields)
  .meta({ id: 'Log', description: 'One call through a gate.' })

export const logDetailsBody = z
  .object({ ...logBody.shape, cost: costWithPartsBody })
  .meta({ id: 'LogDetails', description: 'One call through a gate, and the parts of its cost.' })

export const logList = listOf(logBody, 'LogList').meta({
  description:
    'A page may hold fewer calls than asked for, even none, while `nextCursor` is there: few ' +
    'pass the filter then.',
})

export type LogBody = z.infer<typeof logBody>

export type LogDetailsBody = z.infer<typeof logDetailsBody>

export type LogFilterQuery = Omit<z.infer<typeof exportQuery>, 'format'>
