/** `/v1/logs`: the calls that the ledger has stored, without prompts and completions. */
import { createRoute, z } from '@hono/zod-openapi'
import { toCsv } from '../../contract/csv.ts'
import { noQuery } from '../../contract/lists.ts'
import {
  exportQuery,
  type LogBody,
  logDetailsBody,
  logList,
  logQuery,
} from '../../contract/logs.ts'
import { GatewayError } from '../../core/errors.ts'
import type { AccountId } from '../../core/ids.ts'
import { LoopTurns } from '../../core/loop-turns.ts'
import type { CallFilter, CallPosition } from '../../store/calls/call-pages.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'
import { createReauthentication, toDownload } from '../downloads.ts'
import { decodeCursor, encodeCursor, toPage } from '../paging.ts'
import { toCallerFilter } from './caller-filter.ts'
import { CallerNames } from './caller-names.ts'
import { EXPORT_COLUMNS, toFilter, toLogBody, toLogDetailsBody } from './log-body.ts'
import { PeopleView } from './people-view.ts'

const tags = ['Logs']

/** Other texts are not sent to the database: Postgres, for example, refuses a NUL in text. */
const CALL_ID = /^[\w-]{1,100}$/

const listRoute = createRoute({
  method: 'get',
  path: '/v1/logs',
  operationId: 'listLogs',
  summary: 'List calls, newest first',
  description:
    'Every filter given must match. A page may hold fewer calls than `limit`, even none, ' +
    'while there is a `nextCursor`: only without one is it the last.',
  tags,
  request: { query: logQuery },
  responses: { 200: jsonContent(logList, 'A page of calls.'), ...errorAnswers(400) },
})

const showRoute = createRoute({
  method: 'get',
  path: '/v1/logs/{id}',
  operationId: 'getLog',
  summary: 'Show a call',
  tags,
  request: { params: z.object({ id: z.string() }), query: noQuery },
  responses: { 200: jsonContent(logDetailsBody, 'The call.'), ...errorAnswers(404) },
})

export function bindLogs(app: ControlPlaneApp, dependencies: ControlPlaneDependencies): void {
  const { calls, prices } = dependencies
  app.openapi(listRoute, async (c) => {
    const { limit, cursor, ...query } = c.req.valid('query')
    const after = decodeCursor(cursor)
    const { accountId } = callerOf(c.env)
    const people = new PeopleView(callerOf(c.env), dependencies)
    const caller = await toCallerFilter(dependencies, accountId, { ...query, people })
    const found = await calls.findPage(accountId, toFilter(query, caller), {
      limit: limit + 1,
      ...(after === undefined ? {} : { before: { startedAt: after.at, id: after.id } }),
    })
    const page = toPage(found.calls, limit, (call) => ({ at: call.startedAt, id: call.id }))
    const { goOnBefore } = found
    const goOn = goOnBefore && encodeCursor({ at: goOnBefore.startedAt, id: goOnBefore.id })
    const names = new CallerNames(dependencies, accountId)
    const seen = people.ofCalls(page.items)
    await names.findOfCalls(seen)
    const data = seen.map((call) => toLogBody(call, names.ofCall(call)))
    return c.json({ data, nextCursor: page.nextCursor ?? goOn ?? null }, 200)
  })

  app.openapi(showRoute, async (c) => {
    const { id } = c.req.valid('param')
    const { accountId } = callerOf(c.env)
    const found = CALL_ID.test(id) ? await calls.find(accountId, id) : undefined
    const people = new PeopleView(callerOf(c.env), dependencies)
    const [call] = people.ofCalls(found === undefined ? [] : [found])
    if (call === undefined) throw new GatewayError('not_found', 'There is no call with this id.')
    const names = new CallerNames(dependencies, accountId)
    await names.findOfCalls([call])
    return c.json(toLogDetailsBody(call, prices.partsOf(call), names.ofCall(call)), 200)
  })
}

const ROWS_PER_PAGE = 200

const exportRoute = createRoute({
  method: 'get',
  path: '/v1/logs/export',
  operationId: 'exportLogs',
  summary: 'Download calls, newest first, as CSV or as JSON lines',
  description:
    'The filters are those of the list. It is sent as it is read: where reading fails ' +
    'half-way, or the key or session is gone by then, the connection breaks instead of ending.',
  tags: ['Logs'],
  request: { query: exportQuery },
  responses: {
    200: {
      description:
        'The calls. In CSV, a cell that a spreadsheet would take for a formula ' +
        'begins with an apostrophe.',
      content: {
        'text/csv': { schema: { type: 'string' } },
        'application/x-ndjson': { schema: { type: 'string' } },
      },
    },
    ...errorAnswers(400, 429),
  },
})

/** Columns of a user, which an export lacks when people are hidden from its reader. */
const PEOPLE_COLUMNS: ReadonlySet<string> = new Set(['user', 'userName'])

const FORMATS = {
  csv: {
    contentType: 'text/csv; charset=utf-8',
    open({ seesAll }: PeopleView): LogFile {
      const columns = EXPORT_COLUMNS.filter(
        ({ heading }) => seesAll || !PEOPLE_COLUMNS.has(heading),
      )
      return {
        head: toCsv([columns.map(({ heading }) => heading)]),
        line: (log) => toCsv([columns.map((column) => column.read(log))]),
      }
    },
  },
  ndjson: {
    contentType: 'application/x-ndjson',
    open({ seesAll }: PeopleView): LogFile {
      const replace = (name: string, value: unknown) =>
        PEOPLE_COLUMNS.has(name) ? undefined : value
      return {
        head: '',
        line: (log) => `${JSON.stringify(log, seesAll ? undefined : replace)}\n`,
      }
    },
  },
} as const

/**
 * `/v1/logs/export`: all calls that match a filter, as a file. Holds a page at a time, and waits
 * for a slow reader.
 */
export function bindLogExport(app: ControlPlaneApp, dependencies: ControlPlaneDependencies): void {
  app.openapi(exportRoute, async (c) => {
    const { format, ...query } = c.req.valid('query')
    const { contentType, open } = FORMATS[format]
    const { accountId } = callerOf(c.env)
    const people = new PeopleView(callerOf(c.env), dependencies)
    const caller = await toCallerFilter(dependencies, accountId, { ...query, people })
    const pages = readPages(dependencies.calls, {
      accountId,
      names: new CallerNames(dependencies, accountId),
      people,
      filter: toFilter(query, caller),
      reauthenticate: createReauthentication(dependencies, c.env),
    })
    const file = encodePages(pages, open(people))
    return toDownload(accountId, file, { name: `gatehouse-logs.${format}`, contentType })
  })
}

async function* encodePages(
  pages: AsyncGenerator<readonly LogBody[], undefined>,
  { head, line }: LogFile,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  if (head !== '') yield encoder.encode(head)
  for await (const page of pages) yield encoder.encode(page.map(line).join(''))
}

interface LogFile {
  readonly head: string
  readonly line: (log: LogBody) => string
}

interface Wanted {
  readonly accountId: AccountId
  readonly filter: CallFilter
  readonly names: CallerNames
  readonly people: PeopleView
  readonly reauthenticate: () => Promise<void>
}

async function* readPages(
  calls: ControlPlaneDependencies['calls'],
  { accountId, filter, names, people, reauthenticate }: Wanted,
): AsyncGenerator<readonly LogBody[], undefined> {
  const turns = new LoopTurns()
  let before: CallPosition | undefined
  for (;;) {
    await reauthenticate()
    people.assertStillSees()
    const page = await calls.findPage(accountId, filter, {
      limit: ROWS_PER_PAGE,
      ...(before === undefined ? {} : { before }),
    })
    // An embedded store answers without leaving the event loop.
    await turns.next()
    const seen = people.ofCalls(page.calls)
    await names.findOfCalls(seen)
    if (seen.length > 0) yield seen.map((call) => toLogBody(call, names.ofCall(call)))
    await turns.next()
    const last = page.calls.at(-1)
    before = page.goOnBefore ?? (page.calls.length < ROWS_PER_PAGE ? undefined : last)
    if (before === undefined) return undefined
  }
}
