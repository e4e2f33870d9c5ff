/** Reads the usage of a response, whole or from a stream's last event. */
import type { Usage } from '../../core/usage.ts'
import { readUsageOfTurn } from '../program-turns.ts'

export function readResponseUsage({
  usage,
  service_tier,
  output,
}: Readonly<Record<string, unknown>>): Usage | null {
  return readUsageOfTurn('openai-responses', {
    reported: usage,
    tier: service_tier,
    items: output,
  })
}
