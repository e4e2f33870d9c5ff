/** The documentation inside the dashboard, in a real browser on the real server. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'playwright-core'
import {
  BROWSER_TEST_TIMEOUT_MS,
  enterAsOwner,
  openBrowser,
  type Visit,
} from '../support/chromium.ts'
import { findPageFaults } from '../support/page-checks.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { untilItHolds } from '../support/until-it-holds.ts'

setDefaultTimeout(BROWSER_TEST_TIMEOUT_MS)

let gatehouse: Gatehouse
let browser: Awaited<ReturnType<typeof openBrowser>>
let visit: Visit
let page: Page
beforeAll(async () => {
  gatehouse = await startGatehouse({ sandbox: true })
  browser = await openBrowser()
  visit = await browser.visit(gatehouse.url)
  page = visit.page
  await enterAsOwner(page, gatehouse)
})
afterAll(async () => {
  await browser.close()
  await gatehouse.remove()
})

test('the quick start has this gateway’s address and the chosen gate, for each SDK', async () => {
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Docs' }).click()
  await page
    .getByRole('tabpanel')
    .getByText(`curl ${gatehouse.url}/v1/responses`, { exact: false })
    .waitFor()
  await page.getByRole('radio', { name: 'curl' }).focus()
  await page.keyboard.press('ArrowRight')
  await page.getByRole('tab', { name: 'Python', exact: false }).first().click()
  await page.getByRole('tabpanel').getByText('model="demo"').waitFor()
  await page.getByRole('tabpanel').getByText(`base_url="${gatehouse.url}/v1"`).waitFor()
  await page.getByText('pip install openai').waitFor()
  expect(await findPageFaults(page)).toEqual([])
})

test('every error of the gateway is listed and found', async () => {
  await page.getByRole('navigation', { name: 'Docs' }).getByRole('link', { name: 'Errors' }).click()
  const table = page.getByRole('list', { name: 'Errors' })
  await table.getByText('provider_auth_failed', { exact: true }).waitFor()
  expect(await findPageFaults(page)).toEqual([])
  await page.getByRole('searchbox').fill('429 quota')
  await table.getByText('provider_auth_failed', { exact: true }).waitFor({ state: 'detached' })
  await table.getByText('quota_exceeded', { exact: true }).waitFor()
  // The gateway's own answer.
  const answer = await fetch(`${gatehouse.url}/v1/keys`)
  const { error } = (await answer.json()) as { error: string }
  await page.getByRole('searchbox').fill(`${answer.status} ${error}`)
  await table.getByText(error, { exact: true }).waitFor()
  await page.getByRole('searchbox').fill('teapot')
  await page.getByText('No error matches “teapot”.').waitFor()
})

test('the conformance matrix renders, can be filtered, and names losses', async () => {
  await page
    .getByRole('navigation', { name: 'Docs' })
    .getByRole('link', { name: 'Conformance' })
    .click()
  const matrix = page.getByRole('region', { name: 'Conformance' })
  await matrix.getByRole('columnheader', { name: '/v1/messages' }).waitFor()
  expect(await findPageFaults(page)).toEqual([])
  const all = await matrix.getByRole('row').count()
  expect(all).toBeGreaterThan(20)

  await page.getByRole('searchbox').fill('cohere')
  await matrix
    .getByRole('rowheader', { name: /^Anthropic/ })
    .first()
    .waitFor({ state: 'detached' })
  await matrix
    .getByRole('button', { name: /^\/v1\/chat\/completions to Cohere/ })
    .first()
    .focus()
  await page.keyboard.press('Enter')
  const details = page.getByRole('dialog', { name: /^\/v1\/chat\/completions to Cohere/ })
  await details.getByRole('listitem').filter({ hasText: 'lossy' }).first().waitFor()
  await details.getByText('service_tier').waitFor()
  expect(await findPageFaults(page)).toEqual([])
  await page.keyboard.press('Escape')
  await details.waitFor({ state: 'detached' })

  await page.getByLabel('Feature').selectOption({ label: 'service tier' })
  await matrix.getByText('service_tier').first().waitFor()
  await page.getByRole('searchbox').fill('no such provider')
  await page.getByText('No provider or model matches', { exact: false }).waitFor()
})

test('the API reference opens beside the dashboard', async () => {
  const opened = visit.context.waitForEvent('page')
  await page.getByRole('link', { name: 'API reference' }).click()
  const reference = await opened
  await reference.waitForLoadState()
  expect(new URL(reference.url()).origin).toBe(gatehouse.url)
  expect(new URL(reference.url()).pathname).toBe('/docs')
  await reference.getByRole('heading', { level: 1 }).waitFor()
  const complaints: string[] = []
  reference.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })

  const health = reference.locator('#operations-Service-getHealth')
  await health.getByRole('button', { expanded: false }).first().click()
  await health.getByRole('button', { name: 'Execute' }).click()
  await health.locator('.live-responses-table').getByText('200', { exact: true }).waitFor()
  // The body and the answers stand elsewhere in the description.
  const createKey = reference.locator('#operations-API_keys-createKey')
  await createKey.getByRole('button', { expanded: false }).first().click()
  await createKey.getByRole('tab', { name: 'Schema' }).first().click()
  await createKey.getByText('CreateApiKey', { exact: true }).waitFor()
  await untilItHolds(async () =>
    expect(await createKey.textContent()).not.toContain('#/components'),
  )
  expect(complaints).toEqual([])
  await reference.close()
})

test('these pages log no error and request nothing from another host', () => {
  expect(visit.complaints).toEqual([])
})
