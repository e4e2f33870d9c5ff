/**
 * Strictness inside a request: what is misspelt must not be lost in silence. Knows no member
 * itself.
 */
import type { JsonRecord } from '../chat-request.ts'
import { type At, invalidAt } from '../read-json.ts'

/** @throws GatewayError `invalid_request` naming the first member that is not among those known */
export function refuseUnknown(at: At<JsonRecord>, known: readonly string[]): void {
  const unknown = Object.keys(at.value).find((name) => !known.includes(name))
  if (unknown === undefined) return
  const path = `${at.path}.${unknown}`
  throw invalidAt({ path }, `is not known here: ${known.join(', ')} are.`, 'unknown_parameter')
}
