/**
 * The dashboard's requests about callers, over the API of a node, in an account with `size` calls:
 * 1,000,000 calls have 5,000 users, each with an access token, and 88,000 sessions.
 */
import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { cpuMicrosOf } from '../cpu-clock.ts'
import { buildProgram, PROGRAM } from '../program.ts'
import { BOTH, type Figures, type Scenario } from './scenario.ts'
import { seedCallersApart, sessionOf, teamOf, userOf, userOfSession } from './seed-callers.ts'
import { DAY_MS } from './seed-calls.ts'
import { KEY, withNode } from './start-node.ts'
import { type Place, useStore, withPlace } from './with-store.ts'

const HOUR_MS = 3_600_000
const CALLS_PER_USER = 200
const CALLS_PER_SESSION = 1_000_000 / 88_000
const REPETITIONS = 3
/** Bytes that are read of an export; other scenarios read exports to their end. */
const FIRST_BYTES = 20_000

type Page = readonly string[]

/** The concurrent requests of each page. */
function listPages(users: number, sessions: number): Readonly<Record<string, Page>> {
  const hourMs = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS
  const dayMs = Math.floor(Date.now() / DAY_MS) * DAY_MS
  const range = (fromMs: number, toMs = hourMs) =>
    `from=${new Date(fromMs).toISOString()}&to=${new Date(toMs).toISOString()}`
  const [week, month] = [range(hourMs - 7 * DAY_MS), range(dayMs - 29 * DAY_MS)]
  const sums = (...queries: string[]) => queries.map((query) => `/v1/analytics?${query}`)
  const session = sessions - 40
  const user = `user=${encodeURIComponent(userOf(userOfSession(session, users)))}`
  const [tag, ofSession] = [`tag=${teamOf(3)}`, `session=${sessionOf(session)}`]
  const unpriced = `/v1/analytics?${range(hourMs - 30 * DAY_MS)}&interval=all&group_by=target&percentiles=false`
  const refusedOf = (of: string) => `/v1/analytics/refused?${of}&interval=all`
  // The tiles exclude the current hour from the comparison with `earlier`.
  const overview = (of: string, earlier: string, step: string) => [
    ...sums(
      `${of}&interval=${step}&group_by=target&order=cost&percentiles=totals&totals=true`,
      `${earlier}&interval=all&percentiles=true`,
      `${range(hourMs - HOUR_MS)}&interval=all&percentiles=false`,
      ...['user', 'key', 'gate'].map(
        (group) => `${of}&interval=all&group_by=${group}&order=cost&percentiles=false`,
      ),
    ),
    refusedOf(of),
    ...['/v1/logs?limit=1', '/v1/account', '/v1/budgets?limit=200', '/v1/fuse-stops'],
    '/v1/access-tokens?limit=200',
  ]
  const breakdown = (of: string, step: string, group: string, filter = '') =>
    sums(
      group === 'session'
        ? `${of}&interval=all&group_by=session&order=cost&limit=50&totals=true${filter}`
        : `${of}&interval=${step}&group_by=${group}&order=cost&totals=true&percentiles=totals${filter}`,
    )
  /** Without a filter by caller. */
  const analytics = (of: string, step: string, group: string) => [
    ...breakdown(of, step, group),
    refusedOf(of),
    `/v1/analytics/latency?${of}&interval=${step}`,
  ]
  const person = (of: string, step: string) => [
    ...sums(
      `${of}&interval=${step}&percentiles=false&totals=true&${user}`,
      ...['target', 'gate', 'key'].map(
        (group) =>
          `${of}&interval=all&group_by=${group}&order=cost&limit=10&percentiles=false&${user}`,
      ),
    ),
    `/v1/logs?${of}&${user}&outcome=failed&limit=200`,
    `/v1/usage/sessions?${of}&${user}&order=cost&limit=50`,
  ]
  return {
    'overview of 7 days': overview(
      week,
      range(hourMs - 14 * DAY_MS, hourMs - HOUR_MS - 7 * DAY_MS),
      'hour',
    ),
    'overview of 30 days': overview(
      month,
      range(dayMs - 59 * DAY_MS, hourMs - HOUR_MS - 30 * DAY_MS),
      'day',
    ),
    'people of 7 days': sums(`${week}&interval=all&group_by=user&order=cost&limit=100`),
    'people of 30 days': sums(`${month}&interval=all&group_by=user&order=cost&limit=100`),
    'a page of the bill of people': sums(
      `${month}&interval=all&group_by=user&order=cost&limit=1000`,
    ),
    'person, 7 days': person(week, 'hour'),
    'person, 30 days': person(month, 'day'),
    'sessions, latest first': [`/v1/usage/sessions?${month}&order=last&limit=50`],
    'sessions, highest cost first': [`/v1/usage/sessions?${month}&order=cost&limit=50`],
    'sessions of a person': [`/v1/usage/sessions?${month}&order=cost&limit=50&${user}`],
    'a session': [`/v1/usage/sessions/${sessionOf(session)}?limit=100`],
    ...Object.fromEntries(
      ['gate', 'key', 'user', 'session', 'tag', 'model', 'provider'].flatMap((group) => [
        [`analytics by ${group}, 7 days`, analytics(week, 'hour', group)],
        [`analytics by ${group}, 30 days`, analytics(month, 'day', group)],
      ]),
    ),
    'analytics by user and model, 7 days': analytics(week, 'hour', 'user&then_by=model'),
    'analytics by user and model, 30 days': analytics(month, 'day', 'user&then_by=model'),
    'analytics by gate and model, 30 days': analytics(month, 'day', 'gate&then_by=model'),
    'calls without a price, 30 days': [unpriced],
    'a user’s agents, 7 days': breakdown(week, 'hour', 'agent', `&${user}`),
    'a tag’s models, 7 days': breakdown(week, 'hour', 'model', `&${tag}`),
    'a tag’s models, 30 days': breakdown(month, 'day', 'model', `&${tag}`),
    'a tag’s users, 30 days': breakdown(month, 'day', 'user', `&${tag}`),
    'a gate’s users, 7 days': breakdown(week, 'hour', 'user', '&gate=gate-3'),
    'a gate’s users, 30 days': breakdown(month, 'day', 'user', '&gate=gate-3'),
    'a person’s log': [`/v1/logs?${user}&limit=50`],
    'a session’s log': [`/v1/logs?${ofSession}&limit=50`],
    'a tag’s log': [`/v1/logs?${tag}&limit=50`],
    'an agent’s log': [`/v1/logs?${ofSession}&agent=0123456789abcdef&limit=50`],
    'a tag’s log, none': ['/v1/logs?tag=0123456789abcdef&limit=50'],
    'log as CSV, beginning': [`/v1/logs/export?format=csv&${month}`],
    'charges as FOCUS, beginning': [`/v1/usage/export?format=focus&${week}`],
  }
}

const BAR = { type: 'most', most: 1_000 } as const

export const scenario: Scenario = {
  title: 'pages about callers, calls',
  sizes: [100_000, 1_000_000],
  quickSizes: [10_000, 50_000],
  stores: BOTH,
  bars: Object.fromEntries(Object.keys(listPages(1, 100)).map((name) => [`${name}, ms`, BAR])),
  prepare: buildProgram,
  async run(size, name) {
    const callers = {
      calls: size,
      users: Math.ceil(size / CALLS_PER_USER),
      sessions: Math.ceil(size / CALLS_PER_SESSION),
    }
    return await withPlace(
      name,
      async (place) => {
        await seedCallersApart(place, callers)
        return await measurePages(place, callers)
      },
      { isDurable: false },
    )
  },
}

async function measurePages(
  place: Place,
  { users, sessions }: { readonly users: number; readonly sessions: number },
): Promise<Figures> {
  const server = await findServer(place)
  const options = {
    key: KEY,
    program: PROGRAM,
    environment: { GATEHOUSE_MAX_KEYS: '1000000', GATEHOUSE_LOG_LEVEL: 'error' },
  }
  return await withNode(place, options, async ({ url, pid }) => {
    await showPeople(url)
    const cpuMs = () => (cpuMicrosOf(pid) + serverMicros(server)) / 1_000
    const figures: Record<string, number> = {}
    for (const [name, requests] of Object.entries(listPages(users, sessions))) {
      const taken: (readonly [ms: number, cpuMs: number])[] = []
      for (let repetition = 0; repetition < REPETITIONS; repetition += 1) {
        const [startedAt, cpuAt] = [performance.now(), cpuMs()]
        await Promise.all(requests.map((path) => ask(`${url}${path}`)))
        taken.push([performance.now() - startedAt, cpuMs() - cpuAt])
      }
      const median = (of: 0 | 1) =>
        taken.map((pair) => pair[of]).sort((one, other) => one - other)[REPETITIONS >> 1] ?? NaN
      figures[`${name}, ms`] = median(0)
      figures[`${name}, ms of processor`] = median(1)
    }
    return figures
  })
}

/** Without this setting, API keys see no figures of people. */
async function showPeople(url: string): Promise<void> {
  const response = await fetch(`${url}/v1/account/attribution`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ peopleFigures: 'administrators' }),
  })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
}

/** Reads only the beginning of an export, and every other answer to its end. */
async function ask(address: string): Promise<void> {
  const response = await fetch(address, { headers: { authorization: `Bearer ${KEY}` } })
  if (!response.ok) throw new Error(`${address}: ${response.status} ${await response.text()}`)
  const most = address.includes('/export?') ? FIRST_BYTES : Number.POSITIVE_INFINITY
  let bytes = 0
  for await (const part of response.body ?? []) {
    bytes += part.length
    if (bytes >= most) break
  }
}

/** @returns the process id of the Postgres server, whose child processes serve its clients */
async function findServer({ location, environment }: Place): Promise<number | undefined> {
  if (environment.DATABASE_URL === undefined) return undefined
  return await useStore(location, async ({ database }) => {
    const { rows } = await sql<{ folder: string }>`
      SELECT current_setting('data_directory') AS folder`.execute(database)
    const file = readFileSync(`${rows[0]?.folder}/postmaster.pid`, 'utf8')
    return Number(file.split('\n')[0])
  })
}

const MICROS_PER_TICK = 10_000

/** @returns the processor time of the server, including its ended processes */
function serverMicros(server: number | undefined): number {
  if (server === undefined) return 0
  const children = readFileSync(`/proc/${server}/task/${server}/children`, 'utf8').trim()
  const alive = children.split(' ').reduce((sum, pid) => sum + cpuMicrosOf(Number(pid)), 0)
  // Fields 16 and 17 of proc(5) are the times of the reaped children. They follow a name in
  // parentheses, which may contain spaces.
  const fields = readFileSync(`/proc/${server}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return alive + (Number(fields[13]) + Number(fields[14])) * MICROS_PER_TICK
}
