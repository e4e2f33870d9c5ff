import type { ListName } from '../contract/api-call.ts'
import type { PlainResource } from '../contract/plain-resources.ts'
import { CliError } from './cli-error.ts'
import type { Client, JsonObject } from './client.ts'

/**
 * @returns the id of the plain resource that `given` names or identifies
 * @throws CliError when no resource has this id or name
 */
export async function plainId(
  client: Client,
  { one, place, namedBy }: PlainResource,
  given: string,
): Promise<string> {
  const list = `GET /v1/${place}` as ListName
  const { rows } = await client.listAll(list, Number.POSITIVE_INFINITY)
  const found = (member: string) =>
    (rows as readonly object[] as readonly JsonObject[]).find((row) => row[member] === given)
  const id = (found('id') ?? found(namedBy))?.id
  if (typeof id !== 'string')
    throw new CliError('notFound', `There is no ${one} '${given}': see gatehouse ${place} list.`)
  return id
}
