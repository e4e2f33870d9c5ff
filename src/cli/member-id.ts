import { CliError } from './cli-error.ts'
import type { Client } from './client.ts'

/** For the help of options that accept all three. */
export const A_MEMBER = 'id, name or e-mail address'

/**
 * @returns the member's id; an id and undefined unchanged
 * @throws CliError when no member, or more than one, has this name or e-mail address
 */
export async function memberId<Given extends string | undefined>(
  client: Client,
  given: Given,
): Promise<Given | string> {
  if (given === undefined || given.startsWith('user_')) return given
  const { rows } = await client.listAll('GET /v1/members', Number.POSITIVE_INFINITY)
  const found = rows.filter(({ email, name }) => email === given.toLowerCase() || name === given)
  if (found[0] === undefined)
    throw new CliError('notFound', `There is no member '${given}': see gatehouse users list.`)
  if (found.length > 1)
    throw new CliError(
      'conflict',
      `${found.length} members are called '${given}': give the e-mail.`,
    )
  return found[0].id
}

/** @returns a function that turns the id of a member into the e-mail address; other ids stay */
export async function readMemberEmails(client: Client): Promise<(id: string) => string> {
  const { rows } = await client.listAll('GET /v1/members', Number.POSITIVE_INFINITY)
  const emails = new Map(rows.map(({ id, email }) => [id, email]))
  return (id) => emails.get(id) ?? id
}
