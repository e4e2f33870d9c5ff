/**
 * The Models page in a real browser on the real server: found, filtered, sorted, compared, put into
 * a gate, tried; its notice of calls without a price; thousands of rows, empty, failed, long names.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  BROWSER_TEST_TIMEOUT_MS,
  enterAsOwner,
  findAccessibilityFaults,
  follow,
  openBrowser,
  type Visit,
} from '../support/chromium.ts'
import { controlPlaneCall, createGate, waitForLogRow } from '../support/control-plane.ts'
import { CHAT_JSON } from '../support/dialect-samples.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { exampleBodies } from '../support/route-examples.ts'
import { jsonAnswer } from '../support/scripted-answers.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { untilItHolds } from '../support/until-it-holds.ts'

setDefaultTimeout(BROWSER_TEST_TIMEOUT_MS)

const UNPRICED = 'groq/brand-new-model'

let gatehouse: Gatehouse
let upstream: RawUpstream
let browser: Awaited<ReturnType<typeof openBrowser>>
let visit: Visit
beforeAll(async () => {
  upstream = await startRawUpstream()
  upstream.answer(jsonAnswer(200, CHAT_JSON))
  gatehouse = await startGatehouse({
    sandbox: true,
    environment: {
      GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1',
      GATEHOUSE_OPERATOR_API: 'on',
      GROQ_API_KEY: 'none',
      GROQ_BASE_URL: `${upstream.url}/v1`,
    },
  })
  const retiring = 'models: [{ model: groq/retiring-1, retiresOn: 2099-03-01 }]\n'
  await writeFile(join(gatehouse.dataFolder, 'gatehouse.yaml'), retiring)
  expect((await controlPlaneCall(gatehouse, 'POST', '/v1/reload')).status).toBe(200)
  const owned = { ...exampleBodies.createOwnedModel?.(''), slug: 'house' }
  expect((await controlPlaneCall(gatehouse, 'POST', '/v1/owned-models', owned)).status).toBe(201)
  browser = await openBrowser()
  visit = await browser.visit(gatehouse.url)
  await enterAsOwner(visit.page, gatehouse)
})
afterAll(async () => {
  await browser.close()
  await gatehouse.remove()
  await upstream.stop()
})

const rows = () =>
  visit.page.getByRole('region', { name: 'Models', exact: true }).locator('tbody > tr')
const rowOf = (target: string) =>
  rows().filter({ has: visit.page.getByText(target, { exact: true }) })
const listed = async () =>
  await rows().locator('td:first-child code, td:first-child a').allTextContents()

test('the page lists gates, owned models and models with a key, and links to each', async () => {
  const { page } = visit
  await page
    .getByRole('navigation', { name: 'Pages' })
    .getByRole('link', { name: 'Models', exact: true })
    .click()
  await page.getByRole('heading', { name: 'Models', level: 1 }).waitFor()
  await rowOf('sandbox/echo').getByText('platform’s key').waitFor()
  await rowOf('sandbox/echo').getByText('free').waitFor()
  await rowOf('owned/house').getByText('your key').waitFor()
  await rowOf('demo').getByText('gate', { exact: true }).waitFor()
  expect(await listed()).not.toContainEqual(expect.stringMatching(/^openai\//))
  expect(await findAccessibilityFaults(page)).toEqual([])
})

test('search, provider, order and models without a key are in the address', async () => {
  const { page } = visit
  await page.getByRole('checkbox', { name: 'Also providers without a key' }).press('Space')
  await page.waitForURL('**keys=all**')
  await page.getByLabel('Provider', { exact: true }).selectOption('anthropic')
  await rows().first().getByText('anthropic/').waitFor()
  await page.getByRole('searchbox', { name: 'Find a model' }).pressSequentially('OPUS 4')
  await page.waitForURL('**search=OPUS*4**')
  await untilItHolds(async () => {
    const found = await listed()
    expect(found.length).toBeGreaterThan(1)
    expect(found.every((target) => /^anthropic\/.*opus.*4/.test(target))).toBe(true)
  })
  await page.getByLabel('Sort by').selectOption('input')
  await page.reload()
  await rows().first().waitFor()
  expect(await page.getByRole('searchbox', { name: 'Find a model' }).inputValue()).toBe('OPUS 4')
  expect(await page.getByLabel('Provider', { exact: true }).inputValue()).toBe('anthropic')
  expect(await page.getByLabel('Sort by').inputValue()).toBe('input')
  await page.getByRole('searchbox').fill('no such model')
  await page.getByText('No model matches').waitFor()
  await page.getByRole('searchbox').press('Escape')
  await rows().first().waitFor()
  await follow(page, '/models')
  await rowOf('sandbox/echo').waitFor()
  expect(await page.getByRole('searchbox').inputValue()).toBe('')
})

test('up to four models are compared side by side, by keyboard too', async () => {
  const { page } = visit
  const compare = (target: string) =>
    page.getByRole('checkbox', { name: `Compare ${target}`, exact: true })
  const [first = '', second = '', third = '', fourth = '', fifth = ''] = await listed()
  for (const target of [first, second, third, fourth]) await compare(target).press('Space')
  expect(await compare(fifth).isDisabled()).toBe(true)
  const comparison = page.getByRole('region', { name: 'Comparison of models' })
  expect(await comparison.getByRole('columnheader').allTextContents()).toEqual([
    'Fact',
    ...[first, second, third, fourth],
  ])
  await comparison.getByRole('rowheader', { name: 'Context in tokens' }).waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])
  await page.reload()
  await comparison.waitFor()
  await comparison
    .getByRole('button', { name: `Remove ${second} from the comparison` })
    .press('Enter')
  await compare(fifth).and(page.locator(':enabled')).waitFor()
  expect(await compare(second).isChecked()).toBe(false)
  await page.getByRole('button', { name: 'Clear' }).click()
  await comparison.waitFor({ state: 'detached' })
  await page.waitForURL((url) => url.search === '')
})

test('the comparison shows the rules for requests with their sources', async () => {
  const { page } = visit
  await page.getByRole('checkbox', { name: 'Compare sandbox/echo', exact: true }).press('Space')
  const rules = page.getByRole('table', { name: 'Rules for requests to sandbox/echo' })
  await rules.getByRole('row', { name: /maxUserLength.*64/ }).waitFor()
  const source = rules.getByRole('link', { name: /maxUserLength/ })
  expect(await source.getAttribute('href')).toStartWith('https://')
  await page.getByRole('button', { name: 'Clear' }).click()
  await page.waitForURL((url) => url.search === '')
})

test('a model becomes a gate, and is then tried in the playground', async () => {
  const { page } = visit
  await page.getByRole('link', { name: 'Create a gate with sandbox/echo', exact: true }).click()
  await page.getByRole('heading', { name: 'Create a gate' }).waitFor()
  const target = page.getByLabel('Model of target 1', { exact: true })
  expect(await target.inputValue()).toBe('sandbox/echo')
  expect(await page.getByRole('textbox', { name: /^Id/ }).inputValue()).toBe('echo')
  await page.getByRole('button', { name: 'Create the gate' }).click()
  await page.waitForURL('**/gates/echo**')
  await page.goto('/dashboard/models?search=sandbox')
  await page.getByRole('link', { name: 'Try in playground: sandbox/echo', exact: true }).click()
  await page.waitForURL(/playground\?gate=(?:echo|demo)/)
})

test('a model that its provider retires shows the day', async () => {
  const { page } = visit
  await page.goto('/dashboard/models?search=retiring')
  await rowOf('groq/retiring-1').getByText('retires 2099-03-01').waitFor()
})

test('calls without a known price are named, with a way to the log', async () => {
  const { page } = visit
  await createGate(gatehouse, 'new', UNPRICED)
  const response = await controlPlaneCall(gatehouse, 'POST', '/v1/chat/completions', {
    model: 'new',
    messages: [{ role: 'user', content: 'x' }],
  })
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)])
  await waitForLogRow(gatehouse, response.headers.get('x-request-id'))
  await page.goto('/dashboard/models')
  const notice = page.getByRole('region', { name: 'Calls without a known price' })
  await notice.getByText('1 call of the last 30 days ran without a known price').waitFor()
  for (const other of ['/', '/analytics', '/logs', '/models']) {
    await follow(page, other)
    await notice.getByText('1 call of the last 30 days ran without a known price').waitFor()
  }
  expect(await findAccessibilityFaults(page)).toEqual([])
  await notice.getByRole('button', { name: `Set a price of ${UNPRICED}` }).click()
  const dialog = page.getByRole('dialog', { name: `Set a price of ${UNPRICED}` })
  await dialog.getByLabel('Input', { exact: true }).fill('2.5')
  await dialog.getByLabel('Output').fill('-1')
  await dialog.getByText('must be a number of US dollars').waitFor()
  await dialog.getByLabel('Output').fill('10')
  expect(await findAccessibilityFaults(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Set', exact: true }).click()
  await page.getByText('Price set').waitFor()
  const shown = await controlPlaneCall(gatehouse, 'GET', `/v1/provider-models/${UNPRICED}`)
  expect(await shown.json()).toMatchObject({ inputUsdPerMillion: 2.5, outputUsdPerMillion: 10 })
  const echo = { model: 'echo', messages: [{ role: 'user', content: 'x' }] }
  const answered = await controlPlaneCall(gatehouse, 'POST', '/v1/chat/completions', echo)
  expect([answered.status, await answered.text()]).toEqual([200, expect.any(String)])
  await rowOf('sandbox/echo').getByText('healthy').waitFor()
  await notice.getByRole('link', { name: UNPRICED }).click()
  await page.waitForURL('**/logs?target=groq%2Fbrand-new-model')
})

const LONG = `${'a-very-long-name-of-a-model-'.repeat(6)}end`
const made = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    provider: 'sandbox',
    id: index === 0 ? LONG : `model-${index}`,
    name: index === 0 ? LONG : null,
    contextTokens: index * 1_000,
    inputUsdPerMillion: index / 7,
    outputUsdPerMillion: index / 2,
  }))

test('of 3,000 models a hundred are drawn at once, and the search looks at all', async () => {
  const { page } = visit
  await page.route('**/v1/provider-models', (route) =>
    route.fulfill({ json: { data: made(3_000), nextCursor: null } }),
  )
  await page.goto('/dashboard/models')
  await page.getByText(/^3,00\d models$/).waitFor()
  expect(await rows().count()).toBe(100)
  await page.getByRole('button', { name: 'Show more' }).press('Enter')
  await untilItHolds(async () => expect(await rows().count()).toBe(200))
  await page.getByRole('searchbox').fill('model-2999')
  await page.getByText('1 model', { exact: true }).waitFor()
  expect(await listed()).toEqual(['sandbox/model-2999'])
})

test.each([
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
] as const)(
  'in %s at %i px long names fit, and axe finds nothing serious',
  async (colorScheme, width) => {
    const { page } = visit
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 844 })
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor()
    await page.goto(`/dashboard/models?compare=sandbox/${LONG}+sandbox/model-1`)
    await page.getByRole('region', { name: 'Comparison of models' }).waitFor()
    await rows().first().waitFor()
    expect(await findAccessibilityFaults(page)).toEqual([])
    expect(
      await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
    ).toBeLessThanOrEqual(0)
  },
)

test('a failed list says so and is asked again; an account without models is led to a key', async () => {
  const { page } = visit
  await page.unroute('**/v1/provider-models')
  let isFailing = true
  await page.route('**/v1/provider-models', (route) =>
    isFailing ? route.fulfill({ status: 500, json: {} }) : route.fallback(),
  )
  await page.goto('/dashboard/models')
  const again = page.getByRole('button', { name: 'Try again' })
  await again.waitFor()
  isFailing = false
  await again.click()
  await rowOf('sandbox/echo').waitFor()
  for (const list of ['provider-models', 'owned-models', 'gates'])
    await page.route(new RegExp(`/v1/${list}(?:\\?|$)`), (route) =>
      route.fulfill({ json: { data: [], nextCursor: null } }),
    )
  await page.reload()
  await page.getByText('No model can be called yet').waitFor()
  await page.getByRole('link', { name: 'Set a provider key' }).click()
  await page.waitForURL('**/provider-keys')
})

test('these pages log no error and request nothing from another host', () => {
  expect(visit.complaints).toEqual([])
})
