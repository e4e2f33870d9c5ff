/** `/v1/usage/export`: charges by the hour for tools of cost management. */
import { createRoute } from '@hono/zod-openapi'
import { toCsv } from '../../contract/csv.ts'
import { usageExportQuery } from '../../contract/usage-export.ts'
import type { AccountId } from '../../core/ids.ts'
import { LoopTurns } from '../../core/loop-turns.ts'
import type { CallPosition } from '../../store/calls/call-pages.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
} from '../control-plane-app.ts'
import { createReauthentication, toDownload } from '../downloads.ts'
import { refuse } from '../refusals.ts'
import { CallerNames } from './caller-names.ts'
import { FOCUS_HEADINGS, FocusHour } from './focus-rows.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const LONGEST_MS = 3_660 * DAY_MS
const CALLS_PER_PAGE = 200

const exportRoute = createRoute({
  method: 'get',
  path: '/v1/usage/export',
  operationId: 'exportUsage',
  summary: 'Download charges by the hour, in the format FOCUS',
  description:
    'A row per hour, gate, model, kind of token, credential and tags, from the calls that the ' +
    'operator retains. The costs add up exactly to those of the analytics. It is sent as it is ' +
    'read: where reading fails half-way, the connection breaks instead of ending.',
  tags: ['Analytics'],
  request: { query: usageExportQuery },
  responses: {
    200: {
      description: 'The charges.',
      content: { 'text/csv': { schema: { type: 'string' as const } } },
    },
    ...errorAnswers(400, 429),
  },
})

export function bindUsageExport(
  app: ControlPlaneApp,
  dependencies: ControlPlaneDependencies,
): void {
  app.openapi(exportRoute, async (c) => {
    const { from, to } = c.req.valid('query')
    const toMs = Math.ceil((to ?? Date.now()) / HOUR_MS) * HOUR_MS
    const fromMs = Math.floor((from ?? toMs - DAY_MS) / HOUR_MS) * HOUR_MS
    const { accountId } = callerOf(c.env)
    assertBounded(fromMs, toMs)
    await assertRetained(dependencies, fromMs)
    const reauthenticate = createReauthentication(dependencies, c.env)
    const pieces = encodeHours(dependencies, { accountId, fromMs, toMs, reauthenticate })
    return toDownload(accountId, pieces, {
      name: 'gatehouse-focus.csv',
      contentType: 'text/csv; charset=utf-8',
    })
  })
}

/** Each hour is read, also without calls. */
function assertBounded(fromMs: number, toMs: number): void {
  if (toMs - fromMs <= LONGEST_MS) return
  throw refuse([{ field: 'from', message: 'must be within ten years before to' }])
}

/** @throws GatewayError `invalid_request` when calls of the range are deleted */
async function assertRetained({ usage }: ControlPlaneDependencies, fromMs: number): Promise<void> {
  const deletedBefore = await usage.findCallsDeletedBefore()
  if (fromMs >= deletedBefore) return
  const oldest = new Date(Math.ceil(deletedBefore / HOUR_MS) * HOUR_MS).toISOString()
  throw refuse([{ field: 'from', message: `must be ${oldest} or later: older calls are deleted` }])
}

interface ExportedRange {
  readonly accountId: AccountId
  readonly fromMs: number
  readonly toMs: number
  readonly reauthenticate: () => Promise<void>
}

async function* encodeHours(
  dependencies: ControlPlaneDependencies,
  { accountId, fromMs, toMs, reauthenticate }: ExportedRange,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  yield encoder.encode(toCsv([FOCUS_HEADINGS]))
  const account = await dependencies.accounts.find(accountId)
  const names = new CallerNames(dependencies, accountId)
  const providers = new Map(dependencies.providers.map(({ id, name }) => [id, name]))
  const turns = new LoopTurns()
  for (let startsAtMs = fromMs; startsAtMs < toMs; startsAtMs += HOUR_MS) {
    await reauthenticate()
    const hour = await readHour(dependencies, { accountId, startsAtMs, turns })
    await names.findTags(hour.tags())
    const context = {
      startsAtMs,
      accountId,
      accountName: account?.name ?? accountId,
      tagOf: (hash: string) => names.tagOf(hash),
      providerNameOf: (id: string) => providers.get(id) ?? id,
    }
    const text = toCsv([...hour.rows(context)])
    if (text !== '') yield encoder.encode(text)
    await turns.next()
  }
}

async function readHour(
  { calls, prices }: ControlPlaneDependencies,
  {
    accountId,
    startsAtMs,
    turns,
  }: { readonly accountId: AccountId; readonly startsAtMs: number; readonly turns: LoopTurns },
): Promise<FocusHour> {
  const hour = new FocusHour()
  const range = { fromMs: startsAtMs, toMs: startsAtMs + HOUR_MS }
  for (let before: CallPosition | undefined; ; ) {
    const page = await calls.findPage(accountId, range, {
      limit: CALLS_PER_PAGE,
      ...(before === undefined ? {} : { before }),
    })
    await turns.next()
    for (const call of page.calls) hour.add(call, prices.partsOf(call))
    await turns.next()
    before = page.calls.length < CALLS_PER_PAGE ? undefined : page.calls.at(-1)
    if (before === undefined) return hour
  }
}
