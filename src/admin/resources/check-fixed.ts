/** Checks the user and the tags that an account fixes for a key's calls. */
import { MOST_TAG_VALUE_CHARACTERS } from '../../core/attribution.ts'
import { invalidRequest } from '../../core/errors.ts'
import type { AccountId, UserId } from '../../core/ids.ts'
import type { ControlPlaneDependencies } from '../control-plane-app.ts'

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
    throw invalidRequest('user: there is no member with this id', 'user')
  const names = new Set(plain.tag.list(accountId).map(({ name }) => name))
  for (const [place, tag] of tags.entries()) {
    const [name = '', ...rest] = tag.split(':')
    if (!names.has(name))
      throw invalidRequest(`tags[${place}]: there is no tag '${name}' in this account`, 'tags')
    const value = rest.join(':')
    if (tag !== name && (value === '' || value.length > MOST_TAG_VALUE_CHARACTERS))
      throw invalidRequest(
        `tags[${place}]: the value after ':' must have 1 to ${MOST_TAG_VALUE_CHARACTERS} characters`,
        'tags',
      )
  }
}
