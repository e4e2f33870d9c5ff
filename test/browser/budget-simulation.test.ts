/** Budgets are simulated in the dashboard, also before they are created. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import {
  BROWSER_TEST_TIMEOUT_MS,
  enterAsOwner,
  follow,
  openBrowser,
  type Visit,
} from '../support/chromium.ts'
import { controlPlaneCall, createGate } from '../support/control-plane.ts'
import { seedPlannedCalls } from '../support/seed-calls.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { untilItHolds } from '../support/until-it-holds.ts'

setDefaultTimeout(BROWSER_TEST_TIMEOUT_MS)

const DAY_MS = 86_400_000
const RETAINED_DAYS = 100
const AGES_DAYS = [3, 20, 60, 95]

let folder: TemporaryFolder
let gatehouse: Gatehouse
let browser: Awaited<ReturnType<typeof openBrowser>>
let visit: Visit
let page: Page
beforeAll(async () => {
  folder = await createTemporaryFolder()
  const dataFolder = join(folder.path, 'data')
  await mkdir(dataFolder)
  const nowMs = Date.now()
  await seedPlannedCalls(
    dataFolder,
    AGES_DAYS.map((days) => ({ startedAt: nowMs - days * DAY_MS, gate: 'demo' })),
  )
  gatehouse = await startGatehouse({
    ...{ sandbox: true, dataFolder },
    environment: { GATEHOUSE_RETENTION_DAYS: String(RETAINED_DAYS) },
  })
  browser = await openBrowser()
  visit = await browser.visit(gatehouse.url)
  page = visit.page
  await enterAsOwner(page, gatehouse)
})
afterAll(async () => {
  expect(visit.complaints).toEqual([])
  await browser.close()
  await gatehouse.remove()
  await folder.remove()
})

const admitted = (calls: number) =>
  page.getByText(new RegExp(` ${calls} calls? \\(\\$[\\d.]+\\) would have been admitted`))

/** Whether the window shows the lowest line of the result. */
const isResultInSight = async () =>
  await page
    .getByRole('list', { name: 'Limitations' })
    .evaluate(
      (list) =>
        list.getBoundingClientRect().bottom <=
        (list.closest('[role=dialog]')?.getBoundingClientRect().bottom ?? 0),
    )

test('a new budget is simulated in its form, over a range to choose, and then created', async () => {
  await follow(page, '/settings/budgets')
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await page.getByRole('button', { name: 'Create a budget' }).first().click()
  const dialog = page.getByRole('dialog')
  const simulate = dialog.getByRole('button', { name: 'Simulate' })
  await simulate.click()
  await dialog.getByText('Fill in what the budget limits and its limit first.').waitFor()
  expect(asked.filter((url) => url.includes('simul'))).toEqual([])

  await dialog.getByLabel('Limits').selectOption('The whole account')
  await dialog.getByLabel('Counted in').selectOption('Tokens, in and out')
  await dialog.getByLabel('Limit in tokens').fill('1,000,000,000')
  await dialog.getByLabel('Period', { exact: true }).selectOption('Once, for good')
  await simulate.click()
  await admitted(AGES_DAYS.length).waitFor()
  await untilItHolds(async () => expect(await isResultInSight()).toBe(true))
  expect(asked.some((url) => url.includes('budget-simulation'))).toBe(true)
  const range = dialog.getByLabel('Calls of')
  expect(await range.getByRole('option').allTextContents()).toEqual([
    ...['All calls in the log', 'The last 7 days', 'The last 30 days', 'The last 90 days'],
  ])
  for (const [index, days] of [7, 30, 90].entries()) {
    await range.selectOption(`The last ${days} days`)
    await admitted(index + 1).waitFor()
  }

  await dialog.getByLabel('Period', { exact: true }).selectOption('Each month')
  await dialog.getByText('The form has changed. Simulate again.').waitFor()
  await simulate.click()
  await range.selectOption(`All calls in the log (${RETAINED_DAYS} days)`)
  await admitted(AGES_DAYS.length).waitFor()

  const budgets = await controlPlaneCall(gatehouse, 'GET', '/v1/budgets')
  expect(await budgets.json()).toMatchObject({ data: [] })
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('region', { name: 'Budgets' }).getByText('of 1B tokens').waitFor()
})

test('a stored budget is simulated in its own time zone, and a range without calls is named', async () => {
  const budget = { name: 'Zoned', gateId: 'demo', limitUsd: 5, timeZone: 'Asia/Tokyo' }
  const made = await controlPlaneCall(gatehouse, 'POST', '/v1/budgets', {
    ...budget,
    period: 'day',
  })
  expect(made.status).toBe(201)
  await createGate(gatehouse, 'unused', 'sandbox/echo')
  await controlPlaneCall(gatehouse, 'POST', '/v1/budgets', {
    ...{ name: 'Unused', gateId: 'unused', limitUsd: 5, period: 'total' },
  })
  // A list is asked for anew when its page opens.
  await follow(page, '/settings/webhooks')
  await follow(page, '/settings/budgets')
  const asking = page.waitForRequest((request) => request.url().endsWith('/v1/budgets/simulate'))
  await page.getByRole('button', { name: 'Simulate Zoned' }).click()
  expect((await asking).postDataJSON()).toMatchObject({ timeZone: 'Asia/Tokyo' })
  await admitted(1).waitFor()
  await page.keyboard.press('Escape')

  await page.getByRole('button', { name: 'Simulate Unused' }).click()
  await page.getByText('The log has no call that this budget counts in this time.').waitFor()
})
