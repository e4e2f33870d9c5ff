/** `gatehouse end-users`: exports and erases the users of an application. */
import type { Command } from 'commander'
import { CliError } from './cli-error.ts'
import { type Client, withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { canAsk, confirmDeletion } from './input.ts'
import { printJson, printLine, printNote } from './output.ts'
import { printAnswer } from './print-answer.ts'
import { asJson, example } from './program-parts.ts'

const NAME = 'the name that the application sends, or end: and the hash in the log'

export function bindEndUsers(program: Command, context: CliContext): void {
  const endUsers = program
    .command('end-users')
    .description('export and erase the users of your application')

  endUsers
    .command('export')
    .argument('<name>', NAME)
    .description('everything that is stored of an end user, as JSON')
    .addHelpText('after', example('gatehouse end-users export customer-4711 > customer.json'))
    .action(async (name: string) => {
      await withClient(context, async (client) => {
        const path = { name: await toHash(client, name) }
        await printAnswer((signal) =>
          client.open('GET /v1/account/end-users/{name}', signal, { path }),
        )
        printLine('')
      })
    })

  endUsers
    .command('erase')
    .argument('<name>', NAME)
    .description('delete the name of an end user, whose calls and sums then count for (erased)')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('gatehouse end-users erase customer-4711'))
    .action(async (name: string, { yes }: { yes?: boolean }, command: Command) => {
      await confirmDeletion(`the end user ${name}`, yes === true)
      const erased = await withClient(context, async (client) => {
        const path = { name: await toHash(client, name) }
        return client.call('DELETE /v1/account/end-users/{name}', 'notErased', { path })
      })
      if (asJson(command)) return printJson(erased)
      const { calls, sessions, days, notErased } = erased
      printLine(`Erased. Moved to (erased): calls ${calls}, sessions ${sessions}, days ${days}.`)
      printNote(`Not erased: ${notErased.join(', ')}.`)
    })

  endUsers
    .command('erase-all')
    .description('make all recorded end users anonymous, with a new hash key of the account')
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      example('gatehouse end-users erase-all', 'gatehouse end-users erase-all --yes'),
    )
    .action(async ({ yes }: { yes?: boolean }, command: Command) => {
      if (yes !== true && !canAsk())
        throw new CliError(
          'usage',
          'Nothing was erased. Without a terminal, give --yes to confirm.',
        )
      await confirmDeletion('the names of all end users', yes === true)
      await withClient(context, (client) =>
        client.remove('DELETE /v1/account/attribution/hash-key'),
      )
      if (asJson(command)) return printJson({ erased: true })
      printLine('The account has a new hash key, and no names of end users.')
    })
}

/** No path can hold the names `.` and `..`, so each name is asked for by its hash. */
async function toHash(client: Client, name: string): Promise<string> {
  const { user } = await client.call('GET /v1/account/end-users', 'user', { query: { name } })
  return user
}
