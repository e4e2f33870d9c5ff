/** Finds whom a budget limits. */
import { type GivenScope, scopeTypeOf } from '../../contract/budget-scope.ts'
import { END_USER } from '../../core/attribution.ts'
import type { BudgetScope } from '../../core/budget.ts'
import type { AccountId, KeyId } from '../../core/ids.ts'
import { didYouMean } from '../../core/nearest-name.ts'
import { hashOf } from '../calls/caller-filter.ts'
import type { ControlPlaneDependencies } from '../control-plane-app.ts'
import { refuse } from '../refusals.ts'
import { checkTag } from './check-fixed.ts'
import { findMembers } from './find-members.ts'

export interface FoundScope {
  readonly scope: BudgetScope
  /** The name of the key, gate, user or tag for people. */
  readonly name: string
}

/** @throws GatewayError `invalid_request` when the account has no such key, gate, member or tag */
export async function toScope(
  dependencies: ControlPlaneDependencies,
  accountId: AccountId,
  given: GivenScope,
): Promise<FoundScope> {
  const type = scopeTypeOf(given)
  switch (type) {
    case 'account':
    case 'each-user':
    case 'each-key':
      return { scope: { type }, name: type }
    case 'key':
      return ofKey(dependencies, accountId, given.keyId as KeyId)
    case 'gate':
      return ofGate(dependencies, accountId, given.gateId ?? '')
    case 'user':
      return given.endUser === undefined
        ? await ofMember(dependencies, accountId, given.member ?? '')
        : ofEndUser(dependencies, accountId, given.endUser)
    case 'tag':
      return ofTag(dependencies, accountId, given.tag ?? '')
    default:
      // Unreachable, because the contract requires a scope.
      throw refuse([{ field: 'scope', message: 'is required' }])
  }
}

function ofKey({ keys }: ControlPlaneDependencies, accountId: AccountId, keyId: KeyId): FoundScope {
  const key = keys.recordOf(accountId, keyId)
  if (key === undefined)
    throw refuse([
      {
        field: 'keyId',
        message: 'is not the id of a key of this account. List the keys with GET /v1/keys',
      },
    ])
  return { scope: { type: 'key', keyId: key.id }, name: key.name }
}

function ofGate(
  { gates }: ControlPlaneDependencies,
  accountId: AccountId,
  gateId: string,
): FoundScope {
  const gate = gates.find(accountId, gateId)
  if (gate === undefined) {
    const ids = gates.list(accountId).map(({ id }) => id)
    const message = `names no gate of this account.${didYouMean(gateId, ids)} List the gates with GET /v1/gates`
    throw refuse([{ field: 'gateId', message }])
  }
  return { scope: { type: 'gate', gateId: gate.id }, name: gate.id }
}

async function ofMember(
  dependencies: ControlPlaneDependencies,
  accountId: AccountId,
  text: string,
): Promise<FoundScope> {
  const [found] = await findMembers(dependencies, accountId, [text])
  if (found?.member === undefined) {
    const endUser = found?.isUnknown === true ? ', or give the name that calls send as endUser' : ''
    throw refuse([{ field: 'member', message: `${found?.problem}${endUser}` }])
  }
  const { userId, name } = found.member
  return { scope: { type: 'user', userId }, name }
}

function ofEndUser(
  dependencies: ControlPlaneDependencies,
  accountId: AccountId,
  endUser: string,
): FoundScope {
  const userId = END_USER + hashOf(dependencies, accountId, ['user', endUser], 'endUser')
  return { scope: { type: 'user', userId, endUser }, name: endUser }
}

function ofTag(
  dependencies: ControlPlaneDependencies,
  accountId: AccountId,
  tag: string,
): FoundScope {
  const problem = checkTag(dependencies, accountId, tag)
  if (problem !== undefined) throw refuse([{ field: 'tag', message: problem }])
  const tagId = hashOf(dependencies, accountId, ['tag', tag], 'tag')
  return { scope: { type: 'tag', tag, tagId }, name: tag }
}
