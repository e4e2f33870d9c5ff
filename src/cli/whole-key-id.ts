import { CliError } from './cli-error.ts'
import type { Client } from './client.ts'

/** For the help of arguments that accept both. */
export const A_KEY = 'the id, or the end of it as keys list shows it'

const SHORT_ID = /^[0-9a-f]{6,31}$/
const MOST_KEYS = 100_000

/**
 * @param given undefined is returned unchanged
 * @returns the id of the only key whose id ends like this; other text unchanged
 * @throws CliError when no key's id, or more than one, ends like this
 */
export async function wholeKeyId<Given extends string | undefined>(
  client: Client,
  given: Given,
  list: 'GET /v1/keys' | 'GET /v1/access-tokens' = 'GET /v1/keys',
): Promise<Given | string> {
  if (given === undefined || !SHORT_ID.test(given)) return given
  const { rows } = await client.listAll(list, MOST_KEYS)
  const [id, ...others] = rows.map(({ id }) => id).filter((candidate) => candidate.endsWith(given))
  if (id === undefined)
    throw new CliError('notFound', `There is no key with an id that ends in ${given}.`)
  if (others.length > 0) {
    throw new CliError(
      'conflict',
      `${others.length + 1} keys have ids that end in ${given}: give more of it.`,
    )
  }
  return id
}
