/**
 * The analytics in a real browser on the real server: told apart, picked out, sorted, shared by
 * address, taken along as CSV.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import {
  BROWSER_TEST_TIMEOUT_MS,
  enterAsOwner,
  OWNER,
  openBrowser,
  type Visit,
} from '../support/chromium.ts'
import { controlPlaneCall, createGate, waitForLogRow } from '../support/control-plane.ts'
import { findFaultsOfPalettes } from '../support/page-checks.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { untilItHolds } from '../support/until-it-holds.ts'

setDefaultTimeout(BROWSER_TEST_TIMEOUT_MS)

let gatehouse: Gatehouse
let browser: Awaited<ReturnType<typeof openBrowser>>
let visit: Visit
beforeAll(async () => {
  gatehouse = await startGatehouse({ sandbox: true })
  await createGate(gatehouse, 'broken', 'sandbox/500', { maxRetries: 0 })
  const made = await controlPlaneCall(gatehouse, 'POST', '/v1/keys', { name: '=cmd|danger' })
  const { key } = (await made.json()) as { key: string }
  for (const gate of ['demo', 'demo', 'broken']) await call(gate, key)
  browser = await openBrowser()
  visit = await browser.visit(gatehouse.url)
  await enterAsOwner(visit.page, gatehouse)
})
afterAll(async () => {
  await browser.close()
  await gatehouse.remove()
})

async function call(gate: string, key: string): Promise<void> {
  const response = await fetch(`${gatehouse.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: gate, messages: [{ role: 'user', content: 'hello' }] }),
  })
  await response.text()
  await waitForLogRow(gatehouse, response.headers.get('x-request-id'))
}

const names = async (group: string) =>
  await visit.page
    .getByRole('region', { name: `Figures by ${group}` })
    .locator('tbody th')
    .allTextContents()

test('calls are split by gate, sorted by any column, and filtered by one gate', async () => {
  const { page } = visit
  await page.getByRole('navigation').getByRole('link', { name: 'Analytics' }).click()
  await page.getByRole('row', { name: /^demo 2 / }).waitFor()
  await untilItHolds(async () => expect(await names('gate')).toEqual(['demo', 'broken']))
  await page.getByRole('row', { name: /^broken 1 1 100%/ }).waitFor()
  await page.getByRole('row', { name: /^Total 3 1/ }).waitFor()
  await page.getByRole('button', { name: 'Error rate' }).press('Enter')
  await page.waitForURL('**sort=errorRate**')
  // The address changes before the table does.
  await untilItHolds(async () => expect(await names('gate')).toEqual(['broken', 'demo']))
  await page
    .getByRole('columnheader', { name: 'Error rate' })
    .and(page.locator('[aria-sort=descending]'))
    .waitFor()
  await page.getByRole('link', { name: 'broken' }).click()
  await page.getByRole('row', { name: /^sandbox\/500 1 / }).waitFor()
  await page.getByRole('button', { name: 'Status' }).press('Enter')
  await page.getByRole('row', { name: /^5xx failed/ }).waitFor()
})

test('a reopened address shows the same view', async () => {
  const { page } = visit
  const address = page.url()
  expect(new URL(address).searchParams.get('gate')).toBe('broken')
  await page.goto('/dashboard/keys')
  await page.goto(address)
  await page.getByRole('row', { name: /^5xx failed/ }).waitFor()
  await page.getByRole('link', { name: 'Remove the filter gate broken' }).click()
  await page.getByRole('row', { name: /^2xx succeeded 2/ }).waitFor()
})

test('the table is downloaded as CSV, with formula-like names as text', async () => {
  const { page } = visit
  await page.getByRole('button', { name: 'Key', exact: true }).click()
  await page.getByRole('row', { name: /^=cmd/ }).waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV' }).click(),
  ])
  expect(download.suggestedFilename()).toMatch(
    /^gatehouse-key-\d{4}-\d{2}-\d{2}-\d{4}-\d{2}-\d{2}\.csv$/,
  )
  const [head, row] = (await Bun.file((await download.path()) ?? '').text()).split('\r\n')
  expect(head).toStartWith('key,key_id,calls,errors,error_rate,input_tokens')
  expect(row).toMatch(/^"'=cmd\|danger",key_\w+,3,1,/)
})

test('the heat map is walked by arrow keys, and shown as a table', async () => {
  const { page } = visit
  const map = page.getByRole('application', { name: /^Duration of calls over time\. 3 calls/ })
  await map.focus()
  // The last step is the running hour, in which all calls were made.
  await map.press('ArrowRight')
  await page.getByText(/ms.*: \d+ calls?, .*of this step/).waitFor()
  await page.getByRole('button', { name: 'Show the latencies as a table' }).press('Enter')
  await page.getByRole('region', { name: 'Duration of calls as a table' }).waitFor()
  await page.getByRole('combobox', { name: 'Which time' }).selectOption('Time to first token')
  await page.getByRole('region', { name: 'Time to first token of calls as a table' }).waitFor()
})

test('the page is accessible in both palettes, and fits a phone', async () => {
  const { page, context } = visit
  await page.setViewportSize({ width: 390, height: 844 })
  await context.clearCookies()
  await page.goto('/dashboard/sign-in?returnTo=%2Fdashboard%2Fanalytics%3Fgate%3Ddemo')
  await page.getByLabel('Email').fill(OWNER.email)
  await page.getByLabel('Password').fill(OWNER.password)
  await page.keyboard.press('Enter')
  await page.getByRole('application', { name: /^Calls by gate/ }).waitFor()
  await page.getByRole('application', { name: /^Duration/ }).waitFor()
  await untilItHolds(async () =>
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true),
  )
  expect(await findFaultsOfPalettes(page)).toEqual([])
})

test('the chosen breakdown is in view on a phone', async () => {
  const { page } = visit
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto('/dashboard/analytics?by=provider')
  const box = await page.getByRole('button', { name: 'Provider', exact: true }).boundingBox()
  expect(box?.x).toBeGreaterThan(0)
  expect((box?.x ?? 390) + (box?.width ?? 0)).toBeLessThanOrEqual(390)
})

test('these pages log no error and request nothing from another host', () => {
  expect(visit.complaints).toEqual([])
})
