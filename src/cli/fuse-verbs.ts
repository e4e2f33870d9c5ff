/** Options of the fuse of a gate or a budget, and `stops` and `lift` for what the fuse stopped. */
import { Argument, type Command } from 'commander'
import type { Schemas } from '../contract/api.generated.ts'
import { FUSED_KINDS, type FusedKind } from '../core/fuse.ts'
import { MAX_LIMIT_USD } from '../core/money.ts'
import { CliError } from './cli-error.ts'
import { type Client, withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { memberId } from './member-id.ts'
import { formatTime, printJson, printLine } from './output.ts'
import { asJson, example, parseDecimal, parseWhole, printListing } from './program-parts.ts'
import { idOf } from './resource-verbs.ts'

type Stop = { readonly kind: string; readonly id: string; readonly name: string | null }

export interface FuseFlags {
  readonly fuseUsd?: number
  readonly fuseCalls?: number
  readonly fuseMinutes?: number
  readonly clearFuse?: boolean
}

export function withFuseOptions(command: Command): Command {
  return command
    .option(
      '--fuse-usd <amount>',
      'stop a session or a user that spends more US dollars within an hour',
      (text) => parseDecimal(text, { min: 0.01, max: MAX_LIMIT_USD }),
    )
    .option(
      '--fuse-calls <n>',
      'stop a session or a user that makes more calls a minute, for --fuse-minutes in a row',
      (text) => parseWhole(text, { min: 1, max: 1_000_000 }),
    )
    .option('--fuse-minutes <n>', 'with --fuse-calls: 1 to 60 (default: 5)', (text) =>
      parseWhole(text, { min: 1, max: 60 }),
    )
}

export function withClearFuse(command: Command): Command {
  return command.option('--clear-fuse', 'remove the fuse except what is given with it')
}

/** Whether the flags change a part of the fuse, and keep the rest. */
export function changesFuse({ clearFuse, ...flags }: FuseFlags): boolean {
  return clearFuse !== true && hasFigure(flags)
}

/** @param current the current fuse, when `changesFuse` */
export function toFuse(
  flags: FuseFlags,
  current: Schemas['Gate']['fuse'] = null,
): Schemas['UpdateGate']['fuse'] {
  const { fuseUsd, fuseCalls, fuseMinutes, clearFuse } = flags
  if (!hasFigure(flags)) return clearFuse === true ? null : undefined
  return {
    ...(clearFuse !== true && current),
    ...(fuseUsd !== undefined && { usd: fuseUsd }),
    ...(fuseCalls !== undefined && { callsPerMinute: fuseCalls }),
    ...(fuseMinutes !== undefined && { forMinutes: fuseMinutes }),
  }
}

function hasFigure({ fuseUsd, fuseCalls, fuseMinutes }: FuseFlags): boolean {
  return [fuseUsd, fuseCalls, fuseMinutes].some((given) => given !== undefined)
}

/** @param fuse undefined from an earlier version of the gateway */
export function describeFuse(fuse: Schemas['Gate']['fuse'] | undefined): string {
  if (fuse === null || fuse === undefined) return 'none'
  const { usd, callsPerMinute, forMinutes } = fuse
  const calls = callsPerMinute === 1 ? 'one call' : `${callsPerMinute} calls`
  const minutes = forMinutes === 1 ? 'one minute' : `${forMinutes} minutes in a row`
  const limits = [
    ...(usd === null ? [] : [`$${usd} within an hour`]),
    ...(callsPerMinute === null ? [] : [`${calls} a minute for ${minutes}`]),
  ]
  return `stops a session or user above ${limits.join(' or ')}`
}

export function addFusedStops(
  resource: Command,
  context: CliContext,
  {
    path,
    one,
    example: id,
  }: {
    readonly path: '/v1/gates' | '/v1/budgets'
    readonly one: 'gate' | 'budget'
    readonly example: string
  },
): void {
  resource
    .command('stops')
    .argument('<id>', idOf(one))
    .description(`list the sessions and users that the fuse of a ${one} stopped`)
    .addHelpText('after', example(`gatehouse ${one}s stops ${id}`))
    .action(async (owner: string, _flags, command: Command) => {
      const { data } = await withClient(context, (client) =>
        client.call(`GET ${path}/{id}/stops`, 'data', { path: { id: owner } }),
      )
      printListing({ rows: data, hasMore: false }, command, {
        KIND: ({ kind }) => kind,
        HEAD: ({ id: head }) => head,
        NAME: ({ name }) => name ?? '-',
        SINCE: ({ createdAt }) => formatTime(createdAt),
        REASON: ({ reason }) => reason ?? '-',
      })
    })

  resource
    .command('lift')
    .argument('<id>', idOf(one))
    .addArgument(new Argument('<kind>', 'what was stopped').choices(FUSED_KINDS))
    .argument('<head>', `the session or user: the id or name in ${one}s stops, or an e-mail`)
    .description('lift the stop of a session or a user; its next call is served')
    .addHelpText('after', example(`gatehouse ${one}s lift ${id} user user_…`))
    .action(async (owner: string, kind: FusedKind, head: string, _flags, command: Command) => {
      const id = await withClient(context, async (client) => {
        const { data } = await client.call(`GET ${path}/{id}/stops`, 'data', {
          path: { id: owner },
        })
        const id = await findStopped(client, { stops: data, kind, head })
        // The server accepts the removal of a stop that does not exist.
        if (id === undefined)
          throw new CliError(
            'notFound',
            `The fuse has not stopped the ${kind} ${head}. See gatehouse ${one}s stops ${owner}.`,
          )
        await client.remove(`DELETE ${path}/{id}/stops/{kind}/{head}`, {
          path: { id: owner, kind, head: id },
        })
        return id
      })
      if (asJson(command)) printJson({ [one]: owner, kind, id, stopped: false })
      else printLine(`The ${kind} ${head} is no longer stopped by the fuse of ${owner}.`)
    })
}

async function findStopped(
  client: Client,
  asked: { readonly stops: readonly Stop[]; readonly kind: FusedKind; readonly head: string },
): Promise<string | undefined> {
  const { stops, kind, head } = asked
  const find = (given: string) =>
    stops.find((stop) => stop.kind === kind && [stop.id, stop.name].includes(given))?.id
  const isEmail = kind === 'user' && head.includes('@')
  return find(head) ?? (isEmail ? find(await memberId(client, head)) : undefined)
}
