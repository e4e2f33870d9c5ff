/** Checks the user and the tags that an account fixes for a key's calls. */
import { MOST_TAG_VALUE_CHARACTERS } from '../../core/attribution.ts'
import { invalidRequest } from '../../core/errors.ts'
import type { AccountId, UserId } from '../../core/ids.ts'
import { didYouMean } from '../../core/nearest-name.ts'
import type { ControlPlaneDependencies } from '../control-plane-app.ts'

const NO_SUCH_ID =
  'is not the id of a member of this account. List the members with GET /v1/members'

export interface GivenFixed {
  readonly user?: string | null | undefined
  readonly tags?: readonly string[] | undefined
}

/** @throws GatewayError `invalid_request` naming the member (rejects) */
export async function checkFixed(
  { members, plain }: Pick<ControlPlaneDependencies, 'members' | 'plain'>,
  accountId: AccountId,
  { user, tags = [] }: GivenFixed,
): Promise<void> {
  if (user != null && (await members.find(accountId, user as UserId)) === undefined)
    throw invalidRequest(`user: ${NO_SUCH_ID}`, 'user')
  for (const [place, tag] of tags.entries()) {
    const problem = checkTag({ plain }, accountId, tag)
    if (problem !== undefined) throw invalidRequest(`tags[${place}]: ${problem}`, 'tags')
  }
}

/** @returns the problem, if the account has no such tag */
export function checkTag(
  { plain }: Pick<ControlPlaneDependencies, 'plain'>,
  accountId: AccountId,
  tag: string,
): string | undefined {
  const [name = '', ...rest] = tag.split(':')
  const names = plain.tag.list(accountId).map((known) => known.name)
  if (!names.includes(name))
    return (
      `there is no tag '${name}' in this account.${didYouMean(name, names)} List the tags with ` +
      'GET /v1/tags, or create the tag first'
    )
  const value = rest.join(':')
  return tag !== name && (value === '' || value.length > MOST_TAG_VALUE_CHARACTERS)
    ? `the value after ':' must have 1 to ${MOST_TAG_VALUE_CHARACTERS} characters`
    : undefined
}
