/** Prices of models that the operator stores at run time. */
import { z } from 'zod'
import { datedPrices, faultsOfPrices, listOfPrices, modelName } from './models-section.ts'
import type { FieldNotes } from './problems.ts'

const PRICES =
  'US dollars per million tokens, by date: the prices with the latest `from` before a call apply.'

export const setModelPriceBody = z
  .strictObject({
    like: modelName.optional().meta({
      description: 'The `provider/model` that provides absent prices.',
      example: 'sandbox/echo',
    }),
    prices: listOfPrices.optional().meta({ description: PRICES }),
  })
  .superRefine((body, context) => {
    if (body.like === undefined && body.prices === undefined)
      context.addIssue({ code: 'custom', path: [], message: 'must have prices or like' })
    for (const [path, message] of faultsOfPrices(body))
      context.addIssue({ code: 'custom', path: [...path], message })
  })
  .meta({
    id: 'SetModelPrice',
    description: 'The price of a model, as an entry of `models` has it.',
  })

export const setModelPriceNotes: FieldNotes = {
  model: 'is in the path',
  facts: 'are set in the section models of the configuration file',
  createdAt: 'is set by the gateway',
  updatedAt: 'is set by the gateway',
}

export const modelPriceBody = z
  .object({
    model: z.string().meta({ description: '`provider/model`.', example: 'sandbox/echo' }),
    like: z.string().nullable().meta({
      description: 'The `provider/model` that provides absent prices; null: none.',
    }),
    prices: z
      .array(z.object(datedPrices.shape))
      .readonly()
      .nullable()
      .meta({ description: `${PRICES} Null: all prices are those of \`like\`.` }),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'ModelPrice', description: 'A price that the operator stored at run time.' })
