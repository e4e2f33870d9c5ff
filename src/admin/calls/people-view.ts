/** Who sees figures of people: members and end users (decision 0121). */
import { HIDDEN_BUDGET, PLAYGROUND_KEY } from '../../core/attribution.ts'
import { type Budget, isBudgetId } from '../../core/budget.ts'
import type { CallRecord } from '../../core/call.ts'
import { GatewayError } from '../../core/errors.ts'
import { type AccountId, isMemberId, type KeyId } from '../../core/ids.ts'
import type { SessionRow } from '../../store/usage/sessions.ts'
import type { ControlPlaneCaller, ControlPlaneDependencies } from '../control-plane-app.ts'

const WHERE_TO_CHANGE =
  'The signed-in owner changes it under Settings → Account; in an account without members, ' +
  '`gatehouse account attribution --people-figures` does.'

export class PeopleView {
  readonly seesAll: boolean
  /** The member whose figures the caller sees in any case. Undefined: no member. */
  readonly self: string | undefined
  readonly #reason: string
  readonly #accountId: AccountId
  readonly #now: () => PeopleView
  readonly #budgets: Pick<ControlPlaneDependencies['budgets'], 'list'>

  constructor(
    caller: ControlPlaneCaller,
    dependencies: Pick<ControlPlaneDependencies, 'attribution' | 'budgets'>,
  ) {
    const { accountId, actor, token } = caller
    const { attribution, budgets } = dependencies
    this.#now = () => new PeopleView(caller, dependencies)
    this.#accountId = accountId
    this.#budgets = budgets
    const { peopleFigures } = attribution.settingsOf(accountId)
    const setting = `peopleFigures of /v1/account/attribution is "${peopleFigures}"`
    if (token !== undefined) {
      this.seesAll = false
      this.self = token.owner?.type === 'member' ? token.owner.id : undefined
      this.#reason = 'An access token sees only the figures of the member who owns it.'
    } else if (actor.type === 'key') {
      this.seesAll = peopleFigures === 'administrators'
      this.self = undefined
      this.#reason =
        `API keys see no figures of people, because ${setting}: "administrators" shows them. ` +
        WHERE_TO_CHANGE
    } else {
      const isOwner = actor.member.role === 'owner'
      this.seesAll = isOwner && peopleFigures !== 'hidden'
      this.self = actor.userId
      this.#reason = isOwner
        ? `Figures of other people are hidden, because ${setting}. ${WHERE_TO_CHANGE}`
        : 'Members see only their own figures. peopleFigures of /v1/account/attribution decides who ' +
          'sees the figures of others.'
    }
  }

  sees(user: string): boolean {
    return this.seesAll || user === this.self
  }

  /**
   * @param key of playground calls, the member's id
   * @throws GatewayError `forbidden` for the id of a member who is hidden from the caller
   */
  assertSeesKey(key: string | undefined): void {
    if (key !== undefined && this.keyOf(key) !== key) throw this.refuse('key')
  }

  /**
   * The user to whom sums by user are limited. Undefined: every user.
   * @throws GatewayError `forbidden` for a caller who sees no person
   */
  onlyUser(): string | undefined {
    if (this.seesAll) return undefined
    if (this.self === undefined) throw this.refuse('group_by')
    return this.self
  }

  /**
   * Called before each part of a file that takes long to send.
   * @throws GatewayError `forbidden` when the account hides people who were seen at the beginning
   */
  assertStillSees(): void {
    const now = this.#now()
    if (this.seesAll && !now.seesAll) throw now.refuse('user')
  }

  /** The key's id, or `(playground)` for a member who is hidden from the caller. */
  keyOf<Id extends string>(key: Id): Id | typeof PLAYGROUND_KEY {
    return isMemberId(key) && !this.sees(key) ? PLAYGROUND_KEY : key
  }

  /** Whether the caller sees what is used of the budget. */
  seesBudget({ scope }: Pick<Budget, 'scope'>): boolean {
    return scope.type !== 'user' || this.sees(scope.userId)
  }

  ofCalls(calls: readonly CallRecord[]): readonly CallRecord[] {
    if (this.seesAll) return calls
    const budgets = this.#seenBudgets()
    return calls.map(({ user, refusedBy, steeredBy, ...call }) => ({
      ...call,
      keyId: this.keyOf(call.keyId) as KeyId,
      ...(user !== undefined && this.sees(user) && { user }),
      ...(refusedBy !== undefined && { refusedBy: toSeen(refusedBy, budgets) }),
      ...(steeredBy !== undefined && { steeredBy: toSeen(steeredBy, budgets) }),
    }))
  }

  /** Without budgets of others, and without deleted ones, whose scope is unknown. */
  #seenBudgets(): ReadonlySet<string> {
    const all = this.#budgets.list(this.#accountId)
    return new Set(all.filter((budget) => this.seesBudget(budget)).map(({ id }) => id))
  }

  ofSessions(sessions: readonly SessionRow[]): readonly SessionRow[] {
    if (this.seesAll) return sessions
    return sessions.map((session) => {
      const { user_id, key_id } = session
      const isSeen = user_id !== null && this.sees(user_id)
      return {
        ...session,
        user_id: isSeen ? user_id : null,
        key_id: this.keyOf(key_id) as KeyId,
      }
    })
  }

  refuse(param: string): GatewayError {
    return new GatewayError('forbidden', this.#reason, { code: 'people_figures', param })
  }
}

/** @param limit a budget's id, alone or before `;`, or the name of another limit */
function toSeen(limit: string, budgets: ReadonlySet<string>): string {
  const [id = '', ...rest] = limit.split(';')
  return isBudgetId(id) && !budgets.has(id) ? [HIDDEN_BUDGET, ...rest].join(';') : limit
}
