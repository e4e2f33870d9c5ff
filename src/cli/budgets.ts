import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Schemas } from '../contract/api.generated.ts'
import { scopeTypeOf } from '../contract/budget-scope.ts'
import { MAX_PAGE_SIZE } from '../contract/lists.ts'
import { AT_LIMIT_RULES, BUDGET_SCOPES, DEFAULT_REFUSE_AT, UNPRICED_RULES } from '../core/budget.ts'
import { MAX_LIMIT_USD } from '../core/money.ts'
import { PERIODS } from '../core/period.ts'
import { CliError } from './cli-error.ts'
import { type Client, withClient } from './client.ts'
import type { CliContext } from './context.ts'
import {
  addFusedStops,
  changesFuse,
  describeFuse,
  type FuseFlags,
  toFuse,
  withClearFuse,
  withFuseOptions,
} from './fuse-verbs.ts'
import { formatTime, printJson, printThing } from './output.ts'
import {
  asJson,
  example,
  parseDecimal,
  parseLimit,
  parseWhole,
  printListing,
} from './program-parts.ts'
import { addAct, addDelete, addList, addShow, changesOf, idOf } from './resource-verbs.ts'
import { printSimulation } from './simulation-tables.ts'
import { A_KEY, wholeKeyId } from './whole-key-id.ts'

type Budget = Schemas['Budget']

interface BudgetFlags extends FuseFlags {
  readonly key?: string
  readonly gate?: string
  readonly member?: string
  readonly endUser?: string
  readonly tag?: string
  readonly scope?: Budget['scope']
  readonly tokens?: number
  readonly usd?: number
  readonly period?: Budget['period']
  readonly timeZone?: string
  readonly alertAt?: readonly number[]
  readonly unpriced?: Budget['unpriced']
  readonly atLimit?: Budget['atLimit']
  readonly refuseAt?: number
  readonly name?: string
  readonly message?: string
}

interface SimulateFlags extends BudgetFlags {
  readonly from?: string
  readonly to?: string
}

interface HeadFlags {
  readonly limit: number
  readonly user?: string
  readonly key?: string
}

interface RaiseFlags {
  readonly by?: number
  readonly until?: string
  readonly end?: boolean
}

export function bindBudgets(program: Command, context: CliContext): void {
  const budgets = program
    .command('budgets')
    .description('budgets: usage limits of an account, keys, gates, users and tags')

  withFuseOptions(withScopeOptions(withLimitOptions(budgets.command('create'))))
    .description('create a budget; when it is used up, calls are refused or steered')
    .addHelpText(
      'after',
      example(
        'gatehouse budgets create --gate assistant --usd 50 --period month',
        'gatehouse budgets create --key key_… --tokens 1000000 --period day --alert-at 0.5,0.9,1',
        'gatehouse budgets create --tag team-a --usd 500 --period month',
        'gatehouse budgets create --scope each-user --usd 100 --period month',
        'gatehouse budgets create --gate assistant --usd 50 --period month --at-limit cheaper',
      ),
    )
    .action(async (flags: BudgetFlags, command: Command) => {
      const toNew = toNewBudget(flags)
      const budget = await withClient(context, async (client) =>
        client.call('POST /v1/budgets', 'id', { body: await toNew(client) }),
      )
      show(budget, asJson(command))
    })

  withScopeOptions(withLimitOptions(budgets.command('simulate')))
    .description('show what a budget would have done with the calls in the log; changes nothing')
    .option(
      '--from <time>',
      'the budget begins at this time; default: the last seven days, four weeks or the last month ' +
        'that are over',
    )
    .option('--to <time>', 'calls that began before this time')
    .addHelpText(
      'after',
      example(
        'gatehouse budgets simulate --gate assistant --usd 50 --period month',
        'gatehouse budgets simulate --scope each-user --usd 5 --period day --from 2026-11-01',
      ),
    )
    .action(async (flags: SimulateFlags, command: Command) => {
      const toNew = toNewBudget(flags)
      const { from, to } = flags
      const simulation = await withClient(context, async (client) =>
        client.call('POST /v1/budgets/simulate', 'periods', {
          body: { ...(await toNew(client)), from, to },
        }),
      )
      if (asJson(command)) printJson(simulation)
      else printSimulation(simulation)
    })

  addList(budgets, context, {
    ask: 'GET /v1/budgets',
    about: 'list the budgets, newest first',
    examples: ['gatehouse budgets list --json'],
    columns: {
      ID: (row) => row.id,
      USED: usedOf,
      LIMIT: limitOf,
      PERIOD: (row) => row.period,
      SCOPE: (row) => row.scope,
      NAME: (row) => row.name,
    },
  })

  addShow(budgets, context, {
    ask: 'GET /v1/budgets/{id}',
    one: 'budget',
    about: 'show one budget',
    examples: ['gatehouse budgets show bud_…'],
    show,
  })

  budgets
    .command('heads')
    .argument('<id>', idOf('budget'))
    .description('list the use of a budget for each user or key')
    .option('--user <who>', "this user only: a member's id, name or e-mail, or end:NAME")
    .option('--key <id>', `this key only: ${A_KEY}`)
    .option('--limit <n>', 'at most this many', parseLimit, 50)
    .addHelpText(
      'after',
      example(
        'gatehouse budgets heads bud_…',
        'gatehouse budgets heads bud_… --user ann@example.com',
      ),
    )
    .action(async (id: string, { limit, user, key: given }: HeadFlags, command: Command) => {
      const { data, nextCursor } = await withClient(context, async (client) => {
        const { scope } = await client.call('GET /v1/budgets/{id}', 'id', { path: { id } })
        if (scope !== 'each-user' && scope !== 'each-key')
          throw new CliError(
            'usage',
            `The budget '${id}' has one limit for all its calls. See its use with: gatehouse budgets show ${id}`,
          )
        const key = await wholeKeyId(client, given)
        return await client.call('GET /v1/budgets/{id}/heads', 'data', {
          path: { id },
          query: { limit: Math.min(limit, MAX_PAGE_SIZE), user, key },
        })
      })
      printListing({ rows: data, hasMore: nextCursor !== null }, command, {
        ID: (row) => row.id,
        USED: (row) => `$${row.used.usd}`,
        TOKENS: (row) => String(row.used.tokens),
        SHARE: (row) => `${Math.round(row.share * 100)} %`,
        'OWN BUDGET': (row) => row.budgetId ?? '-',
        NAME: (row) => row.name ?? '-',
      })
    })

  addAct(budgets, context, {
    name: 'update',
    argument: ['id', idOf('budget')],
    about: 'change a budget; its usage stays',
    examples: [
      'gatehouse budgets update bud_… --usd 80',
      'gatehouse budgets update bud_… --fuse-usd 20',
    ],
    options: (command) => withClearFuse(withFuseOptions(withLimitOptions(command))),
    toBody(flags: BudgetFlags) {
      changesOf(toBody(flags))
      return flags
    },
    async send(client, id, flags) {
      const path = { id }
      const current = changesFuse(flags)
        ? await client.call('GET /v1/budgets/{id}', 'id', { path })
        : undefined
      const body = toBody(flags, current)
      return await client.call('PATCH /v1/budgets/{id}', 'id', { path, body })
    },
    show,
  })

  addAct(budgets, context, {
    name: 'raise',
    argument: ['id', idOf('budget')],
    about: 'raise the limit of a budget until a time',
    examples: [
      'gatehouse budgets raise bud_… --by 50 --until 2026-12-04T18:00:00Z',
      'gatehouse budgets raise bud_… --end',
    ],
    options: (command) =>
      command
        .option(
          '--by <amount>',
          'added to the limit, in US dollars or tokens like the limit',
          parseAmount,
        )
        .option('--until <time>', 'when the raise ends, such as 2026-12-04T18:00:00Z')
        .option('--end', 'end the raise now'),
    toBody: toRaise,
    send: (client, id, body) => client.call('PATCH /v1/budgets/{id}', 'id', { path: { id }, body }),
    show,
  })

  addFusedStops(budgets, context, { path: '/v1/budgets', one: 'budget', example: 'bud_…' })

  addDelete(budgets, context, {
    ask: 'DELETE /v1/budgets/{id}',
    one: 'budget',
    about: 'delete a budget',
    examples: ['gatehouse budgets delete bud_… --yes'],
  })
}

function toRaise({ by, until, end }: RaiseFlags): Schemas['UpdateBudget'] {
  if (end === true) return { raise: null }
  if (by === undefined || until === undefined)
    throw new CliError('usage', 'Give --by and --until, or --end.')
  return { raise: { by, until } }
}

function withScopeOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--scope <scope>',
        'account: all calls; each-user, each-key: each has a limit of its own',
      ).choices(BUDGET_SCOPES),
    )
    .option('--key <id>', `the key: ${A_KEY}`)
    .option('--gate <id>', 'the gate')
    .option('--member <id>', 'the member: id, name or e-mail address')
    .option('--end-user <name>', 'the user, as calls name the user')
    .option('--tag <text>', 'the tag, as name or name:value')
    .addOption(new Option('--period <period>', 'total: from now on (required)').choices(PERIODS))
    .option('--time-zone <name>', 'time zone of the period, such as Europe/Berlin (default: UTC)')
}

/** @throws CliError before a gateway is asked */
function toNewBudget(flags: BudgetFlags) {
  const { key, gate, member, endUser, tag, scope, period, timeZone, tokens, usd } = flags
  const given = { keyId: key, gateId: gate, member, endUser, tag, scope }
  if (scopeTypeOf(given) === undefined)
    throw new CliError(
      'usage',
      'Give one of --key, --gate, --member, --end-user and --tag, or --scope account, each-user or each-key.',
    )
  if ((tokens === undefined) === (usd === undefined))
    throw new CliError('usage', 'A budget limits tokens or US dollars: give --tokens or --usd.')
  if (period === undefined)
    throw new CliError('usage', 'A budget needs a period: give --period day, week, month or total.')
  return async (client: Client) => ({
    ...toBody(flags),
    ...given,
    keyId: await wholeKeyId(client, key),
    period,
    timeZone,
  })
}

function withLimitOptions(command: Command): Command {
  return command
    .option('--tokens <n>', 'input and output tokens a period', (text) =>
      parseWhole(text, { min: 1, max: 1_000_000_000_000 }),
    )
    .option('--usd <amount>', 'US dollars a period', parseUsd)
    .option(
      '--alert-at <shares>',
      'shares at which webhooks are sent an event, such as 0.5,0.8,1; not of each-user and each-key',
      parseShares,
    )
    .addOption(
      new Option(
        '--unpriced <rule>',
        'with --usd: the rule for targets without a known price',
      ).choices(UNPRICED_RULES),
    )
    .addOption(
      new Option(
        '--at-limit <rule>',
        'at the limit: refuse calls, or allow only their cheaper or free targets',
      ).choices(AT_LIMIT_RULES),
    )
    .option(
      '--refuse-at <share>',
      `with cheaper and free-only: the share of the limit at which calls are refused (default: ${DEFAULT_REFUSE_AT})`,
      (text) => parseDecimal(text, { min: 1, max: 10 }),
    )
    .option('--name <text>', 'name of the budget')
    .option('--message <text>', 'message to callers of refused calls; none: no message')
}

function parseUsd(text: string): number {
  const usd = parseAmount(text)
  if (usd > MAX_LIMIT_USD)
    throw new InvalidArgumentError(`The amount must be at most ${MAX_LIMIT_USD} US dollars.`)
  return usd
}

function parseAmount(text: string): number {
  if (!/^\d+(\.\d{1,9})?$/.test(text) || Number(text) <= 0)
    throw new InvalidArgumentError('The amount must be above 0 and have at most nine decimals.')
  return Number(text)
}

function parseShares(text: string): readonly number[] {
  const shares = text.split(',').map(Number)
  if (shares.some((share) => !(share >= 0.01 && share <= 1)))
    throw new InvalidArgumentError('Each share must be a number from 0.01 to 1.')
  return shares
}

/** @param current the current budget, when `changesFuse` */
function toBody(flags: BudgetFlags, current?: Budget): Schemas['UpdateBudget'] {
  const { tokens, usd, alertAt, unpriced, atLimit, refuseAt, name, message } = flags
  return {
    limitTokens: tokens,
    limitUsd: usd,
    unpriced,
    atLimit,
    refuseAt,
    alertAt,
    name,
    message: message === 'none' ? null : message,
    fuse: toFuse(flags, current?.fuse),
  }
}

function limitOf(budget: Budget): string {
  return budget.limitTokens === null ? `$${budget.limitUsd}` : `${budget.limitTokens} tokens`
}

function raiseOf({ raise, limitUsd }: Budget): string {
  if (raise === null) return '-'
  const by = limitUsd === null ? `${raise.by} tokens` : `$${raise.by}`
  const isOver = Date.parse(raise.until) <= Date.now()
  return `by ${by} until ${formatTime(raise.until)}${isOver ? ' (ended)' : ''}`
}

function isDefault({ scope }: Budget): boolean {
  return scope === 'each-user' || scope === 'each-key'
}

function scopeOf({ scope, keyId, gateId, member, endUser, tag }: Budget): string {
  if (scope === 'account') return 'the account'
  if (scope === 'each-user' || scope === 'each-key') return scope.replace('-', ' ')
  return `the ${scope} ${keyId ?? gateId ?? member ?? endUser ?? tag}`
}

function alertsOf(budget: Budget): string {
  if (isDefault(budget)) return `none: ${budget.scope} budgets send no alerts`
  return budget.alertAt.join(', ') || '-'
}

function periodOf({ period, timeZone }: Budget): string {
  return timeZone === 'UTC' ? period : `${period}, ${timeZone}`
}

function usedOf({ used, scope, limitTokens }: Budget): string {
  if (used === null) return scope === 'user' ? 'hidden' : '-'
  return limitTokens === null ? `$${used.usd}` : String(used.tokens)
}

function describeRule({ atLimit, refuseAt }: Budget): string {
  if (atLimit === 'refuse') return 'calls are refused'
  const targets = atLimit === 'cheaper' ? 'cheaper targets' : 'free targets only'
  return `${targets}; calls are refused at ${Math.round((refuseAt ?? 1) * 100)} %`
}

const NAME_WIDTH = 10

function show(budget: Budget, isJson: boolean): void {
  printThing(
    budget,
    isJson,
    [
      ['id', budget.id],
      ['name', budget.name],
      ['of', scopeOf(budget)],
      ['limit', `${limitOf(budget)} (${periodOf(budget)})`],
      [
        'used',
        isDefault(budget)
          ? `see gatehouse budgets heads ${budget.id}`
          : `${usedOf(budget)}${budget.isExhausted === true ? ', used up' : ''}`,
      ],
      ['at limit', describeRule(budget)],
      ...(budget.limitUsd === null ? [] : [['unpriced', budget.unpriced] as const]),
      ...(budget.raise === null ? [] : [['raised', raiseOf(budget)] as const]),
      ...(budget.message === null ? [] : [['message', budget.message] as const]),
      ['fuse', describeFuse(budget.fuse)],
      ['alerts', alertsOf(budget)],
      ['resets', budget.resetsAt === null ? 'never' : formatTime(budget.resetsAt)],
    ],
    NAME_WIDTH,
  )
}
