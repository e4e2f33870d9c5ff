import { z } from 'zod'
import { VERDICTS } from './conformance-features.ts'
import { listOf } from './lists.ts'

const verdict = z
  .object({
    verdict: z.enum(VERDICTS).meta({
      description:
        'relayed: the bytes pass through. lossless: it arrives, translated. lossy: the target ' +
        'has no place for it. ' +
        'refused: the request is a 400. absent: the target has nothing of the kind.',
    }),
    fields: z
      .array(z.string())
      .optional()
      .meta({ description: "lossy: what is left out or changed, in the endpoint's own names." }),
    message: z.string().optional().meta({ description: 'refused: the words of the 400.' }),
  })
  .meta({ id: 'ConformanceVerdict' })

const conformanceRow = z
  .object({
    endpoint: z
      .string()
      .meta({ description: 'The endpoint that the caller uses.', example: '/v1/messages' }),
    dialect: z
      .string()
      .nullable()
      .meta({
        description:
          'The wire format that the targets are spoken to in; null: the endpoint ' +
          'does not reach them.',
      }),
    targets: z
      .array(
        z.object({
          provider: z.string(),
          models: z.array(z.string()).meta({
            description: "One of each kind of the provider's models; empty: all are alike.",
          }),
        }),
      )
      .meta({ description: 'Targets with the same results.' }),
    results: z.record(z.string(), verdict).meta({
      description: "By feature. One that is not there has no place in the endpoint's format.",
    }),
  })
  .meta({ id: 'Conformance' })

export const conformanceList = listOf(conformanceRow, 'ConformanceList')
