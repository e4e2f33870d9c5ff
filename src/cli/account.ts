/** `gatehouse account`: the plan, its limits, and what is used of them. */
import type { Command } from 'commander'
import { type JsonObject, withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { formatTime, printJson, printLine } from './output.ts'
import { asJson, example } from './program-parts.ts'

export function bindAccount(program: Command, context: CliContext): void {
  program
    .command('account')
    .description('the account: its plan, its limits, and what is used this month')
    .addHelpText('after', example('gatehouse account', 'gatehouse account --json'))
    .action(async (_flags, command: Command) => {
      const account = await withClient(context, (client) => client.json('/v1/account', 'plan'))
      if (asJson(command)) return printJson(account)
      const limits = memberOf(account, 'limits')
      const quota = memberOf(account, 'quota')
      const tokens = memberOf(quota, 'tokens')
      const spend = memberOf(quota, 'spend')
      const unpriced = Number(spend.unpricedCalls) > 0 ? `, ${spend.unpricedCalls} calls without a price` : ''
      const fields: readonly (readonly [string, string])[] = [
        ['id', String(account.id)],
        ['plan', String(account.plan)],
        ['each key', eachKey(limits)],
        ['tokens', `${tokens.used} used${reserved(tokens, '')} of ${limitOf(tokens, '')}`],
        ['spend', `$${spend.used} used${reserved(spend, '$')} of ${limitOf(spend, '$')}${unpriced}`],
        ['resets', formatTime(tokens.resetsAt)],
      ]
      for (const [name, value] of fields) printLine(`${name.padEnd(10)}${value}`)
    })
}

function memberOf(object: JsonObject, name: string): JsonObject {
  const member = object[name]
  return typeof member === 'object' && member !== null ? (member as JsonObject) : {}
}

function eachKey(limits: JsonObject): string {
  const parts = [
    [limits.requestsPerMinute, 'requests a minute'],
    [limits.tokensPerMinute, 'tokens a minute'],
    [limits.concurrentCalls, 'calls at once'],
  ].flatMap(([limit, what]) => (typeof limit === 'number' ? [`${limit} ${what}`] : []))
  return parts.length === 0 ? 'no limits' : parts.join(', ')
}

function reserved(amounts: JsonObject, sign: string): string {
  return Number(amounts.reserved) > 0 ? ` and ${sign}${amounts.reserved} reserved` : ''
}

function limitOf(amounts: JsonObject, sign: string): string {
  return typeof amounts.limit === 'number' ? `${sign}${amounts.limit}` : 'any number'
}
