/** Budgets of people in a real browser: on the page of a person, and in the notice of the overview. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'playwright-core'
import {
  BROWSER_TEST_TIMEOUT_MS,
  enterAsOwner,
  follow,
  openBrowser,
  type Visit,
} from '../support/chromium.ts'
import { controlPlaneCall, createGate, waitForLogRow } from '../support/control-plane.ts'
import { findPageFaults } from '../support/page-checks.ts'
import { pollUntil } from '../support/poll-until.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

setDefaultTimeout(BROWSER_TEST_TIMEOUT_MS)

let gatehouse: Gatehouse
let browser: Awaited<ReturnType<typeof openBrowser>>
let visit: Visit
let page: Page
beforeAll(async () => {
  gatehouse = await startGatehouse({ sandbox: true })
  await controlPlaneCall(gatehouse, 'PATCH', '/v1/account/attribution', {
    endUsers: true,
    peopleFigures: 'administrators',
  })
  await createGate(gatehouse, 'coding', 'sandbox/echo')
  for (const user of ['ann', 'bob']) expect(await call(user)).toBe(200)
  await pollUntil('the names of the users', async () => {
    const names = await listUsers()
    return names.includes('ann') && names.includes('bob')
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
})

/** By user, with names, which are stored after the calls. */
async function listUsers(): Promise<readonly (string | null)[]> {
  const path = '/v1/analytics?interval=all&group_by=user'
  const response = await controlPlaneCall(gatehouse, 'GET', path)
  const { data } = (await response.json()) as { data: { name: string | null }[] }
  return data.map(({ name }) => name)
}

async function createBudget(body: object): Promise<void> {
  const response = await controlPlaneCall(gatehouse, 'POST', '/v1/budgets', body)
  expect([response.status, body]).toEqual([201, body])
}

async function call(user: string): Promise<number> {
  const response = await fetch(`${gatehouse.url}/v1/responses`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gatehouse.key}`,
      'content-type': 'application/json',
      'x-gatehouse-user': user,
    },
    body: JSON.stringify({ model: 'coding', input: 'x' }),
  })
  await response.text()
  await waitForLogRow(gatehouse, response.headers.get('x-request-id') ?? '')
  return response.status
}

const budgets = () => page.getByRole('list', { name: 'Budgets' })

async function openPerson(name: string): Promise<void> {
  await follow(page, '/people')
  await page.getByRole('region', { name: 'People' }).getByRole('link', { name }).click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
}

test('a person without a budget is told so', async () => {
  await openPerson('ann')
  await page.getByText('No budget limits this person alone').waitFor()
  expect(await findPageFaults(page)).toEqual([])
})

test('the page of a person shows the budget of each user, and their own in its place', async () => {
  await createBudget({
    ...{ scope: 'each-user', name: 'Everyone, daily', limitTokens: 1, period: 'day' },
    atLimit: 'refuse',
  })
  await createBudget({ scope: 'each-user', name: 'Everyone', limitUsd: 20, period: 'month' })
  await createBudget({ endUser: 'bob', name: 'Bob', limitTokens: 900_000, period: 'day' })
  await createBudget({ endUser: 'carl', name: 'Carl', limitTokens: 1_000, period: 'total' })
  // Calls from before the creation do not count.
  expect(await call('ann')).toBe(200)
  await openPerson('ann')
  const daily = budgets().getByRole('listitem').filter({ hasText: 'Everyone, daily' })
  await daily.getByText('of 1 token a day').waitFor()
  await daily.getByText('Exhausted').waitFor()
  await daily.getByText(/starts again (in|tomorrow)/).waitFor()
  const monthly = budgets().getByRole('listitem').filter({ hasText: 'of $20.00 a month' })
  await monthly.getByRole('meter', { name: 'Used of Everyone' }).waitFor()
  expect(await budgets().getByRole('listitem').count()).toBe(2)
  expect(await findPageFaults(page)).toEqual([])

  // Bob has not called since, and his own budget replaces the daily one all the same.
  await openPerson('bob')
  const own = budgets().getByRole('listitem').filter({ hasText: 'Bob' })
  await own.getByText('of 900K tokens a day').waitFor()
  await monthly.waitFor()
  expect(await budgets().getByRole('listitem').count()).toBe(2)
  expect(await budgets().getByText('Everyone, daily').count()).toBe(0)
  await page.getByRole('link', { name: 'All budgets' }).click()
  await page.waitForURL('**/settings/budgets')
})

test('the overview names the people who are over a budget of each user', async () => {
  await page.goto('/dashboard/')
  const notice = page.getByRole('region', { name: 'Limits that are used up' })
  await notice.getByText('the budget “Everyone, daily” of ann').waitFor()
  await createBudget({ scope: 'each-key', name: 'Keys', limitTokens: 1, period: 'month' })
  expect(await call('dora')).toBe(200)
  await page.goto('/dashboard/')
  await notice.getByText('the budget “Keys” of ', { exact: false }).waitFor()
  await notice.getByText('the budget “Everyone, daily” of 2 users').waitFor()
  expect(await findPageFaults(page)).toEqual([])
  await notice.getByRole('link', { name: '2 users' }).click()
  await page.waitForURL('**/settings/budgets')
})

test('where people are hidden, neither their page nor the overview tells of their budgets', async () => {
  await openPerson('ann')
  const { pathname } = new URL(page.url())
  await follow(page, '/settings')
  await page
    .getByRole('combobox', { name: 'Who sees figures of other people' })
    .selectOption({ value: 'hidden' })
  await page.getByText('Account saved').waitFor()
  await page.goto(pathname)
  await page.getByText('You see only your own figures').waitFor()
  expect(await page.getByText('Everyone').count()).toBe(0)
  await page.goto('/dashboard/')
  const notice = page.getByRole('region', { name: 'Limits that are used up' })
  await notice.getByText('the budget “Keys” of ', { exact: false }).waitFor()
  expect(await notice.getByText('Everyone').count()).toBe(0)
})
