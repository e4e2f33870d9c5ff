import { z } from 'zod'

export const MAX_PAGE_SIZE = 200
const DEFAULT_PAGE_SIZE = 50

const LIMIT_PROBLEM = `must be a whole number from 1 to ${MAX_PAGE_SIZE}`

export const pageQuery = z.strictObject({
  limit: z
    .string({ error: LIMIT_PROBLEM })
    .regex(/^[0-9]{1,9}$/, { error: LIMIT_PROBLEM, abort: true })
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= MAX_PAGE_SIZE, { error: LIMIT_PROBLEM })
    .default(DEFAULT_PAGE_SIZE)
    .meta({ type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE }),
  cursor: z
    .string({ error: 'must be given once' })
    .optional()
    .meta({ description: 'The `nextCursor` of the previous page.' }),
})

/** For routes without a query, which refuse parameters instead of ignoring them. */
export const noQuery = z.strictObject({})

/** `nextCursor` is null on the last page. */
export function listOf<Item extends z.ZodType>(item: Item, id: string) {
  return z
    .object({
      data: z.array(item),
      nextCursor: z
        .string()
        .nullable()
        .meta({ description: 'The `cursor` for the next page; null: this is the last page.' }),
    })
    .meta({ id })
}
