/** Links that carry a secret, in a real browser: the secret leaves the address, and the link works. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { BROWSER_TEST_TIMEOUT_MS, OWNER, openBrowser, type Visit } from '../support/chromium.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { untilItHolds } from '../support/until-it-holds.ts'

setDefaultTimeout(BROWSER_TEST_TIMEOUT_MS)

let gatehouse: Gatehouse
let browser: Awaited<ReturnType<typeof openBrowser>>
let visit: Visit
beforeAll(async () => {
  gatehouse = await startGatehouse()
  browser = await openBrowser()
  visit = await browser.visit(gatehouse.url)
})
afterAll(async () => {
  await browser.close()
  await gatehouse.remove()
})

test('the key leaves the address before the page is there, and is in no history', async () => {
  const { page } = visit
  // No script of a page, and no answer, comes before it is gone.
  await page.route('**/v1/auth', async (route) => {
    expect(page.url()).not.toContain('#')
    await route.continue()
  })
  await page.goto(`/dashboard/welcome#key=${gatehouse.key}`)
  await page.getByRole('heading', { name: 'Welcome to Gatehouse' }).waitFor()
  await page.getByLabel('Email').waitFor()
  expect(page.url()).toEndWith('/dashboard/welcome')
  expect(await page.getByLabel('API key').count()).toBe(0)
})

test('the printed link works in a tab that shows its page already', async () => {
  const { page } = visit
  await page.goto('/dashboard/')
  await page.waitForURL('**/dashboard/welcome')
  await page.getByLabel('API key').waitFor()
  // As typed into the address bar: the page is not loaded anew.
  await page.evaluate(`location.hash = 'key=${gatehouse.key}'`)
  await page.getByLabel('API key').waitFor({ state: 'detached' })
  await untilItHolds(async () => expect(page.url()).toEndWith('/dashboard/welcome'))
  await page.getByLabel('Your name').fill(OWNER.name)
  await page.getByLabel('Email').fill(OWNER.email)
  await page.getByLabel('Password', { exact: true }).fill(OWNER.password)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await page.goBack()
  expect(page.url()).not.toContain(gatehouse.key)
})

test('these pages log no error and request nothing from another host', () => {
  expect(visit.complaints).toEqual([])
})
