/**
 * Lists and tables of usage in a real browser: in the order of the figure that is shown, with all
 * groups within reach.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'playwright-core'
import {
  BROWSER_TEST_TIMEOUT_MS,
  enterAsOwner,
  follow,
  openBrowser,
  type Visit,
} from '../support/chromium.ts'
import { findPageFaults } from '../support/page-checks.ts'
import { type PlannedCall, seedKeys, seedPlannedCalls } from '../support/seed-calls.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { untilItHolds } from '../support/until-it-holds.ts'

setDefaultTimeout(BROWSER_TEST_TIMEOUT_MS)

const DAY_MS = 86_400_000
const KEYS = 60
const keyOf = (index: number) => `key_${String(index).padStart(2, '0')}`
const nameOf = (index: number) => `Team ${String(index).padStart(2, '0')}`

/** The more calls a key has, the less each costs; the dearest has one and is the last by calls. */
const PLAN: readonly PlannedCall[] = Array.from({ length: KEYS }, (_, index) => index).flatMap(
  (index) =>
    Array.from({ length: index === KEYS - 1 ? 1 : 2 + (index % 2) }, () => ({
      startedAt: Date.now() - 2 * DAY_MS,
      gate: index % 2 === 0 ? 'cheap' : 'busy',
      target: index % 2 === 0 ? 'owned/small' : 'owned/large',
      keyId: keyOf(index),
      costFactor: index === KEYS - 1 ? 1_000 : 1,
    })),
)

let folder: TemporaryFolder
let gatehouse: Gatehouse
let browser: Awaited<ReturnType<typeof openBrowser>>
let visit: Visit
let page: Page
beforeAll(async () => {
  folder = await createTemporaryFolder()
  const key = `sk-svc-${'5e'.repeat(32)}`
  const names = new Map(Array.from({ length: KEYS }, (_, index) => [keyOf(index), nameOf(index)]))
  await seedKeys(folder.path, names, new Map([[keyOf(0), key]]))
  await seedPlannedCalls(folder.path, PLAN)
  gatehouse = await startGatehouse({ dataFolder: folder.path, key })
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

const topOf = async (title: string) =>
  await page
    .getByRole('list', { name: title })
    .getByRole('listitem')
    .locator('a[title]')
    .first()
    .textContent()
const rowsOf = async (group: string) =>
  await page
    .getByRole('region', { name: `Figures by ${group}` })
    .locator('tbody th')
    .allTextContents()

test('the overview opens on spend by model, gate or key; its lists follow the chosen figure', async () => {
  await follow(page, '/?range=7d')
  await untilItHolds(async () => expect(await topOf('Top keys')).toBe(nameOf(KEYS - 1)))
  const spend = page.getByRole('figure', { name: 'Spend over time' })
  const legend = spend.getByRole('list', { name: 'Legend' })
  const by = page.getByRole('combobox', { name: 'Spend by' })
  for (const [choice, named] of [
    ['By gate', 'busy'],
    ['By key', nameOf(KEYS - 1)],
    ['By model', 'owned/large'],
  ] as const) {
    await by.selectOption(choice)
    await legend.getByText(named, { exact: true }).waitFor()
  }
  await page.getByRole('tab', { name: /^Spend/ }).focus()
  for (const _ of ['tokens', 'calls']) await page.keyboard.press('ArrowRight')
  await untilItHolds(async () => expect(await topOf('Top keys')).toBe(nameOf(1)))
  for (const _ of ['tokens', 'spend']) await page.keyboard.press('ArrowLeft')
  await untilItHolds(async () => expect(await topOf('Top keys')).toBe(nameOf(KEYS - 1)))
  const dearest = page.getByRole('list', { name: 'Top keys' }).getByRole('listitem').first()
  await dearest.getByText('1 call', { exact: true }).waitFor()
  await page.getByRole('tab', { name: /^Errors/ }).click()
  await untilItHolds(async () =>
    expect(await page.getByText('No failed calls in this range').count()).toBe(3),
  )
  expect(await findPageFaults(page)).toEqual([])
})

test('the table follows the chosen figure, and its address is short', async () => {
  await follow(page, '/analytics?range=7d&by=key')
  await untilItHolds(async () => expect((await rowsOf('key')).at(0)).toBe(nameOf(1)))
  expect((await rowsOf('key')).at(-1)).toBe('All others')
  expect(await rowsOf('key')).not.toContain(nameOf(KEYS - 1))
  await page.getByRole('combobox', { name: 'Which figure' }).selectOption('Cost')
  await untilItHolds(async () => expect((await rowsOf('key')).at(0)).toBe(nameOf(KEYS - 1)))
  expect(new URL(page.url()).searchParams.get('sort')).toBeNull()
  await page
    .getByRole('columnheader', { name: 'Cost' })
    .and(page.locator('[aria-sort=descending]'))
    .waitFor()
  // Another column is the reader's choice, and stays with the same figure drawn.
  await page.getByRole('button', { name: 'Calls', exact: true }).press('Enter')
  await untilItHolds(async () => expect((await rowsOf('key')).at(0)).toBe(nameOf(1)))
})

test('all groups are within reach, on the page and in the file', async () => {
  await follow(page, '/analytics?range=7d&by=key&show=cost')
  await page.getByRole('button', { name: 'Show more' }).press('Enter')
  await untilItHolds(async () => expect(await rowsOf('key')).toHaveLength(KEYS))
  await follow(page, '/analytics?range=7d&by=key&show=cost')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV' }).click(),
  ])
  const lines = (await Bun.file((await download.path()) ?? '').text()).trimEnd().split('\r\n')
  expect(lines).toHaveLength(KEYS + 1)
  expect(lines[1]).toStartWith(`${nameOf(KEYS - 1)},${keyOf(KEYS - 1)},1,0,`)
  expect(lines.join('\n')).not.toContain('All others')
})

test('these pages fit a phone', async () => {
  await page.setViewportSize({ width: 390, height: 844 })
  for (const path of ['/?range=7d', '/analytics?range=7d&by=key&show=cost']) {
    await follow(page, path)
    await untilItHolds(async () =>
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true),
    )
  }
})

test('these pages log no error and request nothing from another host', () => {
  expect(visit.complaints).toEqual([])
})
