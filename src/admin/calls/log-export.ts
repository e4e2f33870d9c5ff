/**
 * `/v1/logs/export`: all calls that pass a filter, as a file. Holds a page at a time, and waits for
 * a slow reader.
 */
import { createRoute } from '@hono/zod-openapi'
import { toCsv } from '../../contract/csv.ts'
import { exportQuery, type LogBody } from '../../contract/logs.ts'
import { systemClock } from '../../core/clock.ts'
import type { AccountId } from '../../core/ids.ts'
import { LoopTurns } from '../../core/loop-turns.ts'
import { StreamedAnswer, sendEach } from '../../gateway/relay/streamed-answer.ts'
import type { CallFilter, CallPosition } from '../../store/calls/call-pages.ts'
import { authenticateCaller } from '../authenticate-caller.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
} from '../control-plane-app.ts'
import { CallerNames } from './caller-names.ts'
import { EXPORT_COLUMNS, toFilter, toLogBody } from './log-body.ts'

/**
 * Read in a millisecond and written in another, after each of which calls get their turn. The
 * collector may be at work in the same turn.
 */
const ROWS_PER_PAGE = 200
/** A slow reader is at it for hours, and gets nothing more once its key or session is gone. */
const ASK_AGAIN_WHO_MS = 1_000

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
    ...errorAnswers(400),
  },
})

const FORMATS = {
  csv: {
    contentType: 'text/csv; charset=utf-8',
    head: () => toCsv([EXPORT_COLUMNS.map(({ heading }) => heading)]),
    line: toCsvRow,
  },
  ndjson: {
    contentType: 'application/x-ndjson',
    head: () => '',
    line: (log: LogBody) => `${JSON.stringify(log)}\n`,
  },
} as const

export function bindLogExport(app: ControlPlaneApp, dependencies: ControlPlaneDependencies): void {
  app.openapi(exportRoute, (c) => {
    const { format, ...query } = c.req.valid('query')
    const { contentType, head, line } = FORMATS[format]
    const { request } = c.env
    const { accountId } = callerOf(c.env)
    const pages = readPages(dependencies.calls, {
      accountId,
      names: new CallerNames(dependencies, accountId),
      filter: toFilter(query),
      askAgainWho: () => authenticateCaller(dependencies, request),
    })
    const file = encodePages(pages, { head: head(), line })
    const headers = {
      'content-type': contentType,
      'content-disposition': `attachment; filename="gatehouse-logs.${format}"`,
    }
    return new StreamedAnswer(sendEach(file), { headers })
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
  /** @throws GatewayError (rejects) when nobody may read any more */
  readonly askAgainWho: () => Promise<unknown>
}

async function* readPages(
  calls: ControlPlaneDependencies['calls'],
  { accountId, filter, names, askAgainWho }: Wanted,
): AsyncGenerator<readonly LogBody[], undefined> {
  const turns = new LoopTurns()
  let before: CallPosition | undefined
  let askedAtMs = systemClock.elapsed()
  for (;;) {
    if (systemClock.elapsed() - askedAtMs >= ASK_AGAIN_WHO_MS) {
      await askAgainWho()
      askedAtMs = systemClock.elapsed()
    }
    const page = await calls.findPage(accountId, filter, {
      limit: ROWS_PER_PAGE,
      ...(before === undefined ? {} : { before }),
    })
    // An embedded store answers without leaving the event loop.
    await turns.next()
    await names.find(page.calls.map(({ keyId }) => keyId))
    if (page.calls.length > 0) yield page.calls.map((call) => toLogBody(call, names.of(call.keyId)))
    await turns.next()
    const last = page.calls.at(-1)
    before = page.goOnBefore ?? (page.calls.length < ROWS_PER_PAGE ? undefined : last)
    if (before === undefined) return undefined
  }
}

function toCsvRow(log: LogBody): string {
  return toCsv([EXPORT_COLUMNS.map((column) => column.read(log))])
}
