/**
 * The overview in a real browser on the real server: from a fresh account to its first call, then
 * its figures.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page, Request } from 'playwright-core'
import {
  BROWSER_TEST_TIMEOUT_MS,
  findAccessibilityFaults,
  OWNER,
  openBrowser,
  signUpOwner,
  type Visit,
} from '../support/chromium.ts'
import { controlPlaneCall, createGate, waitForLogRow } from '../support/control-plane.ts'
import { findFaultsOfPalettes } from '../support/page-checks.ts'
import { pollUntil } from '../support/poll-until.ts'
import { routePage } from '../support/route-page.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { untilItHolds } from '../support/until-it-holds.ts'

/** Until a page can be used; charts are fetched when they come into view. */
const MAX_FIRST_LOAD_BYTES = 150_000
/**
 * The scripts that came for a chart alone. Both bounds stand in place of one of 250,000 for the two
 * together.
 */
const MAX_CHARTS_BYTES = 120_000

const RENEWED_AFTER_MS = 10_000
/** For the first call, before there is one. */
const LOOKS_AGAIN_AFTER_MS = 2_000

setDefaultTimeout(BROWSER_TEST_TIMEOUT_MS)

let gatehouse: Gatehouse
let browser: Awaited<ReturnType<typeof openBrowser>>
let visit: Visit
beforeAll(async () => {
  gatehouse = await startGatehouse({ sandbox: true })
  browser = await openBrowser()
  visit = await browser.visit(gatehouse.url, { hasMotion: true })
  // Time goes on as ever, and can be made to leap.
  await visit.page.clock.install()
})
afterAll(async () => {
  await browser.close()
  await gatehouse.remove()
})

/** Resolves when the call is in the log, and so in the sums. */
async function call(gate: string): Promise<number> {
  const response = await fetch(`${gatehouse.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gatehouse.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: gate, messages: [{ role: 'user', content: 'hello' }] }),
  })
  await response.text()
  await waitForLogRow(gatehouse, response.headers.get('x-request-id') ?? '')
  return response.status
}

/** The library that draws the charts names its parts so. */
const OF_CHARTS = 'recharts-'

/**
 * Compressed bytes of all scripts that the page asked for meanwhile, and whether one of them draws
 * charts.
 */
async function weighScripts(
  page: Page,
  open: () => Promise<unknown>,
): Promise<{ readonly bytes: number; readonly hasCharts: boolean }> {
  const paths = new Set<string>()
  const collect = (request: Request) => {
    if (request.resourceType() === 'script') paths.add(request.url())
  }
  page.on('request', collect)
  await open()
  page.off('request', collect)
  let bytes = 0
  let hasCharts = false
  for (const path of paths) {
    const response = await fetch(path, {
      headers: { 'accept-encoding': 'gzip' },
      decompress: false,
    })
    const sent = await response.arrayBuffer()
    const isPacked = response.headers.get('content-encoding') === 'gzip'
    // Smaller files gain nothing by it.
    if (sent.byteLength > 512) expect({ path, isPacked }).toEqual({ path, isPacked: true })
    bytes += sent.byteLength
    const text = new TextDecoder().decode(isPacked ? Bun.gunzipSync(new Uint8Array(sent)) : sent)
    hasCharts ||= text.includes(OF_CHARTS)
  }
  expect(paths.size).toBeGreaterThan(0)
  return { bytes, hasCharts }
}

/**
 * Animations that go on for ever: each draws the window sixty times a second, for as long as the
 * page is open.
 */
const countEndless = (page: Page) =>
  page.evaluate(
    'document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime === Infinity).length',
  )

const firstSteps = () => visit.page.getByRole('list', { name: 'First steps' })
const callStep = () => firstSteps().getByRole('listitem').last()

test('a new account sees its first steps, and the last one turns green when the call arrives', async () => {
  const { page } = visit
  await signUpOwner(page, gatehouse.key)
  await callStep().getByText('Waiting for a call').waitFor()
  // The sandbox, its gate and the first key come with the start: the user has done nothing yet.
  expect(await firstSteps().getByText('Done:').count()).toBe(0)
  await createGate(gatehouse, 'support', 'sandbox/echo')
  await page.clock.fastForward(LOOKS_AGAIN_AFTER_MS)
  await firstSteps().getByText('support').first().waitFor()
  await untilItHolds(async () => expect(await firstSteps().getByText('Done:').count()).toBe(1))
  await controlPlaneCall(gatehouse, 'DELETE', '/v1/gates/support')
  await page.clock.fastForward(LOOKS_AGAIN_AFTER_MS)
  await untilItHolds(async () => expect(await firstSteps().getByText('Done:').count()).toBe(0))
  const snippet = callStep().getByRole('tabpanel')
  await snippet.getByText(`${gatehouse.url}/v1/chat/completions`).waitFor()
  await snippet.getByText('"model": "demo"').waitFor()
  await page.getByRole('tab', { name: 'curl' }).press('ArrowRight')
  await snippet.getByText(`baseURL: "${gatehouse.url}/v1"`).waitFor()
  await page.getByRole('tab', { name: 'OpenAI TypeScript' }).press('ArrowRight')
  await snippet.getByText(`base_url="${gatehouse.url}/v1"`).waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])
  await untilItHolds(async () => expect(await countEndless(page)).toBe(0))

  expect(await call('demo')).toBe(200)
  await page.clock.fastForward(LOOKS_AGAIN_AFTER_MS)
  await callStep().getByText('The first call was answered with 200').waitFor()
  await callStep().getByText('Done:').waitFor({ state: 'attached' })
  await page.getByRole('button', { name: 'Close' }).click()
  await firstSteps().waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('tab', { name: /^Calls/ }).waitFor()
  expect(await firstSteps().count()).toBe(0)
})

test('figures follow the calls without a reload, and stop when paused', async () => {
  const { page } = visit
  for (let count = 0; count < 2; count += 1) await call('demo')
  await page.clock.fastForward(RENEWED_AFTER_MS)
  await page.getByRole('tab', { name: /^Calls\s*3/ }).waitFor()
  // The button for it spins meanwhile.
  await untilItHolds(async () => expect(await countEndless(page)).toBe(0))
  await page.getByRole('button', { name: 'Live' }).click()
  await page.getByRole('button', { name: 'Paused' }).waitFor()
  await call('demo')
  await page.clock.fastForward(2 * RENEWED_AFTER_MS)
  expect(await page.getByRole('tab', { name: /^Calls\s*3/ }).count()).toBe(1)
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.getByRole('tab', { name: /^Calls\s*4/ }).waitFor()
})

test('the chart, its table of figures and the range are reached by keyboard', async () => {
  const { page } = visit
  const calls = page.getByRole('tab', { name: /^Calls/ })
  await calls.focus()
  await calls.press('ArrowLeft')
  await page.getByRole('figure', { name: 'Tokens over time' }).waitFor()
  await page.getByRole('tab', { name: /^Tokens/ }).press('ArrowRight')
  const chart = page.getByRole('figure', { name: 'Calls over time' }).getByRole('application')
  // Not all of them are in one step when an hour began meanwhile.
  await untilItHolds(async () =>
    expect(await chart.getAttribute('aria-label')).toMatch(/Calls: at most [1-4],/),
  )
  // It listens once it has been drawn.
  const tooltip = page.locator('.recharts-tooltip-wrapper').getByText('Calls', { exact: true })
  await pollUntil(
    'the figures of a step',
    async () => {
      await chart.press('ArrowLeft')
      return await tooltip.isVisible()
    },
    { intervalMs: 250, timeoutMs: 60_000 },
  )
  await page.getByRole('button', { name: 'as a table' }).press('Enter')
  const rows = page.getByRole('figure').getByRole('row')
  await untilItHolds(async () => expect(await rows.count()).toBe(7 * 24 + 1))
  const callsByHour = await rows.locator('td:nth-child(2)').allTextContents()
  expect(callsByHour.reduce((sum, text) => sum + Number(text), 0)).toBe(4)
  await page.getByRole('button', { name: '30 d' }).press('Enter')
  await page.waitForURL('**/dashboard/?range=30d')
  await untilItHolds(async () => expect(await rows.count()).toBe(31))
  await page.getByRole('button', { name: 'Custom' }).press('Enter')
  await page.getByLabel('From').fill('2026-01-01')
  await page.getByLabel('To', { exact: true }).fill('2026-01-02')
  await page.getByRole('button', { name: 'Show', exact: true }).press('Enter')
  await page.waitForURL('**range=custom**')
  // The past does not change: nothing is live there.
  await page.getByRole('button', { name: 'Paused' }).waitFor({ state: 'detached' })
})

test('a chart loads when it comes into view, and again after a failure; printing gets its figures', async () => {
  const low = await browser.visit(gatehouse.url, { viewport: { width: 390, height: 320 } })
  const { page } = low
  await low.context.addCookies(await visit.context.cookies())
  const figure = page.getByRole('figure', { name: 'Calls over time' })
  const first = await weighScripts(page, async () => {
    await page.goto('/dashboard/')
    await figure.getByRole('status', { name: 'Loading the chart' }).waitFor()
    await page.waitForLoadState('networkidle')
  })
  expect(first.hasCharts).toBe(false)
  expect(first.bytes).toBeLessThan(MAX_FIRST_LOAD_BYTES)
  process.stdout.write(`gzip: overview without its chart ${first.bytes} B\n`)
  const heightOf = async () => (await figure.boundingBox())?.height
  const before = await heightOf()

  await page.evaluate("dispatchEvent(new Event('beforeprint'))")
  expect(await figure.getByRole('row').count()).toBe(7 * 24 + 1)
  await page.evaluate("dispatchEvent(new Event('afterprint'))")
  await figure.getByRole('row').first().waitFor({ state: 'detached' })

  await routePage(page, '**/assets/*.js', (route) => route.abort())
  await figure.scrollIntoViewIfNeeded()
  await figure.getByRole('alert').getByText('The table has its figures').waitFor()
  await page.unroute('**/assets/*.js')
  const charts = await weighScripts(page, async () => {
    await figure.getByRole('button', { name: 'Try again' }).click()
    await figure.getByRole('application').waitFor()
    await page.waitForLoadState('networkidle')
  })
  expect(charts.hasCharts).toBe(true)
  expect(charts.bytes).toBeLessThan(MAX_CHARTS_BYTES)
  process.stdout.write(`gzip: the scripts of the charts alone ${charts.bytes} B\n`)
  // Whole calls, each told once.
  const labels = figure.locator('.recharts-yAxis-tick-labels text')
  await labels.nth(1).waitFor()
  const ticks = await labels.allTextContents()
  expect(new Set(ticks).size).toBe(ticks.length)
  // Elements below have not moved.
  await untilItHolds(async () => expect(await heightOf()).toBe(before))
  expect(low.complaints).toEqual([])
  await low.close()
})

test('the top entries lead to their analytics', async () => {
  const { page } = visit
  await page.goto('/dashboard/')
  await page.getByRole('link', { name: 'demo', exact: true }).click()
  await page.waitForURL('**/analytics?**gate=demo**')
})

test('the page is accessible in both palettes, and fits a phone', async () => {
  const narrow = await browser.visit(gatehouse.url, {
    viewport: { width: 390, height: 844 },
    hasMotion: true,
  })
  const { page } = narrow
  const signIn = await weighScripts(page, async () => {
    await page.goto('/dashboard/sign-in')
    await page.waitForLoadState('networkidle')
  })
  await page.getByLabel('Email').fill(OWNER.email)
  await page.getByLabel('Password').fill(OWNER.password)
  await page.keyboard.press('Enter')
  const figure = page.getByRole('figure')
  await figure.scrollIntoViewIfNeeded()
  await page.getByRole('application').waitFor()
  await page.goto('/dashboard/')
  await figure.scrollIntoViewIfNeeded()
  await page.getByRole('application').waitFor()
  expect(signIn.bytes).toBeLessThan(MAX_FIRST_LOAD_BYTES)
  expect(signIn.hasCharts).toBe(false)
  process.stdout.write(`gzip: sign-in ${signIn.bytes} B\n`)
  await untilItHolds(async () =>
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true),
  )
  await page.evaluate(`fades = 0; addEventListener('transitionrun', () => {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) fades += 1
  })`)
  expect(await findFaultsOfPalettes(page)).toEqual([])
  // A reader without motion gets the other palette at once.
  expect(await page.evaluate('fades')).toBe(0)
  expect(narrow.complaints).toEqual([])
  await narrow.close()
})

test('these pages log no error and request nothing from another host', () => {
  expect(visit.complaints).toEqual([])
})
