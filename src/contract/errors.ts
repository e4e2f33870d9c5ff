/** The flat error envelope of the control plane. */
import { z } from 'zod'

export const errorBody = z
  .object({
    error: z.string().meta({ description: 'Stable code.', example: 'invalid_request' }),
    message: z
      .string()
      .meta({ description: 'The reason as a text for people; its wording may change.' }),
    details: z.unknown().optional().meta({
      description:
        'More, where there is more: for a refused request, every problem as `{field, message}`.',
    }),
  })
  .meta({ id: 'Error', description: 'The flat error envelope.' })
