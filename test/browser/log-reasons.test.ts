/** The log in a real browser: why each attempt failed, and which limit refused a call. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'playwright-core'
import {
  BROWSER_TEST_TIMEOUT_MS,
  enterAsOwner,
  openBrowser,
  type Visit,
} from '../support/chromium.ts'
import { controlPlaneCall, createGate, waitForLogRow } from '../support/control-plane.ts'
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

async function call(model: string): Promise<{ readonly id: string; readonly status: number }> {
  const response = await controlPlaneCall(gatehouse, 'POST', '/v1/chat/completions', {
    model,
    messages: [{ role: 'user', content: 'hello' }],
  })
  await response.text()
  const id = response.headers.get('x-request-id') ?? ''
  await waitForLogRow(gatehouse, id)
  return { id, status: response.status }
}

const details = () => page.getByRole('complementary', { name: 'Call' })

test('an attempt that failed is red with its reason, whatever status it had', async () => {
  const targets = [
    { model: 'sandbox/bad-json' },
    { model: 'sandbox/500' },
    { model: 'sandbox/echo' },
  ]
  await controlPlaneCall(gatehouse, 'POST', '/v1/gates', { id: 'shaky', targets, maxRetries: 0 })
  const { id } = await call('shaky')
  await page.goto(`/dashboard/logs/${id}`)
  const attempts = details().getByRole('list', { name: 'Attempts' }).getByRole('listitem')
  await untilItHolds(async () => expect(await attempts.count()).toBe(3))
  await attempts.nth(0).getByText('Failed: upstream error (bad upstream answer)').waitFor()
  await attempts.nth(1).getByText('Failed: upstream error', { exact: true }).waitFor()
  const colors = await attempts
    .locator('span.text-xs')
    .evaluateAll((spans) => spans.map((span) => [span.textContent, span.className]))
  expect(colors).toEqual([
    ['200', expect.stringContaining('text-danger')],
    ['500', expect.stringContaining('text-danger')],
    ['200', expect.stringContaining('text-ok')],
  ])
  expect(await attempts.nth(2).getByText('Failed').count()).toBe(0)
  await details().getByText('first key').waitFor()
  expect(await findPageFaults(page)).toEqual([])
})

test('the row of a refused call says which budget refused it', async () => {
  await createGate(gatehouse, 'tight', 'sandbox/echo')
  await controlPlaneCall(gatehouse, 'POST', '/v1/budgets', {
    name: 'Team tight',
    gateId: 'tight',
    limitTokens: 1,
    period: 'day',
  })
  let refused = await call('tight')
  for (let nth = 0; refused.status !== 429 && nth < 3; nth += 1) refused = await call('tight')
  expect(refused.status).toBe(429)
  await page.goto('/dashboard/logs?gate=tight&outcome=failed')
  const row = page.getByRole('row').filter({ hasText: '429' }).first()
  await row.getByText('by budget “Team tight”').waitFor()
  await row.getByRole('link').click()
  const link = details().getByRole('link', { name: 'budget “Team tight”' })
  expect(await link.getAttribute('href')).toBe('/dashboard/settings/budgets')
  await page.setViewportSize({ width: 390, height: 844 })
  await link.waitFor()
  expect(await findPageFaults(page)).toEqual([])
  await page.setViewportSize({ width: 1_280, height: 900 })
})

test('parameters of other programs in the address are ignored', async () => {
  await page.goto('/dashboard/logs?utm_source=x&gclid=1&gate=shaky')
  await page.getByRole('row').filter({ hasText: 'shaky' }).first().waitFor()
  await page.getByRole('button', { name: 'Remove the filter gate shaky' }).press('Enter')
  await page.getByRole('row').filter({ hasText: 'tight' }).first().waitFor()
  expect(await page.getByRole('button', { name: 'Clear all' }).count()).toBe(0)
  for (const path of ['/', '/analytics', '/gates', '/settings/audit-log']) {
    await page.goto(`/dashboard${path}?utm_source=x`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    expect(await page.getByRole('alert').allTextContents()).toEqual([])
  }
})

test('one field finds gates, keys and parts of targets, by keyboard', async () => {
  await page.goto('/dashboard/logs?outcome=succeeded')
  await page.getByRole('row').filter({ hasText: 'shaky' }).first().waitFor()
  const field = page.getByLabel('Search calls by request id, gate, key or target')
  for (const [word, chip] of [
    ['TIGHT', 'gate tight'],
    ['first key', 'key first key'],
    ['Echo', 'target with Echo'],
  ] as const) {
    await page.locator('body').press('/')
    await field.and(page.locator(':focus')).waitFor()
    await field.fill(word)
    await field.press('Enter')
    await page.getByRole('button', { name: `Remove the filter ${chip}` }).waitFor()
    // One search takes the place of the last, and other filters stay.
    expect(await page.getByRole('button', { name: /^Remove the filter/ }).count()).toBe(2)
    await field.blur()
  }
  await page.getByRole('row').filter({ hasText: 'sandbox/echo' }).first().waitFor()
})

test('these pages log no error and request nothing from another host', () => {
  expect(visit.complaints).toEqual([])
})
