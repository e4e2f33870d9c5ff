import type { Command } from 'commander'
import type { Schemas } from '../contract/api.generated.ts'
import { stateOfExpiry } from '../contract/expiry.ts'
import { PLAIN_RESOURCES } from '../contract/plain-resources.ts'
import { CliError } from './cli-error.ts'
import type { Client } from './client.ts'
import type { CliContext } from './context.ts'
import { addTags, endOfOld, parseEnd, ROTATION, shortIdOf, toTags } from './keys.ts'
import { A_MEMBER, memberId, readMemberEmails } from './member-id.ts'
import { formatTime, printJson, printLine, printNote, printThing } from './output.ts'
import { plainId } from './plain-id.ts'
import { parseWhole } from './program-parts.ts'
import { addAct, addDelete, addList, addShow, changesOf } from './resource-verbs.ts'
import { addStops } from './stop-verbs.ts'
import { wholeKeyId } from './whole-key-id.ts'

const A_TOKEN = 'the id, or the end of it as tokens list shows it'
const MOST = 1_000_000_000
const NO_LIMIT = 'none'
/** Stands for `none` among the options, where null means a missing option. */
const UNLIMITED = 0

interface RuleFlags {
  readonly gate?: readonly string[]
  readonly ownerMember?: string
  readonly ownerTag?: string
  readonly expiresAt?: string
  readonly requestsPerMinute?: number
  readonly tokensPerMinute?: number
  readonly concurrentCalls?: number
  readonly ipRange?: readonly string[]
  readonly tag?: readonly string[]
  readonly overrides?: boolean
}

export function bindTokens(program: Command, context: CliContext): void {
  const tokens = program
    .command('tokens')
    .description('access tokens: they can call gates, and change nothing')

  addAct(tokens, context, {
    name: 'create',
    argument: ['name', 'who or what the token is for'],
    about: 'create an access token; it is printed once, alone on standard output',
    examples: [
      'gatehouse tokens create "jane, laptop" --gate coding --requests-per-minute 120',
      'TOKEN=$(gatehouse tokens create ci --gate tests)',
    ],
    options: (command) => addRules(command, 'in the future, such as 2027-01-31T00:00:00Z'),
    toBody: (flags: RuleFlags, name) => ({ name, ...toRules(flags) }),
    send: async (client, _, body) =>
      client.call('POST /v1/access-tokens', 'token', { body: await withOwner(client, body) }),
    show(created, isJson) {
      if (isJson) return printJson(created)
      printLine(created.token)
      printNote(
        `Access token ${created.id} created. The token is shown only this once: keep it safe.`,
      )
    },
  })

  addList(tokens, context, {
    ask: 'GET /v1/access-tokens',
    about: 'list the access tokens, newest first',
    examples: ['gatehouse tokens list', 'gatehouse tokens list --json'],
    columns: async (client) => {
      const ownerOf = await readOwners(client)
      return {
        ID: (row) => shortIdOf(row.id),
        TOKEN: (row) => row.maskedPrefix,
        OWNER: ({ owner }) => ownerOf(owner) ?? '-',
        GATES: (row) => row.gates?.join(' ') ?? 'all',
        EXPIRES: (row) => describeEnd(row.expiresAt),
        'LAST USED': (row) => formatTime(row.lastUsedAt),
        NAME: (row) => row.name,
      }
    },
  })

  addShow(tokens, context, {
    ask: 'GET /v1/access-tokens/{id}',
    one: 'access token',
    about: 'show an access token and its rules',
    examples: ['gatehouse tokens show key_01a1fbc63aa470d6877cf556d6121ede'],
    findFacts: async (client, { owner }) => [
      ['owner', (await readOwners(client))(owner) ?? 'nobody'],
    ],
    show(token, isJson, facts) {
      printThing(token, isJson, [
        ['id', token.id],
        ['name', token.name],
        ['token', token.maskedPrefix],
        ['gates', token.gates?.join(' ') ?? 'all'],
        ...facts,
        ['tags', token.tags.join(' ') || 'none'],
        ['requests a minute', limitText(token.requestsPerMinute)],
        ['tokens a minute', limitText(token.tokensPerMinute)],
        ['calls at the same time', limitText(token.concurrentCalls)],
        ['addresses', token.ipRanges?.join(' ') ?? 'any'],
        ['overrides', token.overrides ? 'yes' : 'no'],
        ['created', formatTime(token.createdAt)],
        ['expires', describeEnd(token.expiresAt)],
        ['last used', formatTime(token.lastUsedAt)],
        ['stopped', describeStop(token.stop)],
      ])
    },
  })

  addAct(tokens, context, {
    name: 'update',
    argument: ['id', A_TOKEN],
    about: 'rename an access token, or change its rules; only the given options change',
    examples: ['gatehouse tokens update 6121edd01a1f --gate coding --gate support'],
    options(command) {
      command.option('--name <name>', 'name of the token')
      addRules(command, 'time in the future; never: the token does not expire')
    },
    toBody: ({ name, ...flags }: RuleFlags & { name?: string }) =>
      changesOf({ name, ...toRules(flags) }),
    send: async (client, given, body) =>
      client.call('PATCH /v1/access-tokens/{id}', 'id', {
        path: { id: await wholeKeyId(client, given, 'GET /v1/access-tokens') },
        body: await withOwner(client, body),
      }),
    show(updated, isJson) {
      if (isJson) return printJson(updated)
      printLine(`Updated ${updated.id}.`)
    },
  })

  addAct(tokens, context, {
    name: 'rotate',
    argument: ['id', A_TOKEN],
    about: 'rotate an access token; the new token is printed once, the old one expires later',
    examples: ['TOKEN=$(gatehouse tokens rotate 6121edd01a1f --old-ends-in 3600)'],
    ...ROTATION,
    send: async (client, given, body) =>
      client.call('POST /v1/access-tokens/{id}/rotate', 'token', {
        path: { id: await wholeKeyId(client, given, 'GET /v1/access-tokens') },
        body,
      }),
    show(rotated, isJson) {
      if (isJson) return printJson(rotated)
      printLine(rotated.token)
      printNote(
        `Access token ${rotated.id} rotated. The new token is shown only this once. The old token ${endOfOld(rotated)}.`,
      )
    },
  })

  addStops(tokens, context, {
    path: '/v1/access-tokens',
    one: 'access token',
    argument: ['id', A_TOKEN],
    example: '6121edd01a1f',
    findId: (client, given) => wholeKeyId(client, given, 'GET /v1/access-tokens'),
  })

  addDelete(tokens, context, {
    ask: 'DELETE /v1/access-tokens/{id}',
    one: 'access token',
    argument: A_TOKEN,
    findId: (client, given) => wholeKeyId(client, given, 'GET /v1/access-tokens'),
    about: 'revoke an access token; calls with it are refused at once',
    examples: ['gatehouse tokens delete key_01a1fbc63aa470d6877cf556d6121ede'],
  })
}

function addRules(command: Command, end: string): void {
  const whole = (text: string) =>
    text === NO_LIMIT ? UNLIMITED : parseWhole(text, { min: 1, max: MOST })
  addTags(command)
    .option(
      '--gate <id>',
      'gate that the token may call; repeat the option for more gates; all: every gate',
      collect,
    )
    .option('--owner-member <member>', `member that the token belongs to: ${A_MEMBER}`)
    .option('--owner-tag <tag>', 'tag that the token belongs to: id or name')
    .option('--expires-at <time>', end, parseEnd)
    .option('--requests-per-minute <n>', `most requests a minute; ${NO_LIMIT}: as the plan`, whole)
    .option('--tokens-per-minute <n>', `most tokens a minute; ${NO_LIMIT}: as the plan`, whole)
    .option('--concurrent-calls <n>', `most calls at once; ${NO_LIMIT}: as the plan`, whole)
    .option(
      '--ip-range <cidr>',
      'client addresses that may use the token; repeat the option for more; any: all',
      collect,
    )
    .option('--overrides', 'calls may choose other targets if the gate allows that')
    .option('--no-overrides', 'calls may not choose other targets')
}

function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text]
}

function toRules(flags: RuleFlags) {
  const { gate, ownerMember, ownerTag, expiresAt, ipRange } = flags
  if (ownerMember !== undefined && ownerTag !== undefined)
    throw new CliError('usage', 'Give one owner: --owner-member or --owner-tag.')
  return {
    gates: listOrAll(gate, 'all'),
    owner:
      ownerMember !== undefined
        ? { type: 'member' as const, id: ownerMember }
        : ownerTag !== undefined
          ? { type: 'tag' as const, id: ownerTag }
          : undefined,
    expiresAt: expiresAt === 'never' ? null : expiresAt,
    requestsPerMinute: toLimit(flags.requestsPerMinute),
    tokensPerMinute: toLimit(flags.tokensPerMinute),
    concurrentCalls: toLimit(flags.concurrentCalls),
    ipRanges: listOrAll(ipRange, 'any'),
    tags: toTags(flags.tag),
    overrides: flags.overrides,
  }
}

async function withOwner<Body extends Pick<ReturnType<typeof toRules>, 'owner'>>(
  client: Client,
  body: Body,
): Promise<Body> {
  const { owner } = body
  if (owner === undefined) return body
  const id =
    owner.type === 'member'
      ? await memberId(client, owner.id)
      : await plainId(client, PLAIN_RESOURCES.tag, owner.id)
  return { ...body, owner: { ...owner, id } }
}

/** @returns a function that names an owner: the e-mail address of a member, or the tag */
async function readOwners(
  client: Client,
): Promise<(owner: Schemas['AccessToken']['owner']) => string | undefined> {
  const emailOf = await readMemberEmails(client)
  const { rows } = await client.listAll('GET /v1/tags', Number.POSITIVE_INFINITY)
  const tags = new Map(rows.map(({ id, name }) => [id, name]))
  return (owner) => {
    if (owner === null) return undefined
    return owner.type === 'member' ? emailOf(owner.id) : `tag ${tags.get(owner.id) ?? owner.id}`
  }
}

function listOrAll(given: readonly string[] | undefined, all: string): string[] | null | undefined {
  if (given === undefined) return undefined
  return given.length === 1 && given[0] === all ? null : [...given]
}

function toLimit(given: number | undefined): number | null | undefined {
  return given === UNLIMITED ? null : given
}

function describeStop(stop: Schemas['AccessToken']['stop']): string {
  if (stop === null) return 'no'
  const who = stop.kind === 'member' ? 'with its owner, ' : ''
  const why = stop.reason === null ? '' : `: ${stop.reason}`
  return `${who}since ${formatTime(stop.createdAt)}${why}`
}

const DAY_MS = 86_400_000

function describeEnd(expiresAt: string | null): string {
  if (expiresAt === null) return formatTime(expiresAt)
  const now = Date.now()
  const state = stateOfExpiry(expiresAt, now)
  if (state === 'later') return formatTime(expiresAt)
  const days = Math.floor((Date.parse(expiresAt) - now) / DAY_MS)
  const left = days === 0 ? 'within a day' : days === 1 ? 'in 1 day' : `in ${days} days`
  return `${formatTime(expiresAt)} (${state === 'expired' ? 'expired' : left})`
}

function limitText(limit: number | null): string {
  return limit === null ? 'as the plan' : String(limit)
}
