/** People, sessions and tags in a real browser: in the logs, the analytics and their own pages. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'playwright-core'
import {
  BROWSER_TEST_TIMEOUT_MS,
  enterAsOwner,
  follow,
  openBrowser,
  type Visit,
} from '../support/chromium.ts'
import { type PlannedCall, seedCallerNames, seedPlannedCalls } from '../support/seed-calls.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { untilItHolds } from '../support/until-it-holds.ts'

setDefaultTimeout(BROWSER_TEST_TIMEOUT_MS)

const DAY_MS = 86_400_000
const ANN = 'end:aaaaaaaaaaaaaaaa'
const BOB = 'end:bbbbbbbbbbbbbbbb'
const SESSION = '1'.repeat(16)
const EXPLORE = '2'.repeat(16)
const REVIEW = '3'.repeat(16)
const TEAM = '4'.repeat(16)
const startedAt = Date.now() - 2 * DAY_MS
const ofAnn = { user: ANN, session: SESSION, tags: TEAM }

const PLAN: readonly PlannedCall[] = [
  { startedAt, gate: 'coding', costFactor: 9, caller: ofAnn, inputTokens: 1_200 },
  {
    ...{ startedAt: startedAt + 1_000, gate: 'coding', target: 'owned/small', inputTokens: 40_000 },
    caller: { ...ofAnn, agent: EXPLORE },
  },
  {
    ...{ startedAt: startedAt + 2_000, gate: 'coding', hasFailed: true },
    caller: { ...ofAnn, agent: REVIEW, parentAgent: EXPLORE },
  },
  { startedAt, gate: 'chat', caller: { user: BOB } },
  { startedAt, gate: 'chat' },
]

let folder: TemporaryFolder
let gatehouse: Gatehouse
let browser: Awaited<ReturnType<typeof openBrowser>>
let visit: Visit
let page: Page
beforeAll(async () => {
  folder = await createTemporaryFolder()
  await seedCallerNames(folder.path, 'user', new Map([[ANN, 'ann@example.com']]))
  await seedCallerNames(folder.path, 'tag', new Map([[TEAM, 'team-a']]))
  await seedPlannedCalls(folder.path, PLAN)
  gatehouse = await startGatehouse({ dataFolder: folder.path })
  browser = await openBrowser()
  visit = await browser.visit(gatehouse.url)
  page = visit.page
  await enterAsOwner(page, gatehouse)
})
afterAll(async () => {
  await browser.close()
  await gatehouse.remove()
  await folder.remove()
})

const rowsOf = async (group: string) =>
  await page
    .getByRole('region', { name: `Figures by ${group}` })
    .locator('tbody th')
    .allTextContents()

test('analytics are split by person, session, tag, model and provider', async () => {
  await follow(page, '/analytics?range=7d&show=cost')
  for (const [choice, first] of [
    ['Person', 'ann@example.com'],
    ['Tag', 'team-a'],
    ['Model', 'large'],
    ['Provider', 'owned'],
    ['Session', SESSION],
  ] as const) {
    await page.getByRole('button', { name: choice, exact: true }).click()
    await untilItHolds(async () => expect(await rowsOf(choice.toLowerCase())).toContain(first))
  }
  // Only the API knows which questions about agents have an answer.
  await page.getByRole('button', { name: 'Agent', exact: true }).click()
  await page.getByText('needs session or user for agents').waitFor()
  await page.getByRole('button', { name: 'Person', exact: true }).click()
  await page.getByRole('link', { name: 'ann@example.com' }).click()
  await page.getByRole('link', { name: 'Remove the filter user ann@example.com' }).waitFor()
  await page.getByRole('row', { name: /^coding 3 / }).waitFor()
  await page.getByText('Latencies and refused calls are not summed by person').waitFor()
})

test('the log is filtered by person and tag, and a call names its caller', async () => {
  await page.getByRole('link', { name: 'Single calls in the logs' }).click()
  await page.getByRole('button', { name: 'Remove the filter user ann@example.com' }).waitFor()
  await follow(page, `/logs/req_${(0xffff_ffff).toString(16).padStart(32, '0')}`)
  const call = page.getByRole('complementary', { name: 'Call' })
  await call.getByRole('link', { name: 'ann@example.com' }).waitFor()
  await call.getByRole('link', { name: SESSION }).waitFor()
  await call.getByRole('link', { name: 'team-a' }).click()
  await page.getByRole('button', { name: 'Remove the filter tag team-a' }).waitFor()
})
