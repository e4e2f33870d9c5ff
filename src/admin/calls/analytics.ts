/** `/v1/analytics`: the account's usage over time, and how long its calls took. */
import { createRoute, type z } from '@hono/zod-openapi'
import type { Context, TypedResponse } from 'hono'
import {
  analyticsBody,
  analyticsQuery,
  latencyBody,
  latencyQuery,
  refusedBody,
  refusedQuery,
  type UsageSumBody,
} from '../../contract/analytics.ts'
import { LATEST_MS } from '../../contract/usage-query.ts'
import { ERROR_KINDS } from '../../core/errors.ts'
import type { AccountId } from '../../core/ids.ts'
import { LoopTurns } from '../../core/loop-turns.ts'
import { toUsd } from '../../core/money.ts'
import type { GroupOrder, UsageGroup } from '../../core/usage.ts'
import { StreamedAnswer, sendEach } from '../../net/streamed-answer.ts'
import { type GroupPair, toPair } from '../../store/usage/group-pairs.ts'
import type { GroupPlace } from '../../store/usage/group-ranks.ts'
import { DAY_MS, HOUR_MS } from '../../store/usage/usage-columns.ts'
import { LATENCY_EDGES_MS } from '../../store/usage/usage-latencies.ts'
import type { UsageQuery } from '../../store/usage/usage-query.ts'
import { UsageDeletedError } from '../../store/usage/usage-sources.ts'
import type { UsageSum } from '../../store/usage/usage-sum.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'
import { refuse } from '../refusals.ts'
import { toCallerFilter } from './caller-filter.ts'
import { CallerNames } from './caller-names.ts'
import { PeopleView } from './people-view.ts'

const DEFAULT_RANGE_MS = 30 * DAY_MS
/**
 * Hourly steps are for a close look: more steps do not fit on a screen, and are slow to read at
 * once.
 */
const LONGEST_BY_HOUR_MS = 7 * DAY_MS + HOUR_MS
const LONGEST_MS = 3_660 * DAY_MS
const LATEST_HOUR_MS = Math.floor(LATEST_MS / HOUR_MS) * HOUR_MS

const OLD_HOURS =
  'Where the operator limits how long sums by the hour are kept, an older range is of whole ' +
  'days: `from` and `to` of the answer say which, and `hour` is refused.'

const analyticsRoute = createRoute({
  method: 'get',
  path: '/v1/analytics',
  operationId: 'getAnalytics',
  summary: 'Calls, tokens, costs and latencies over time',
  description:
    'With `group_by`, the groups that used most are summed up one by one and all others as one; ' +
    '`order`, `limit` and `cursor` page through all of them. For chargeback: ' +
    `\`group_by=key&interval=all&order=cost&limit=1000\`. Two dimensions: ` +
    `\`group_by=user&then_by=model\`. Sums of users alone and of tags alone are ` +
    'by the day; hours, sessions, agents and combinations are read from the calls that the ' +
    `operator retains, without percentiles, for at most 500,000 groups. ${OLD_HOURS}`,
  tags: ['Analytics'],
  request: { query: analyticsQuery },
  responses: { 200: jsonContent(analyticsBody, 'The sums.'), ...errorAnswers(400) },
})

const latencyRoute = createRoute({
  method: 'get',
  path: '/v1/analytics/latency',
  operationId: 'getLatencies',
  summary: 'Latency distribution over time',
  description:
    'Counts of calls by their duration and by the time to their first byte, within 2 %: what ' +
    `a heat map is drawn from. ${OLD_HOURS}`,
  tags: ['Analytics'],
  request: { query: latencyQuery },
  responses: { 200: jsonContent(latencyBody, 'The counts.'), ...errorAnswers(400) },
})

const refusedRoute = createRoute({
  method: 'get',
  path: '/v1/analytics/refused',
  operationId: 'getRefusedCalls',
  summary: 'Refused calls over time, by reason',
  description:
    'Calls that were answered with a 4xx before any upstream was asked: turned away before ' +
    'they were admitted (in no other sum), or refused afterwards (`refused` of the other ' +
    'sums). They cost nothing. Calls of unknown keys are not counted.',
  tags: ['Analytics'],
  request: { query: refusedQuery },
  responses: { 200: jsonContent(refusedBody, 'The counts.'), ...errorAnswers(400) },
})

const LATENCY_RANGES = [0, ...LATENCY_EDGES_MS].map((fromMs, index) => ({
  fromMs,
  toMs: LATENCY_EDGES_MS[index] ?? null,
}))

const DEFAULT_GROUPS = 50

export function bindAnalytics(app: ControlPlaneApp, dependencies: ControlPlaneDependencies): void {
  const { usage } = dependencies
  app.openapi(analyticsRoute, async (c) => {
    const {
      group_by: groupBy = null,
      then_by: thenBy,
      order = 'calls',
      limit,
      cursor,
      search,
      percentiles = true,
      totals: hasTotals = false,
      ...range
    } = c.req.valid('query')
    const { accountId } = callerOf(c.env)
    const { signal } = c.env.request
    const people = new PeopleView(callerOf(c.env), dependencies)
    const caller = await toCallerFilter(dependencies, accountId, { ...range, people })
    const dimensions = { groupBy, ...(thenBy !== undefined && { thenBy }) }
    const isBy = (kind: UsageGroup) => groupBy === kind || thenBy === kind
    const onlyUser = isBy('user') ? people.onlyUser() : undefined
    const asked = {
      ...toRange(range),
      ...caller,
      ...(onlyUser !== undefined && { userId: onlyUser }),
      ...(isBy('key') && { onlyMember: people.seesAll ? undefined : (people.self ?? '') }),
      ...dimensions,
    }
    const page = {
      ...{ order, limit: limit ?? DEFAULT_GROUPS, after: decodePlace(cursor, order) },
      isListed:
        search === undefined || (groupBy !== 'user' && groupBy !== 'tag')
          ? undefined
          : await findGroups(dependencies, accountId, groupBy, search),
    }
    const { query, sums, next, totals } = await usage
      .readRange(accountId, asked, page, { percentiles, hasTotals, signal })
      .catch(refuseDeleted)
    const names = new CallerNames(dependencies, accountId)
    const named = [...sums, ...(totals?.groups ?? [])]
    const groups = await nameGroups(names, dimensions, named)
    const users = query.interval === 'all' ? sums.flatMap(({ group }) => group ?? []) : []
    const lastDays = await usage.findLastDays(accountId, query, users)
    const head = {
      from: toTime(query.fromMs),
      to: toTime(query.toMs),
      interval: query.interval,
      groupBy,
      thenBy: thenBy ?? null,
      onlyUser: onlyUser ?? null,
      nextCursor: next === undefined ? null : encodePlace(next, order),
      ...(hasTotals && {
        total: totals?.total === undefined ? null : toSumBody(totals.total, NO_GROUP),
        groupTotals: (totals?.groups ?? []).map((sum) =>
          toSumBody(sum, { ...groups(sum), lastDay: null }),
        ),
      }),
    }
    const toBody = (sum: UsageSum) => {
      const lastDayMs = sum.group === null ? undefined : lastDays.get(sum.group)
      const lastDay = lastDayMs === undefined ? null : toTime(lastDayMs).slice(0, 10)
      return toSumBody(sum, { ...groups(sum), lastDay })
    }
    return answerInTurns(c, head, { entries: sums, toBody })
  })

  app.openapi(latencyRoute, async (c) => {
    const asked = toRange(c.req.valid('query'))
    const { accountId } = callerOf(c.env)
    new PeopleView(callerOf(c.env), dependencies).assertSeesKey(asked.keyId)
    const { query, steps } = await usage.readLatencies(accountId, asked).catch(refuseDeleted)
    const body = {
      from: toTime(query.fromMs),
      to: toTime(query.toMs),
      interval: query.interval,
      ranges: LATENCY_RANGES,
      data: steps.map(({ startsAt, calls, duration, firstByte }) => ({
        start: toTime(startsAt),
        calls,
        durationMs: [...duration],
        firstByteMs: [...firstByte],
      })),
    }
    return c.json(body, 200)
  })

  app.openapi(refusedRoute, async (c) => {
    const query = toRange({ ...c.req.valid('query'), target: undefined })
    new PeopleView(callerOf(c.env), dependencies).assertSeesKey(query.keyId)
    const sums = await usage.readRefused(callerOf(c.env).accountId, query)
    const body = {
      from: toTime(query.fromMs),
      to: toTime(query.toMs),
      interval: query.interval,
      data: sums.map(({ startsAt, status, errorKind, calls }) => ({
        start: toTime(startsAt),
        status,
        errorKind: ERROR_KINDS.find((kind) => kind === errorKind) ?? null,
        calls,
      })),
    }
    return c.json(body, 200)
  })
}

/** @throws GatewayError `invalid_request` for an invalid or too long range */
function toRange(asked: z.infer<typeof latencyQuery>): Omit<UsageQuery, 'groupBy'> {
  const { from, to, interval, gate, key, target } = asked
  const toMs = Math.min(Math.ceil((to ?? Date.now()) / HOUR_MS) * HOUR_MS, LATEST_HOUR_MS)
  const fromMs = Math.floor((from ?? Math.max(0, toMs - DEFAULT_RANGE_MS)) / HOUR_MS) * HOUR_MS
  checkRange({ fromMs, toMs, isByHour: interval === 'hour' })
  return {
    fromMs,
    toMs,
    interval,
    ...(gate === undefined ? {} : { gateId: gate }),
    ...(key === undefined ? {} : { keyId: key }),
    ...(target === undefined ? {} : { target }),
  }
}

function checkRange(range: {
  readonly fromMs: number
  readonly toMs: number
  readonly isByHour: boolean
}): void {
  const lengthMs = range.toMs - range.fromMs
  if (lengthMs <= 0) throw refuse([{ field: 'from', message: 'must be earlier than to' }])
  if (range.isByHour && lengthMs > LONGEST_BY_HOUR_MS)
    throw refuse([{ field: 'interval', message: 'must be "day" or longer for more than 7 days' }])
  if (lengthMs > LONGEST_MS)
    throw refuse([{ field: 'from', message: 'must be within ten years before to' }])
}

/** @throws GatewayError `invalid_request` for deleted rows; any other error unchanged */
function refuseDeleted(error: unknown): never {
  if (!(error instanceof UsageDeletedError)) throw error
  const oldest = toTime(error.beforeMs)
  // Ranges begin with a whole hour.
  const firstHour = toTime(Math.ceil(error.beforeMs / HOUR_MS) * HOUR_MS)
  switch (error.what) {
    case 'hours':
      throw refuse([
        {
          field: 'interval',
          message: `must be "day" or longer before ${oldest}: older hours are deleted`,
        },
      ])
    case 'users':
      throw refuse([
        { field: 'from', message: `must be ${oldest} or later: older sums by user are deleted` },
      ])
    case 'calls':
      throw refuse([
        {
          field: 'from',
          message:
            `must be ${firstHour} or later: this combination is read from the calls, and older calls ` +
            'are deleted. Older days are known by user alone, by tag alone, or by gate, target, key, ' +
            'status and credential',
        },
      ])
  }
}

function toTime(timeMs: number): string {
  return new Date(timeMs).toISOString()
}

const LEAST_CHARACTERS_OF_ID = 6

/**
 * Users and tags by their stored names, or by a part of the id, as the dashboard shows unnamed ones;
 * a member also by the whole e-mail address.
 */
async function findGroups(
  { callerNames, members }: Pick<ControlPlaneDependencies, 'callerNames' | 'members'>,
  accountId: AccountId,
  kind: 'user' | 'tag',
  search: string,
): Promise<(id: string) => boolean> {
  const text = search.trim().toLowerCase()
  const found = await callerNames.search(accountId, kind, text.split(/\s+/))
  const named = kind === 'user' ? await members.findNamed(accountId, text) : []
  const ids = new Set([...found, ...named.map(({ userId }) => userId)])
  const isOfId = text.length >= LEAST_CHARACTERS_OF_ID
  return (id) => ids.has(id) || (isOfId && id.includes(text))
}

type NamedGroups = Pick<UsageSumBody, 'group' | 'name' | 'thenGroup' | 'thenName'>

/** Groups of some kinds have no names. */
async function nameGroups(
  names: CallerNames,
  { groupBy, thenBy }: Pick<UsageQuery, 'groupBy' | 'thenBy'>,
  sums: readonly UsageSum[],
): Promise<(sum: UsageSum) => NamedGroups> {
  const split = ({ group }: UsageSum): GroupPair =>
    group === null || thenBy === undefined ? [group, null] : toPair(group)
  const pairs = sums.map(split)
  for (const [index, kind] of [groupBy, thenBy].entries()) {
    const groups = new Set(pairs.flatMap((pair) => pair[index] ?? []))
    if (kind === 'key') await names.find(groups)
    if (kind === 'user') await names.findUsers(groups)
    if (kind === 'tag') await names.findTags(groups)
  }
  const nameOf = (group: string | null, kind: UsageGroup | null | undefined) => {
    if (group === null) return null
    if (kind === 'user') return names.userOf(group)
    return kind === 'tag' ? names.tagOf(group) : names.of(group)
  }
  return (sum) => {
    const [group, thenGroup] = split(sum)
    return {
      ...{ group, name: nameOf(group, groupBy) },
      ...{ thenGroup, thenName: nameOf(thenGroup, thenBy) },
    }
  }
}

// A cursor identifies the last group of a page by its rank.

export function encodePlace({ value, group }: GroupPlace, order: GroupOrder): string {
  return Buffer.from(JSON.stringify([order, value, group])).toString('base64url')
}

/** @throws GatewayError `invalid_request` for anything not made by `encodePlace` */
export function decodePlace(cursor: string | undefined, order: GroupOrder): GroupPlace | undefined {
  if (cursor === undefined) return undefined
  const place = cursor.length > LONGEST_CURSOR ? undefined : parsePlace(cursor)
  if (place === undefined || encodePlace(place, order) !== cursor)
    throw refuse([{ field: 'cursor', message: 'is not a cursor of this list and order' }])
  return place
}

/** The names of two groups have up to 300 characters each, and each at most six in JSON. */
const LONGEST_CURSOR = 6_000
/** Less than 63 bits. */
const MOST_OF_DATABASE = 9e18

function parsePlace(cursor: string): GroupPlace | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (!Array.isArray(parsed) || parsed.length !== 3) return undefined
    const [, value, group]: readonly unknown[] = parsed
    if (!Number.isInteger(value) || Math.abs(Number(value)) > MOST_OF_DATABASE) return undefined
    if (group !== null && (typeof group !== 'string' || group.includes('\0'))) return undefined
    return { value: Number(value), group }
  } catch {
    return undefined
  }
}

const NO_GROUP = { group: null, name: null, thenGroup: null, thenName: null, lastDay: null }

function toSumBody(
  sum: UsageSum,
  { lastDay, ...groups }: NamedGroups & Pick<UsageSumBody, 'lastDay'>,
): UsageSumBody {
  return {
    start: toTime(sum.startsAt),
    ...groups,
    isRest: sum.isRest,
    lastDay,
    calls: sum.calls,
    errors: sum.failed,
    refused: sum.refused,
    cancelled: sum.cancelled,
    tokens: {
      input: sum.inputTokens,
      output: sum.outputTokens,
      cachedInput: sum.cachedInputTokens,
      cacheWrite: sum.cacheWriteTokens,
      reasoning: sum.reasoningTokens,
      unreportedCalls: sum.unreported,
    },
    cost: {
      usd: toUsd(sum.costNanoUsd),
      estimatedCalls: sum.costEstimated,
      unknownCalls: sum.costUnknown,
      unpricedCalls: sum.unpriced,
    },
    durationMs: sum.duration,
    firstByteMs: sum.firstByte,
  }
}

// Answers with thousands of entries are encoded and sent in steps, so that calls are served in
// between.

const ENTRIES_PER_STEP = 128

interface ListInTurns<Entry, Body> {
  readonly entries: readonly Entry[]
  toBody(entry: Entry): Body
}

export function answerInTurns<Head extends object, Entry, Body>(
  c: Pick<Context, 'body'>,
  head: Head,
  list: ListInTurns<Entry, Body>,
): Response & TypedResponse<Head & { data: Body[] }, 200, 'json'> {
  const headers = { 'content-type': 'application/json' }
  const { entries, toBody } = list
  const response =
    entries.length <= ENTRIES_PER_STEP
      ? c.body(
          JSON.stringify({ ...head, data: entries.map((entry) => toBody(entry)) }),
          200,
          headers,
        )
      : new StreamedAnswer(sendEach(encodeInTurns(head, list)), { headers })
  // The same bytes as from `c.json`, which would encode all entries at once.
  return response as unknown as Response & TypedResponse<Head & { data: Body[] }, 200, 'json'>
}

async function* encodeInTurns<Entry, Body>(
  head: object,
  { entries, toBody }: ListInTurns<Entry, Body>,
): AsyncGenerator<Uint8Array> {
  const turns = new LoopTurns()
  const encoder = new TextEncoder()
  let before = JSON.stringify({ ...head, data: [] }).slice(0, -2)
  for (let start = 0; start < entries.length; start += ENTRIES_PER_STEP) {
    const some = entries.slice(start, start + ENTRIES_PER_STEP).map((entry) => toBody(entry))
    yield encoder.encode(`${before}${JSON.stringify(some).slice(1, -1)}`)
    before = ','
    await turns.next()
  }
  yield encoder.encode(']}')
}
