/** `gatehouse keys`: create, list, import, rename, rotate and delete API keys. */
import { type Command, InvalidArgumentError } from 'commander'
import { CliError } from './cli-error.ts'
import { withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { confirmDeletion, readSecret } from './input.ts'
import { formatTime, printJson, printLine, printNote } from './output.ts'
import { asJson, example, parseWhole } from './program-parts.ts'
import { addList } from './resource-verbs.ts'
import { A_KEY, wholeKeyId } from './whole-key-id.ts'

export function bindKeys(program: Command, context: CliContext): void {
  const keys = program.command('keys').description('API keys of the account')

  keys
    .command('create')
    .argument('<name>', 'what the key is for')
    .description('create a key; it is printed once, alone on standard output')
    .option(
      '--expires-at <time>',
      'from then on it is refused, such as 2027-01-31T00:00:00Z',
      parseEnd,
    )
    .addHelpText(
      'after',
      example('gatehouse keys create "ci pipeline"', 'KEY=$(gatehouse keys create ci)'),
    )
    .action(async (name: string, { expiresAt }: { expiresAt?: string }, command: Command) => {
      const created = await withClient(context, (client) =>
        client.call('POST /v1/keys', 'key', { body: { name, expiresAt } }),
      )
      if (asJson(command)) return printJson(created)
      printLine(created.key)
      printNote(`Key ${created.id} created. It is shown only this once: keep it safe.`)
    })

  addList(keys, context, {
    ask: 'GET /v1/keys',
    about: 'list the keys, newest first',
    examples: ['gatehouse keys list', 'gatehouse keys list --json'],
    columns: {
      ID: (row) => shortIdOf(row.id),
      KEY: (row) => row.maskedPrefix,
      CREATED: (row) => formatTime(row.createdAt),
      'LAST USED': (row) => formatTime(row.lastUsedAt),
      NAME: (row) => row.name,
    },
  })

  keys
    .command('import')
    .argument('<name>', 'what the key is for')
    .description(
      'import a key created elsewhere (sk-svc-…, svc_… or legacy_…), read from standard input or ' +
        'a hidden prompt',
    )
    .addHelpText('after', example('gatehouse keys import "old app" < key.txt'))
    .action(async (name: string, _flags, command: Command) => {
      const key = await readSecret('The key to import')
      if (key === '') throw new CliError('usage', 'There is no key on standard input.')
      const imported = await withClient(context, (client) =>
        client.call('POST /v1/keys/import', 'id', { body: { name, key } }),
      )
      if (asJson(command)) return printJson(imported)
      printLine(`Imported ${imported.maskedPrefix} as ${imported.id}.`)
    })

  keys
    .command('update')
    .argument('<id>', A_KEY)
    .description('rename a key, or set when it expires')
    .option('--name <name>', 'what it is called')
    .option(
      '--expires-at <time>',
      'from then on it is refused; never: it does not expire',
      parseEnd,
    )
    .addHelpText('after', example('gatehouse keys update 6121edd01a1f --name staging'))
    .action(
      async (given: string, flags: { name?: string; expiresAt?: string }, command: Command) => {
        const { name, expiresAt } = flags
        if (name === undefined && expiresAt === undefined)
          throw new CliError('usage', 'Say what changes: --name or --expires-at.')
        const body = {
          ...(name === undefined ? {} : { name }),
          ...(expiresAt === undefined
            ? {}
            : { expiresAt: expiresAt === 'never' ? null : expiresAt }),
        }
        const updated = await withClient(context, async (client) =>
          client.call('PATCH /v1/keys/{id}', 'id', {
            path: { id: await wholeKeyId(client, given) },
            body,
          }),
        )
        if (asJson(command)) return printJson(updated)
        printLine(`Updated ${updated.id}.`)
      },
    )

  keys
    .command('rotate')
    .argument('<id>', A_KEY)
    .description(
      'give a key a new text, printed once, alone on standard output; the old one ends later',
    )
    .option(
      '--old-ends-in <seconds>',
      'for how long the old one is still accepted; 0: not at all',
      (text) => parseWhole(text, { min: 0, max: LONGEST_SECONDS }),
      86_400,
    )
    .addHelpText('after', example('KEY=$(gatehouse keys rotate 6121edd01a1f --old-ends-in 3600)'))
    .action(async (given: string, { oldEndsIn }: { oldEndsIn: number }, command: Command) => {
      const body = { oldEndsInSeconds: oldEndsIn }
      const rotated = await withClient(context, async (client) =>
        client.call('POST /v1/keys/{id}/rotate', 'key', {
          path: { id: await wholeKeyId(client, given) },
          body,
        }),
      )
      if (asJson(command)) return printJson(rotated)
      printLine(rotated.key)
      const ends =
        rotated.previous === null ? 'ended' : `ends at ${formatTime(rotated.previous.endsAt)}`
      printNote(`Key ${rotated.id} rotated. It is shown only this once. The old one ${ends}.`)
    })

  keys
    .command('delete')
    .argument('<id>', A_KEY)
    .description('revoke a key; calls with it are refused at once')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('gatehouse keys delete key_01a1fbc63aa470d6877cf556d6121edd'))
    .action(async (given: string, flags: { yes?: boolean }, command: Command) => {
      // A prompt is not held while the data folder is: others may need it.
      const id = await withClient(context, (client) => wholeKeyId(client, given))
      await confirmDeletion(`the key ${id}`, flags.yes === true)
      await withClient(context, (client) => client.remove('DELETE /v1/keys/{id}', { path: { id } }))
      if (asJson(command)) return printJson({ id, deleted: true })
      printLine(`Deleted ${id}.`)
    })
}

/** A key without an end never ends, and an empty end must not be read as none. */
function parseEnd(text: string): string {
  if (text === '') throw new InvalidArgumentError('It is empty: is a variable not set?')
  return text
}

const LONGEST_SECONDS = 90 * 86_400

const SHORT_ID_LENGTH = 12

/**
 * The end of an id, which is the random part of it: whole ids leave no place for names in a line of
 * 80 characters. `whole-key-id.ts` leads back.
 */
function shortIdOf(id: string): string {
  return id.slice(-SHORT_ID_LENGTH)
}
