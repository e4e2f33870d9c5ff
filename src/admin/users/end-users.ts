/** `/v1/account/end-users/{name}`: exports and erases an end user (decision 0121). */
import { createRoute } from '@hono/zod-openapi'
import {
  type EndUserDay,
  endUserExport,
  endUserParameters,
  erasedBody,
  findEndUserQuery,
  foundEndUser,
  NOT_ERASED,
} from '../../contract/end-users.ts'
import { noQuery } from '../../contract/lists.ts'
import { END_USER } from '../../core/attribution.ts'
import { GatewayError } from '../../core/errors.ts'
import type { AccountId } from '../../core/ids.ts'
import { toUsd } from '../../core/money.ts'
import type { CallPosition } from '../../store/calls/call-pages.ts'
import type { UserDayRow } from '../../store/usage/end-users.ts'
import { CallerNames } from '../calls/caller-names.ts'
import { toLogBody } from '../calls/log-body.ts'
import { PeopleView } from '../calls/people-view.ts'
import { toSessionBody } from '../calls/sessions.ts'
import {
  assertOwnerOrKey,
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'
import { createReauthentication, toDownload } from '../downloads.ts'

const path = '/v1/account/end-users/{name}'
const tags = ['Account']
const CALLS_PER_PAGE = 200

const findRoute = createRoute({
  method: 'get',
  path: '/v1/account/end-users',
  operationId: 'findEndUser',
  summary: 'Find the hash of an end user',
  description:
    'The hash of the name, whether or not anything is stored of the user. Only the owner and API ' +
    'keys may do this.',
  tags,
  request: { query: findEndUserQuery },
  responses: { 200: jsonContent(foundEndUser, 'The hash.'), ...errorAnswers(400, 403) },
})

const exportRoute = createRoute({
  method: 'get',
  path,
  operationId: 'exportEndUser',
  summary: 'Export what is stored of an end user',
  description:
    'The name, the sums by day, the sessions and the calls. Only for callers to whom ' +
    '`peopleFigures` of `/v1/account/attribution` shows everyone. The answer is sent as it is read: ' +
    'where reading fails half-way, the connection breaks instead of ending.',
  tags,
  request: { params: endUserParameters, query: noQuery },
  responses: {
    200: jsonContent(endUserExport, 'What is stored.'),
    ...errorAnswers(400, 403, 404, 429),
  },
})

const eraseRoute = createRoute({
  method: 'delete',
  path,
  operationId: 'eraseEndUser',
  summary: 'Erase an end user',
  description:
    'Deletes the name and the stops by fuses, and moves the calls, the sums and the sessions to the ' +
    'user `(erased)`, so that all figures still add up. Calls that nodes have not stored yet are included. Calls that ' +
    'begin a minute after the erasure or later count for the user again. An erasure that was ' +
    'interrupted may be repeated, and continues within an hour by itself. 404: nothing is stored; ' +
    'calls that are not stored yet are erased all the same. Backups, webhooks that were sent and ' +
    'exported files are not erased. Only the owner and API keys may do this.',
  tags,
  request: { params: endUserParameters, query: noQuery },
  responses: {
    200: jsonContent(erasedBody, 'What was erased.'),
    ...errorAnswers(400, 403, 404),
  },
})

export function bindEndUsers(app: ControlPlaneApp, dependencies: ControlPlaneDependencies): void {
  app.openapi(findRoute, (c) => {
    const caller = callerOf(c.env)
    assertOwnerOrKey(caller)
    const user = toUser(dependencies, caller.accountId, c.req.valid('query').name)
    return c.json({ user }, 200)
  })

  app.openapi(exportRoute, async (c) => {
    const caller = callerOf(c.env)
    assertOwnerOrKey(caller)
    const people = new PeopleView(caller, dependencies)
    if (!people.seesAll) throw people.refuse('name')
    const { accountId } = caller
    const user = toUser(dependencies, accountId, c.req.valid('param').name)
    if (!(await dependencies.endUsers.isStored(accountId, user))) throw nothingStored()
    const reauthenticate = createReauthentication(dependencies, c.env)
    const pieces = encodeExport(dependencies, { accountId, user, people, reauthenticate })
    const file = { name: 'gatehouse-end-user.json', contentType: 'application/json' }
    // Hono's type of a JSON answer has the body, which is sent in pieces here.
    return toDownload(accountId, pieces, file) as never
  })

  app.openapi(eraseRoute, async (c) => {
    const caller = callerOf(c.env)
    assertOwnerOrKey(caller)
    const { accountId } = caller
    const user = toUser(dependencies, accountId, c.req.valid('param').name)
    const { wasStored, ...erased } = await dependencies.endUsers.erase(accountId, user)
    await dependencies.stops.followFused(accountId)
    if (!wasStored) throw nothingStored()
    const budgets = dependencies.budgets
      .list(accountId)
      .filter(({ scope }) => scope.type === 'user' && scope.userId === user)
      .map(({ name }) => `the budget ${name} and its entries in the audit log`)
    return c.json({ user, ...erased, notErased: [...NOT_ERASED, ...budgets] }, 200)
  })
}

const ID = /^end:[0-9a-f]{16}$/

function toUser(
  { nameHashes }: Pick<ControlPlaneDependencies, 'nameHashes'>,
  accountId: AccountId,
  name: string,
): string {
  if (ID.test(name)) return name
  const hash = nameHashes.hash(accountId, 'user', name)
  if (hash === undefined)
    throw new GatewayError(
      'invalid_request',
      'The account has no hash key, so no end user can be found by name. Give end: and the hash.',
      { param: 'name' },
    )
  return END_USER + hash
}

function nothingStored(): GatewayError {
  return new GatewayError('not_found', 'Nothing is stored of this end user.')
}

interface Exported {
  readonly accountId: AccountId
  readonly user: string
  readonly people: PeopleView
  readonly reauthenticate: () => Promise<void>
}

async function* encodeExport(
  dependencies: ControlPlaneDependencies,
  { accountId, user, people, reauthenticate }: Exported,
): AsyncGenerator<Uint8Array> {
  const { endUsers } = dependencies
  const encoder = new TextEncoder()
  const named = await endUsers.findName(accountId, user)
  const name = named?.name ?? null
  const nameLastSeenAt = named === undefined ? null : new Date(named.lastSeenAt).toISOString()
  yield encoder.encode(JSON.stringify({ user, name, nameLastSeenAt }).slice(0, -1))
  const lists = {
    days: mapPages(endUsers.readDays(accountId, user), (rows) => rows.map(toDay)),
    sessions: mapPages(endUsers.readSessions(accountId, user), async (rows) => {
      const names = new CallerNames(dependencies, accountId)
      await names.find(rows.map(({ key_id }) => key_id))
      await names.findUsers([user])
      return rows.map((row) => toSessionBody(row, names))
    }),
    calls: readCalls(dependencies, accountId, user),
  }
  for (const [list, pages] of Object.entries(lists)) {
    let before = `,${JSON.stringify(list)}:[`
    for await (const page of pages) {
      await reauthenticate()
      people.assertStillSees()
      const texts = page.map((item) => JSON.stringify(item))
      if (texts.length === 0) continue
      yield encoder.encode(`${before}${texts.join(',')}`)
      before = ','
    }
    yield encoder.encode(before === ',' ? ']' : `${before}]`)
  }
  yield encoder.encode('}')
}

async function* mapPages<Row>(
  pages: AsyncIterable<readonly Row[]>,
  toItems: (rows: readonly Row[]) => readonly object[] | Promise<readonly object[]>,
): AsyncGenerator<readonly object[]> {
  for await (const rows of pages) yield await toItems(rows)
}

async function* readCalls(
  dependencies: ControlPlaneDependencies,
  accountId: AccountId,
  userId: string,
): AsyncGenerator<readonly object[]> {
  const names = new CallerNames(dependencies, accountId)
  for (let before: CallPosition | undefined; ; ) {
    const page = await dependencies.calls.findPage(
      accountId,
      { userId },
      { limit: CALLS_PER_PAGE, ...(before === undefined ? {} : { before }) },
    )
    await names.findOfCalls(page.calls)
    yield page.calls.map((call) => toLogBody(call, names.ofCall(call)))
    const last = page.calls.at(-1)
    before = page.goOnBefore ?? (page.calls.length < CALLS_PER_PAGE ? undefined : last)
    if (before === undefined) return
  }
}

function toDay(row: UserDayRow): EndUserDay {
  return {
    day: new Date(row.starts_at).toISOString().slice(0, 10),
    calls: row.calls,
    errors: row.failed,
    refused: row.refused,
    cancelled: row.cancelled,
    tokens: {
      input: row.input_tokens,
      output: row.output_tokens,
      cachedInput: row.cached_input_tokens,
      cacheWrite: row.cache_write_tokens,
      reasoning: row.reasoning_tokens,
    },
    cost: {
      usd: toUsd(row.cost_nano_usd),
      estimatedCalls: row.cost_estimated,
      unknownCalls: row.cost_unknown,
    },
  }
}
