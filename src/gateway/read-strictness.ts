/** Whether a caller forbids leaving anything of its request out (`x-gatehouse-strict`). Pure. */
import { invalidRequest } from '../core/errors.ts'

const HEADER = 'x-gatehouse-strict'

const WORDS: ReadonlyMap<string, boolean> = new Map([
  ...['true', '1', 'yes', 'on'].map((word) => [word, true] as const),
  ...['false', '0', 'no', 'off'].map((word) => [word, false] as const),
])

/**
 * @throws GatewayError `invalid_request` for a word that it does not know: whoever sent it counts
 * on something
 */
export function readStrictness(headers: Headers): boolean {
  const said = headers.get(HEADER)
  if (said === null) return false
  const isStrict = WORDS.get(said.toLowerCase())
  if (isStrict !== undefined) return isStrict
  throw invalidRequest(
    `'${HEADER}' must be one of ${[...WORDS.keys()].join(', ')}.`,
    HEADER,
    'invalid_value',
  )
}
