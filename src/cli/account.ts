import type { Command } from 'commander'
import type { Schemas } from '../contract/api.generated.ts'
import { withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { formatTime, printJson, printLine } from './output.ts'
import { asJson, example } from './program-parts.ts'

export function bindAccount(program: Command, context: CliContext): void {
  program
    .command('account')
    .description('the account: its plan, its limits, and what is used this month')
    .addHelpText('after', example('gatehouse account', 'gatehouse account --json'))
    .action(async (_flags, command: Command) => {
      const account = await withClient(context, (client) => client.call('GET /v1/account', 'plan'))
      if (asJson(command)) return printJson(account)
      const { limits, quota } = account
      const { tokens, spend } = quota
      const unpriced =
        spend.unpricedCalls > 0 ? `, ${spend.unpricedCalls} calls without a price` : ''
      const fields: readonly (readonly [string, string])[] = [
        ['id', account.id],
        ['plan', account.plan],
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
    })
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
