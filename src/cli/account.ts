import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Schemas } from '../contract/api.generated.ts'
import { findUnrecorded } from '../contract/unrecorded-callers.ts'
import { PEOPLE_FIGURES } from '../contract/words.ts'
import { withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { formatTime, printJson, printLine, printNote } from './output.ts'
import { asJson, example } from './program-parts.ts'

export function bindAccount(program: Command, context: CliContext): void {
  const account = program
    .command('account')
    .description('the account: its plan, its limits, and what is used this month')
    .addHelpText('after', example('gatehouse account', 'gatehouse account --json'))
    .action(async (_flags, command: Command) => {
      const shown = await withClient(context, (client) => client.call('GET /v1/account', 'plan'))
      if (asJson(command)) return printJson(shown)
      const { limits, quota } = shown
      const { tokens, spend } = quota
      const unpriced =
        spend.unpricedCalls > 0 ? `, ${spend.unpricedCalls} calls without a price` : ''
      const fields: readonly (readonly [string, string])[] = [
        ['id', shown.id],
        ['plan', shown.plan],
        ['each key', describeLimits(eachKey(limits))],
        ['all keys', describeLimits(allKeys(limits))],
        ['tokens', `${tokens.used} used${reserved(tokens, '')} of ${limitOf(tokens, '')}`],
        [
          'spend',
          `$${spend.used} used${reserved(spend, '$')} of ${limitOf(spend, '$')}${unpriced}`,
        ],
        ['resets', formatTime(tokens.resetsAt)],
      ]
      for (const [name, value] of fields) printLine(`${name.padEnd(10)}${value}`)
      printNote(
        'Calls that the account pays for itself are not included: those to owned models, and with ' +
          'its own provider keys. gatehouse usage includes them.',
      )
    })
  bindAttribution(account, context)
}

/** The options of `gatehouse account attribution`, and the switch of each. */
const SWITCHES = {
  '--members-and-tags <on|off>': 'attribute calls to members and tags',
  '--sessions <on|off>': 'attribute calls to sessions and agents, as hashes',
  '--end-users <on|off>': 'attribute calls to the users of applications',
}

type SwitchFlags = Partial<Schemas['Attribution']>

function bindAttribution(account: Command, context: CliContext): void {
  const command = account
    .command('attribution')
    .description('what is recorded about callers; without options, only shown')
    .addHelpText(
      'after',
      example(
        'gatehouse account attribution',
        'gatehouse account attribution --end-users on',
        'gatehouse account attribution --people-figures administrators',
      ),
    )
  for (const [option, about] of Object.entries(SWITCHES)) command.option(option, about, parseSwitch)
  command.addOption(
    new Option('--people-figures <who>', 'who sees figures of other people').choices(
      PEOPLE_FIGURES,
    ),
  )
  command.action(async (flags: SwitchFlags) => {
    const body = { ...flags }
    const { attribution, budgets } = await withClient(context, async (client) => ({
      attribution:
        Object.keys(body).length === 0
          ? await client.call('GET /v1/account/attribution', 'endUsers')
          : await client.call('PATCH /v1/account/attribution', 'endUsers', { body }),
      budgets: (await client.listAll('GET /v1/budgets', Number.POSITIVE_INFINITY)).rows,
    }))
    noteUnrecorded(budgets, attribution)
    if (asJson(command)) return printJson(attribution)
    const { membersAndTags, sessions, endUsers, peopleFigures } = attribution
    printLine(`members and tags  ${onOrOff(membersAndTags)}`)
    printLine(`sessions          ${onOrOff(sessions)}`)
    printLine(`end users         ${onOrOff(endUsers)}`)
    printLine(`people figures    ${peopleFigures}`)
  })
}

function noteUnrecorded(
  budgets: readonly Schemas['Budget'][],
  attribution: Schemas['Attribution'],
): void {
  for (const budget of budgets) {
    const unrecorded = findUnrecorded(budget, attribution)
    if (unrecorded !== undefined)
      printNote(
        `The budget ${budget.name} (${budget.id}) counts no call, because the account does not ` +
          `record ${unrecorded.who}.`,
      )
  }
}

function parseSwitch(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new InvalidArgumentError('Give on or off.')
  return text === 'on'
}

function onOrOff(isOn: boolean): string {
  return isOn ? 'on' : 'off'
}

type Account = Schemas['Account']
type Amounts = Pick<Account['quota']['tokens'], 'limit' | 'reserved'>

type NamedLimits = readonly (readonly [limit: number | null, what: string])[]

function eachKey(limits: Account['limits']): NamedLimits {
  return [
    [limits.requestsPerMinute, 'requests a minute'],
    [limits.tokensPerMinute, 'tokens a minute'],
    [limits.concurrentCalls, 'calls at once'],
  ]
}

function allKeys(limits: Account['limits']): NamedLimits {
  return [
    [limits.accountRequestsPerMinute, 'requests a minute'],
    [limits.accountConcurrentCalls, 'calls at once'],
  ]
}

function describeLimits(given: NamedLimits): string {
  const parts = given.flatMap(([limit, what]) => (limit === null ? [] : [`${limit} ${what}`]))
  return parts.length === 0 ? 'no limits' : parts.join(', ')
}

function reserved(amounts: Amounts, sign: string): string {
  return amounts.reserved > 0 ? ` and ${sign}${amounts.reserved} reserved` : ''
}

function limitOf(amounts: Amounts, sign: string): string {
  return amounts.limit === null ? 'any number' : `${sign}${amounts.limit}`
}
