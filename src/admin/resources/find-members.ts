/** Finds the members of an account by id, name or e-mail address. */
import type { AccountId } from '../../core/ids.ts'
import type { Member } from '../../store/users/members.ts'
import type { ControlPlaneDependencies } from '../control-plane-app.ts'

export type FoundMember =
  | { readonly member: Member; readonly problem?: undefined }
  | {
      readonly member?: undefined
      /** Follows the name of the field in a message. */
      readonly problem: string
      /** False: several members have the name. */
      readonly isUnknown: boolean
    }

const NO_MEMBER =
  'is not the id, name or e-mail address of a member of this account. List the members with ' +
  'GET /v1/members'

/** @returns one entry per text */
export async function findMembers(
  { members }: Pick<ControlPlaneDependencies, 'members'>,
  accountId: AccountId,
  texts: readonly string[],
): Promise<readonly FoundMember[]> {
  const byId = new Map<string, Member>()
  const byName = new Map<string, Set<Member>>()
  for (const member of await members.findGiven(accountId, texts)) {
    byId.set(member.userId, member)
    for (const text of [member.name, member.email]) {
      const name = text.toLowerCase()
      byName.set(name, (byName.get(name) ?? new Set()).add(member))
    }
  }
  return texts.map((text): FoundMember => {
    const known = byId.get(text)
    if (known !== undefined) return { member: known }
    const [member, second] = byName.get(text.toLowerCase()) ?? []
    if (member === undefined) return { problem: NO_MEMBER, isUnknown: true }
    if (second === undefined) return { member }
    return { problem: 'is the name of several members: give the id of one', isUnknown: false }
  })
}
