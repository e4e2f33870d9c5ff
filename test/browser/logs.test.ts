/**
 * The log in the dashboard, in a real browser on the real server, over a hundred thousand calls of
 * the past.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'playwright-core'
import {
  BROWSER_TEST_TIMEOUT_MS,
  enterAsOwner,
  findAccessibilityFaults,
  openBrowser,
  type Visit,
} from '../support/chromium.ts'
import { controlPlaneCall, waitForLogRow } from '../support/control-plane.ts'
import { FAILED_EVERY, SEEDED_GATES, seedCalls } from '../support/seed-calls.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'
import { untilItHolds } from '../support/until-it-holds.ts'
import { watchInteractions } from '../support/watch-interactions.ts'

setDefaultTimeout(BROWSER_TEST_TIMEOUT_MS)

const SEEDED = 100_000
/** The largest number of rows in the page, whatever the list's length. */
const MAX_ROWS_IN_PAGE = 100

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>
let gatehouse: Gatehouse
let browser: Awaited<ReturnType<typeof openBrowser>>
let visit: Visit
let fallbackCallId: string

beforeAll(async () => {
  folder = await createTemporaryFolder()
  await seedCalls(folder.path, SEEDED)
  gatehouse = await startGatehouse({ sandbox: true, dataFolder: folder.path })
  const targets = [{ model: 'sandbox/500' }, { model: 'sandbox/echo' }]
  await controlPlaneCall(gatehouse, 'POST', '/v1/gates', { id: 'unsteady', targets })
  fallbackCallId = await call('unsteady')
  await waitForLogRow(gatehouse, fallbackCallId)
  browser = await openBrowser()
  visit = await browser.visit(gatehouse.url)
  await enterAsOwner(visit.page, gatehouse)
})
afterAll(async () => {
  await browser.close()
  await gatehouse.remove()
  await folder.remove()
})

async function call(model: string): Promise<string> {
  const response = await controlPlaneCall(gatehouse, 'POST', '/v1/responses', {
    model,
    input: 'hello',
  })
  await response.text()
  expect(response.status).toBe(200)
  return response.headers.get('x-request-id') ?? ''
}

const rowsOf = (page: Page) =>
  page.getByRole('grid', { name: 'Calls' }).locator('tbody').getByRole('row')
const details = (page: Page) => page.getByRole('complementary', { name: 'Call' })

async function openLogs(page: Page, search = ''): Promise<void> {
  await page.goto(`/dashboard/logs${search}`)
  await rowsOf(page).first().waitFor()
}

test('a call that fell back shows two attempts, and its details the time of each part', async () => {
  const { page } = visit
  await page.getByRole('navigation').getByRole('link', { name: 'Logs' }).click()
  await page
    .getByText('Prompts and completions are not stored, by design', { exact: false })
    .waitFor()
  const row = rowsOf(page).filter({ hasText: 'unsteady' })
  await row.getByText('2 × attempts').waitFor()
  await row.getByRole('link').click()
  await page.waitForURL(`**/dashboard/logs/${fallbackCallId}`)

  const attempts = details(page).getByRole('list', { name: 'Attempts' }).getByRole('listitem')
  await untilItHolds(async () =>
    expect(await attempts.allTextContents()).toEqual([
      expect.stringMatching(
        /^1\.sandbox\/500500Failed: upstream errorAsked (?:at once|after .+), took .+/,
      ),
      expect.stringMatching(/^2\.sandbox\/echo200Asked after (?:<1|\d).+, took .+/),
    ]),
  )
  for (const text of [
    'First token after',
    'first key',
    'openai-responses, whole answer',
    fallbackCallId,
  ]) {
    await details(page).getByText(text, { exact: false }).first().waitFor()
  }
  await details(page).getByText('such a call costs nothing').waitFor()
  const links = details(page).getByRole('link')
  expect(await links.nth(0).getAttribute('href')).toBe('/dashboard/gates/unsteady')
  expect(await links.nth(1).getAttribute('href')).toBe('/dashboard/playground?gate=unsteady')
  expect(await findAccessibilityFaults(page)).toEqual([])
  await page.keyboard.press('Escape')
  await details(page).waitFor({ state: 'detached' })
  await untilItHolds(async () => expect(await page.title()).toBe('Logs · Gatehouse'))
})

test('filters go into the address, narrow the list, name faults, and are removed by their chips', async () => {
  const { page } = visit
  await openLogs(page)
  await page.getByLabel('Outcome').selectOption('failed')
  await page.getByLabel('Gate', { exact: true }).selectOption('unsteady')
  await page.getByText('No call passes these filters').waitFor()
  expect(new URL(page.url()).searchParams.get('outcome')).toBe('failed')

  await page.getByRole('button', { name: 'Remove the filter gate unsteady' }).click()
  await rowsOf(page).filter({ hasText: '504 upstream timeout' }).first().waitFor()
  expect(await rowsOf(page).filter({ hasText: 'succeeded' }).count()).toBe(0)
  await page.getByLabel('Error').selectOption('upstream_timeout')
  await page.waitForURL('**errorKind=upstream_timeout**')
  await page.keyboard.press('Escape')
  // A row of the list before would be gone when it is opened.
  await page.getByRole('grid').and(page.locator('[aria-busy=false]')).waitFor()
  await rowsOf(page).first().waitFor()
  await page.getByRole('grid').focus()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await details(page).getByText('The provider was silent for longer', { exact: false }).waitFor()
  await details(page).getByText('key_of_the_p… (deleted)').waitFor()
  await page.getByRole('button', { name: 'Clear all' }).click()
  await page.waitForURL('**/dashboard/logs')
})

test('a moment stands within its column, by a clock of twelve hours too', async () => {
  const chromium = visit.context.browser()
  const american = await chromium?.newContext({
    locale: 'en-US',
    storageState: await visit.context.storageState(),
    viewport: { width: 1_280, height: 900 },
  })
  if (american === undefined) throw new Error('no browser')
  try {
    const page = await american.newPage()
    await page.goto(`${gatehouse.url}/dashboard/logs`)
    const cell = rowsOf(page).first().locator('td').first()
    expect(await cell.textContent()).toMatch(/\d{2}\s[AP]M$/)
    const widths =
      "['scrollWidth', 'clientWidth'].map((width) => document.querySelector('tbody td')[width])"
    const [text, column] = (await page.evaluate(widths)) as [number, number]
    expect(text).toBeLessThanOrEqual(column)
  } finally {
    await american.close()
  }
})

test('a target that cannot be one is named as such in its field, which keeps it to be mended', async () => {
  const { page } = visit
  await openLogs(page)
  const target = page.getByLabel('Target', { exact: true })
  await target.fill('sandbox/schnöde')
  await target.press('Enter')
  const problem = page.getByRole('alert').filter({ hasText: 'all ASCII' })
  await problem.waitFor()
  expect(await target.inputValue()).toBe('sandbox/schnöde')
  expect(new URL(page.url()).search).toBe('')
  expect(await findAccessibilityFaults(page)).toEqual([])

  await target.fill('sandbox/schnoede')
  await target.press('Tab')
  await page.getByText('No call passes these filters').waitFor()
  await problem.waitFor({ state: 'detached' })
})

test('a hundred thousand calls are read by scrolling and by keys, with few rows in the page', async () => {
  const { page } = visit
  await openLogs(page)
  const watch = await watchInteractions(page)
  const status = page.getByRole('status').filter({ hasText: 'loaded' })
  const scrollToEnd = () =>
    page
      .getByRole('grid')
      .evaluate((grid) => grid.parentElement?.scrollTo({ top: Number.MAX_SAFE_INTEGER }))
  for (let loaded = 200; loaded < 2_000; loaded += 200) {
    await scrollToEnd()
    await status
      .getByText(`${new Intl.NumberFormat('en-GB').format(loaded + 200)} calls loaded`)
      .waitFor()
    expect(await rowsOf(page).count()).toBeLessThan(MAX_ROWS_IN_PAGE)
  }
  await page.getByRole('grid').focus()
  for (let step = 0; step < 30; step += 1)
    await page.keyboard.press(step % 2 === 0 ? 'j' : 'ArrowDown')
  // Moving by keys begins with the newest call, wherever the list was.
  const active = page.getByRole('grid').locator('[aria-selected=true]')
  await active.and(page.locator('[aria-rowindex="31"]')).waitFor()
  // Presses that arrive together, as where the page is slow, are each a step.
  await page.evaluate(`for (const key of ['j', 'j', 'j', 'k', 'k', 'j'])
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))`)
  await active.and(page.locator('[aria-rowindex="33"]')).waitFor()
  await page.keyboard.press('Enter')
  await details(page).getByRole('list', { name: 'Attempts' }).waitFor()
  for (const part of ['400 × $2.50 / 1M', '800 × $0.25 / 1M', '300 × $10.00 / 1M']) {
    await details(page).getByText(part).waitFor()
  }
  const opened = page.url()
  await page.keyboard.press('k')
  await page.waitForURL((url) => url.href !== opened)
  await details(page).getByRole('button', { name: 'Older call (j)' }).click()
  await page.waitForURL(opened)
  await page.keyboard.press('Escape')
  await details(page).waitFor({ state: 'detached' })

  await page.keyboard.press('/')
  await page
    .getByLabel('Search calls by request id, gate, key or target')
    .and(page.locator(':focus'))
    .waitFor()
  await page.keyboard.press('Escape')
  await page.getByLabel('Gate', { exact: true }).selectOption('demo')
  await page.getByText('No call passes these filters').waitFor()
  await page.getByRole('button', { name: 'Clear all' }).click()
  await rowsOf(page).first().waitFor()
  expect(await rowsOf(page).count()).toBeLessThan(MAX_ROWS_IN_PAGE)
  // For the reader of the output: nothing is asserted of times.
  process.stdout.write(`interactions over ${SEEDED} calls: ${await watch.describe()}\n`)
})

test('new calls appear on top while live, and do not move the row being read', async () => {
  const { page } = visit
  await openLogs(page)
  await page.getByRole('switch', { name: 'Live' }).click()
  const first = await call('demo')
  await page.locator(`#log-${first}`).waitFor()
  expect(await rowsOf(page).first().getAttribute('id')).toBe(`log-${first}`)

  const grid = page.getByRole('grid')
  await grid.evaluate((element) => element.parentElement?.scrollTo({ top: 2_000 }))
  // The rows of the top are gone once the list has followed.
  await page.locator(`#log-${first}`).waitFor({ state: 'detached' })
  const read = rowsOf(page).nth(15)
  const readId = `#${await read.getAttribute('id')}`
  const before = await page.locator(readId).boundingBox()
  expect(before).not.toBeNull()
  const others = [await call('demo'), await call('demo')]
  await page.getByRole('button', { name: '2 new' }).waitFor()
  await untilItHolds(async () => expect(await page.locator(readId).boundingBox()).toEqual(before))
  await page.getByRole('button', { name: '2 new' }).click()
  for (const id of others) await page.locator(`#log-${id}`).waitFor()
  await page.getByRole('button', { name: '2 new' }).waitFor({ state: 'detached' })
  await page.keyboard.press('l')
  await page.getByRole('switch', { name: 'Live', checked: false }).waitFor()
})

test('a call is opened by its pasted id, and one without a row is explained', async () => {
  const { page, context } = visit
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.goto(`/dashboard/logs/${fallbackCallId}`)
  await details(page).getByRole('button', { name: 'Copy the id' }).click()
  await details(page).getByRole('button', { name: 'Copied' }).waitFor()
  await openLogs(page, '?gate=support')
  const field = page.getByLabel('Search calls by request id, gate, key or target')
  await field.fill('größer')
  await page.keyboard.press('Enter')
  await page.getByText('No gate or key has this name', { exact: false }).waitFor()
  await field.fill('x-request-id: ')
  await page.keyboard.press('Control+v')
  await page.waitForURL(`**/dashboard/logs/${fallbackCallId}?gate=support`)
  await details(page).getByRole('list', { name: 'Attempts' }).waitFor()
  await page.goto(`/dashboard/logs/req_${'0'.repeat(32)}`)
  await page.getByText('No such call in the log').waitFor()
})

test('filtered calls are downloaded, all of them', async () => {
  const { page } = visit
  await openLogs(page, `?gate=${SEEDED_GATES[0]}&outcome=failed`)
  for (const [name, head] of [
    ['CSV', 1],
    ['NDJSON', 0],
  ] as const) {
    const trigger = page.getByRole('button', { name: 'Export' })
    await page.getByRole('menu').waitFor({ state: 'detached' })
    await trigger.click()
    const downloading = page.waitForEvent('download')
    await page
      .getByRole('menuitem', { name, exact: false })
      .filter({ hasText: new RegExp(`^${name}`) })
      .click()
    const download = await downloading
    expect(download.suggestedFilename()).toBe(`gatehouse-logs.${name.toLowerCase()}`)
    const lines = (await Bun.file(await download.path()).text()).trimEnd().split('\n')
    expect(lines).toHaveLength(head + countFailed(0))
  }
})

test('a call has a whole page on a phone, and nothing scrolls sideways', async () => {
  const { page } = visit
  await page.setViewportSize({ width: 390, height: 844 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await openLogs(page, '?outcome=failed')
  const fits = () =>
    untilItHolds(async () =>
      expect(
        await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        ),
      ).toBeLessThanOrEqual(0),
    )
  await fits()
  await page.getByRole('button', { name: 'Filters' }).click()
  await page.getByLabel('Time', { exact: true }).selectOption('custom')
  await page.getByLabel('From').waitFor()
  await fits()
  expect(await findAccessibilityFaults(page)).toEqual([])
  await rowsOf(page).first().getByRole('link').click()
  await details(page).getByRole('heading', { name: 'Call' }).and(page.locator(':focus')).waitFor()
  await page.getByRole('grid').waitFor({ state: 'hidden' })
  await fits()
  expect(await findAccessibilityFaults(page)).toEqual([])
  await details(page).getByRole('button', { name: 'Close (Esc)' }).click()
  await rowsOf(page).first().waitFor()

  await page.setViewportSize({ width: 1_280, height: 900 })
  await rowsOf(page).first().getByRole('link').click()
  await details(page).getByText('504', { exact: false }).first().waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])
})

test('an empty list explains that calls of unknown keys are never in the log', async () => {
  const { page } = visit
  const askNobody = (key: string) =>
    fetch(`${gatehouse.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'nobodys-gate', input: 'hello' }),
    })
  const refused = await askNobody(gatehouse.key)
  expect(refused.status).toBe(404)
  const unknown = await askNobody(`sk-svc-${'0'.repeat(64)}`)
  expect(unknown.status).toBe(401)
  await waitForLogRow(gatehouse, refused.headers.get('x-request-id') ?? '')

  await openLogs(page, '?status=404')
  await rowsOf(page).filter({ hasText: 'nobodys-gate' }).first().waitFor()
  await page.goto('/dashboard/logs?status=401')
  await page.getByText('No call passes these filters').waitFor()
  await page
    .getByText('The log also contains refused calls, except those with an unknown key.')
    .waitFor()
})

test('these pages log no error and request nothing from another host', () => {
  expect(visit.complaints).toEqual([])
})

/** How many of the seeded calls of a gate failed. */
function countFailed(gate: number): number {
  let count = 0
  for (let number = FAILED_EVERY - 1; number < SEEDED; number += FAILED_EVERY) {
    if (number % SEEDED_GATES.length === gate) count += 1
  }
  return count
}
