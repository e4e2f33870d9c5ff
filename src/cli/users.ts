import type { Command } from 'commander'
import { CliError } from './cli-error.ts'
import { type Listing, withClient } from './client.ts'
import type { CliContext, LocalUser, LocalUsers } from './context.ts'
import { readSecret } from './input.ts'
import { A_MEMBER, memberId } from './member-id.ts'
import { formatTime, noteMadeFolder, printJson, printLine, printNote } from './output.ts'
import { asJson, example, parseLimit, printListing } from './program-parts.ts'
import { addStops } from './stop-verbs.ts'

export function bindUsers(program: Command, context: CliContext): void {
  const users = program
    .command('users')
    .description(
      'people who sign in; without GATEHOUSE_URL in the local data folder, ' +
        'also while a server uses it',
    )

  users
    .command('list')
    .description('list the members of the account; locally those of every account')
    .option('--limit <n>', 'at most this many', parseLimit, 100)
    .addHelpText('after', example('gatehouse users list', 'gatehouse users list --json'))
    .action(async ({ limit }: { limit: number }, command: Command) => {
      const listing: Listing<Pick<LocalUser, 'email' | 'role' | 'createdAt' | 'name'>> = isRemote(
        context,
      )
        ? await withClient(context, (client) => client.listAll('GET /v1/members', limit))
        : await withLocalUsers(context, async (local) => {
            const rows = await local.list()
            return { rows: rows.slice(0, limit), hasMore: rows.length > limit }
          })
      printListing(listing, command, {
        EMAIL: (row) => row.email,
        ROLE: (row) => row.role,
        JOINED: (row) => formatTime(row.createdAt),
        NAME: (row) => row.name,
      })
    })

  users
    .command('invite')
    .argument('<email>', 'the only address that can use the invitation')
    .description(
      'create an invitation; its link is printed once, alone on standard output. No mail is sent',
    )
    .addHelpText('after', example('gatehouse users invite jane@example.com'))
    .action(async (email: string, _flags, command: Command) => {
      const created = isRemote(context)
        ? await withClient(context, (client) =>
            client.call('POST /v1/invitations', 'token', { body: { email } }),
          )
        : await withLocalUsers(context, (local) => local.invite(toEmail(email)))
      if (asJson(command)) return printJson(created)
      printLine(created.link ?? created.token)
      printNote(
        `The invitation works once, for ${created.email}, until ${formatTime(created.expiresAt)}. The ` +
          'link is shown only this once.',
      )
    })

  addStops(users, context, {
    path: '/v1/members',
    one: 'member',
    argument: ['user', `the member: ${A_MEMBER}`],
    example: 'jane@example.com',
    findId: memberId,
  })

  users
    .command('reset-password')
    .argument('<email>', 'email address of the user')
    .description(
      'set a new password, read from standard input or a hidden prompt, and end every session',
    )
    .addHelpText('after', example('gatehouse users reset-password jane@example.com < password.txt'))
    .action(async (given: string, _flags, command: Command) => {
      if (isRemote(context)) {
        throw new CliError(
          'usage',
          'A password is set on the machine of the data folder: unset GATEHOUSE_URL there. The ' +
            'API cannot set the password of another user.',
        )
      }
      const email = toEmail(given)
      const password = await readSecret('The new password')
      const result = await withLocalUsers(context, (local) => local.resetPassword(email, password))
      if (result.type === 'weak') throw new CliError('usage', `The password ${result.problem}.`)
      if (result.type === 'unknown') throw new CliError('notFound', `There is no user ${email}.`)
      if (asJson(command)) return printJson({ email, reset: true })
      printLine(`The password of ${email} is set; every session has ended.`)
    })
}

function isRemote({ environment }: CliContext): boolean {
  return Boolean(environment.GATEHOUSE_URL || environment.GATEHOUSE_API_KEY)
}

function toEmail(given: string): string {
  const [name = '', host = '', ...rest] = given.split('@')
  const isPlain = /^[\x21-\x7e]+$/.test(given) && given.length <= 254
  const hasHost = host.slice(1, -1).includes('.')
  if (!isPlain || rest.length > 0 || name === '' || name.length > 64 || !hasHost)
    throw new CliError('usage', `'${given}' is not an email address.`)
  return given.toLowerCase()
}

async function withLocalUsers<T>(
  context: CliContext,
  use: (local: LocalUsers) => Promise<T>,
): Promise<T> {
  const local = await context.openLocalUsers()
  noteMadeFolder(local)
  try {
    return await use(local)
  } finally {
    await local.close()
  }
}
