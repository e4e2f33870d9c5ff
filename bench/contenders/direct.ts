/** No gateway: the limits of load generator and upstream. */
import type { Contender } from '../contender.ts'

export const direct: Contender = {
  name: 'direct',
  features: 'nothing in between',
  start: async ({ url }) => ({
    url: `${url}/v1/chat/completions`,
    headers: {},
    model: 'gpt-4o',
    stop: async () => {},
  }),
}
