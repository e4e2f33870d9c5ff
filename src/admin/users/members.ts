/**
 * `/v1/members`: who belongs to the account. The owner alone removes others and hands the account
 * on.
 */
import { memberResource } from '../../contract/users.ts'
import { GatewayError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import { type Member, toPublicMember } from '../../store/users/members.ts'
import { assertOwner, assertUser } from '../authenticate-caller.ts'
import type { ControlPlaneApp, ControlPlaneDependencies } from '../control-plane-app.ts'
import { bindResource } from '../resource-routes.ts'

export function bindMembers(
  app: ControlPlaneApp,
  { members }: Pick<ControlPlaneDependencies, 'members'>,
): void {
  bindResource(app, memberResource, {
    word: 'member',
    list: (accountId, part) => members.list(accountId, part),
    async update(accountId, id, _, { actor }) {
      const member = await findMember(accountId, id)
      const { userId } = assertOwner(actor)
      if (member.role !== 'owner') {
        const isDone = await members.transferOwnership(accountId, {
          from: userId,
          to: member.userId,
        })
        if (!isDone)
          throw new GatewayError('conflict', 'The members have changed meanwhile. Look again.')
      }
      return toPublicMember({ ...member, role: 'owner' })
    },
    async delete(accountId, id, { actor }) {
      const member = await findMember(accountId, id)
      if (assertUser(actor).userId !== member.userId) assertOwner(actor)
      if (member.role === 'owner')
        throw new GatewayError(
          'conflict',
          'The owner cannot be removed: hand the account on first.',
        )
      if (!(await members.remove(accountId, member.userId))) throw memberNotFound()
    },
    idOf: ({ userId }) => userId,
    toBody: toPublicMember,
  })

  async function findMember(accountId: Member['accountId'], id: string): Promise<Member> {
    const member = await members.find(accountId, id as UserId)
    if (member === undefined) throw memberNotFound()
    return member
  }
}

function memberNotFound(): GatewayError {
  return new GatewayError('not_found', 'There is no member with this id.')
}
