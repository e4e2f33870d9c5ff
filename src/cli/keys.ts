import { type Command, InvalidArgumentError } from 'commander'
import { CliError } from './cli-error.ts'
import type { Client } from './client.ts'
import type { CliContext } from './context.ts'
import { readSecret } from './input.ts'
import { A_MEMBER, memberId } from './member-id.ts'
import { formatTime, printJson, printLine, printNote } from './output.ts'
import { parseWhole } from './program-parts.ts'
import { addAct, addDelete, addList } from './resource-verbs.ts'
import { A_KEY, wholeKeyId } from './whole-key-id.ts'

export function bindKeys(program: Command, context: CliContext): void {
  const keys = program.command('keys').description('API keys of the account')

  addAct(keys, context, {
    name: 'create',
    argument: ['name', 'what the key is for'],
    about: 'create a key; it is printed once, alone on standard output',
    examples: ['gatehouse keys create "ci pipeline"', 'KEY=$(gatehouse keys create ci)'],
    options: (command) =>
      addFixed(
        command.option(
          '--expires-at <time>',
          'time from which the key is refused, such as 2027-01-31T00:00:00Z',
          parseEnd,
        ),
      ),
    toBody: ({ expiresAt, ...fixed }: FixedFlags & { expiresAt?: string }, name) => ({
      ...{ name, expiresAt },
      ...toFixed(fixed),
    }),
    send: async (client, _, body) =>
      client.call('POST /v1/keys', 'key', { body: await withUser(client, body) }),
    show(created, isJson) {
      if (isJson) return printJson(created)
      printLine(created.key)
      printNote(`Key ${created.id} created. The key is shown only this once: keep it safe.`)
    },
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

  addAct(keys, context, {
    name: 'import',
    argument: ['name', 'what the key is for'],
    about:
      'import a key created elsewhere (sk-svc-…, svc_… or legacy_…), read from standard input or ' +
      'a hidden prompt',
    examples: ['gatehouse keys import "old app" < key.txt'],
    async toBody(_, name) {
      const key = await readSecret('The key to import')
      if (key === '') throw new CliError('usage', 'Standard input contains no key.')
      return { name, key }
    },
    send: (client, _, body) => client.call('POST /v1/keys/import', 'id', { body }),
    show(imported, isJson) {
      if (isJson) return printJson(imported)
      printLine(`Imported ${imported.maskedPrefix} as ${imported.id}.`)
    },
  })

  addAct(keys, context, {
    name: 'update',
    argument: ['id', A_KEY],
    about: 'rename a key, or set its expiry, user or tags',
    examples: ['gatehouse keys update 6121edd01a1f --name staging'],
    options: (command) =>
      addFixed(
        command
          .option('--name <name>', 'name of the key')
          .option(
            '--expires-at <time>',
            'time from which the key is refused; never: the key does not expire',
            parseEnd,
          ),
      ),
    toBody({ name, expiresAt, ...fixed }: FixedFlags & { name?: string; expiresAt?: string }) {
      const { user, tags } = toFixed(fixed)
      if (name === undefined && expiresAt === undefined && user === undefined && tags === undefined)
        throw new CliError('usage', 'Give the change: --name, --expires-at, --user or --tag.')
      return { name, expiresAt: expiresAt === 'never' ? null : expiresAt, user, tags }
    },
    send: async (client, given, body) =>
      client.call('PATCH /v1/keys/{id}', 'id', {
        path: { id: await wholeKeyId(client, given) },
        body: await withUser(client, body),
      }),
    show(updated, isJson) {
      if (isJson) return printJson(updated)
      printLine(`Updated ${updated.id}.`)
    },
  })

  addAct(keys, context, {
    name: 'rotate',
    argument: ['id', A_KEY],
    about:
      'rotate a key: the new one is printed once, alone on standard output; the old one ends later',
    examples: ['KEY=$(gatehouse keys rotate 6121edd01a1f --old-ends-in 3600)'],
    ...ROTATION,
    send: async (client, given, body) =>
      client.call('POST /v1/keys/{id}/rotate', 'key', {
        path: { id: await wholeKeyId(client, given) },
        body,
      }),
    show(rotated, isJson) {
      if (isJson) return printJson(rotated)
      printLine(rotated.key)
      printNote(
        `Key ${rotated.id} rotated. The new key is shown only this once. The old key ${endOfOld(rotated)}.`,
      )
    },
  })

  addDelete(keys, context, {
    ask: 'DELETE /v1/keys/{id}',
    one: 'key',
    argument: A_KEY,
    findId: wholeKeyId,
    about: 'revoke a key; calls with it are refused at once',
    examples: ['gatehouse keys delete key_01a1fbc63aa470d6877cf556d6121edd'],
  })
}

interface FixedFlags {
  readonly user?: string
  readonly tag?: readonly string[]
}

const NONE = 'none'

function addFixed(command: Command): Command {
  return addTags(command).option(
    '--user <member>',
    `member whom all calls count for: ${A_MEMBER}; ${NONE}: no member`,
  )
}

export function addTags(command: Command): Command {
  return command.option(
    '--tag <tag>',
    `tag of all calls, as name or name:value; repeat the option for more; ${NONE}: no tags`,
    (text, before: readonly string[] = []) => [...before, text],
  )
}

export function toTags(tag: readonly string[] | undefined): string[] | undefined {
  return tag?.filter((text) => text !== NONE)
}

function toFixed({ user, tag }: FixedFlags) {
  return { user: user === NONE ? null : user, tags: toTags(tag) }
}

async function withUser<Body extends { readonly user?: string | null | undefined }>(
  client: Client,
  body: Body,
): Promise<Body> {
  return { ...body, user: (await memberId(client, body.user ?? undefined)) ?? body.user }
}

/** A key without an end date never expires, so an empty date must not count as a missing date. */
export function parseEnd(text: string): string {
  if (text === '') throw new InvalidArgumentError('The value is empty: is a variable not set?')
  return text
}

const LONGEST_SECONDS = 90 * 86_400

export const ROTATION = {
  options: (command: Command) =>
    command.option(
      '--old-ends-in <seconds>',
      'seconds for which the old one is still accepted; 0: not at all',
      (text) => parseWhole(text, { min: 0, max: LONGEST_SECONDS }),
      86_400,
    ),
  toBody: ({ oldEndsIn }: { oldEndsIn: number }) => ({ oldEndsInSeconds: oldEndsIn }),
}

export function endOfOld({
  previous,
}: {
  readonly previous: { readonly endsAt: string } | null
}): string {
  return previous === null ? 'ended' : `ends at ${formatTime(previous.endsAt)}`
}

const SHORT_ID_LENGTH = 12

/**
 * The random part of an id: whole ids leave no space for names in a line of 80 characters.
 * `whole-key-id.ts` finds the whole id.
 */
export function shortIdOf(id: string): string {
  return id.slice(-SHORT_ID_LENGTH)
}
