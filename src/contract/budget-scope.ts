/** The members of a budget that say whose calls it limits. */
import { z } from 'zod'
import { isEndUserName, MOST_NAME_CHARACTERS } from '../core/attribution.ts'
import { BUDGET_SCOPES, type BudgetScope } from '../core/budget.ts'
import { label } from './text.ts'

const scope = z.enum(BUDGET_SCOPES).meta({
  description:
    'Whose calls the budget limits: those of the whole `account`, or of one key, gate, user or ' +
    'tag. A call counts in every budget that applies to it. `each-user` and `each-key` are ' +
    'defaults: every user, or every key and service token, has this limit of its own, unless a ' +
    'budget of that user or key has the same period and unit.',
})

const MEMBERS = {
  keyId: z.string().max(100).meta({ description: 'The id of the key that the budget limits.' }),
  gateId: z.string().max(64).meta({ description: 'The id of the gate that the budget limits.' }),
  member: z.string().min(1).max(255).meta({
    description: 'The member whose calls the budget limits: the id, name or e-mail address.',
    example: 'user_01a1fbc63aa470d6877cf556d6121edd',
  }),
  endUser: z
    .string()
    .min(1, { abort: true })
    .max(MOST_NAME_CHARACTERS, { abort: true })
    .refine(isEndUserName, {
      error:
        'must not hold control characters, such as line breaks and tabs, nor half of a surrogate ' +
        'pair, nor have the form of an id, and must hold a character that can be seen',
    })
    .meta({
      description:
        'The user whose calls the budget limits, as calls name the user. Needs `endUsers` of ' +
        'the attribution settings: names are only read from calls while it is on.',
    }),
  tag: label({ min: 1, max: 129 }).meta({
    description: 'The tag whose calls the budget limits, as `name` or `name:value`.',
    example: 'team-a',
  }),
}

export type ScopeMember = keyof typeof MEMBERS

const NAMED_BY: Readonly<Record<BudgetScope['type'], readonly ScopeMember[]>> = {
  account: [],
  key: ['keyId'],
  gate: ['gateId'],
  user: ['member', 'endUser'],
  tag: ['tag'],
  'each-user': [],
  'each-key': [],
}

export const scopeAnswer = {
  scope,
  keyId: z.string().nullable(),
  gateId: z.string().nullable(),
  member: z.string().nullable().meta({ description: 'The id of the member.' }),
  endUser: z.string().nullable(),
  tag: z.string().nullable(),
}

export const scopeFields = {
  scope: scope.optional().meta({
    description:
      'Required for `account`, `each-user` and `each-key`; otherwise it follows from the member ' +
      'that is given.',
  }),
  keyId: MEMBERS.keyId.optional(),
  gateId: MEMBERS.gateId.optional(),
  member: MEMBERS.member.optional(),
  endUser: MEMBERS.endUser.optional(),
  tag: MEMBERS.tag.optional(),
}

export type GivenScope = {
  readonly [Name in ScopeMember]?: string | undefined
} & { readonly scope?: BudgetScope['type'] | undefined }

export const SCOPE_MEMBERS = Object.keys(MEMBERS) as readonly ScopeMember[]

/** @returns undefined: the members name no scope, or several */
export function scopeTypeOf(given: GivenScope): BudgetScope['type'] | undefined {
  const [member, ...others] = SCOPE_MEMBERS.filter((name) => given[name] !== undefined)
  if (others.length > 0) return undefined
  const named = BUDGET_SCOPES.find((type) =>
    member === undefined
      ? type === given.scope && NAMED_BY[type].length === 0
      : NAMED_BY[type].includes(member),
  )
  return given.scope === undefined || given.scope === named ? named : undefined
}

export function checkScope(given: GivenScope, context: z.RefinementCtx): void {
  if (scopeTypeOf(given) !== undefined) return
  const [field, message] = problemOf(given)
  context.addIssue({ code: 'custom', path: [field], message })
}

/** @returns the member to change, and what is wrong with it */
function problemOf(given: GivenScope): readonly [ScopeMember | 'scope', string] {
  const { scope } = given
  const [member, second] = SCOPE_MEMBERS.filter((name) => given[name] !== undefined)
  if (second !== undefined)
    return [second, `cannot be given together with ${member}: a budget has one scope. Remove one`]
  if (scope === undefined)
    return [
      'scope',
      `is missing. Give account, each-user or each-key, or give one of ${SCOPE_MEMBERS.join(', ')}`,
    ]
  const [needed, other] = NAMED_BY[scope]
  const either = other === undefined ? needed : `${needed} or ${other}`
  if (member === undefined)
    return [needed ?? 'scope', `is missing. The scope ${scope} needs ${either}`]
  const remedy = needed === undefined ? 'remove it' : `give ${either} instead`
  return [member, `does not fit the scope ${scope}: ${remedy}, or remove the scope`]
}
