/**
 * A gateway that the reader runs: GATEWAY_URL is its chat completions address, GATEWAY_HEADERS a
 * JSON object.
 */
import type { Contender } from '../contender.ts'

export const external: Contender = {
  name: 'external',
  features: 'GATEWAY_URL, started and pinned by whoever runs this',
  async start() {
    const { GATEWAY_URL, GATEWAY_HEADERS = '{}', GATEWAY_MODEL = 'gpt-4o' } = process.env
    if (GATEWAY_URL === undefined) return undefined
    return {
      url: GATEWAY_URL,
      headers: JSON.parse(GATEWAY_HEADERS),
      model: GATEWAY_MODEL,
      stop: async () => {},
    }
  },
}
