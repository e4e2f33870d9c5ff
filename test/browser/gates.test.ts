/**
 * Gates in the dashboard, in a real browser on the real server: built, called, tested, reordered,
 * refused, deleted and brought back.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'playwright-core'
import {
  BROWSER_TEST_TIMEOUT_MS,
  enterAsOwner,
  findAccessibilityFaults,
  follow,
  openBrowser,
  type Visit,
} from '../support/chromium.ts'
import { controlPlaneCall, createGate } from '../support/control-plane.ts'
import { findPageFaults } from '../support/page-checks.ts'
import { pollUntil } from '../support/poll-until.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { untilItHolds } from '../support/until-it-holds.ts'

setDefaultTimeout(BROWSER_TEST_TIMEOUT_MS)

let gatehouse: Gatehouse
let browser: Awaited<ReturnType<typeof openBrowser>>
let visit: Visit
beforeAll(async () => {
  gatehouse = await startGatehouse({ sandbox: true })
  browser = await openBrowser()
  visit = await browser.visit(gatehouse.url, { hasMotion: true })
  await enterAsOwner(visit.page, gatehouse)
})
afterAll(async () => {
  await browser.close()
  await gatehouse.remove()
})

interface Answer {
  readonly status: number
  readonly target: string | null
  readonly text: string
}

async function call(model: string): Promise<Answer> {
  const response = await controlPlaneCall(gatehouse, 'POST', '/v1/responses', {
    model,
    input: 'hello',
  })
  return {
    status: response.status,
    target: response.headers.get('x-gatehouse-target'),
    text: await response.text(),
  }
}

async function targetsOf(id: string): Promise<string[]> {
  const gate = (await (await controlPlaneCall(gatehouse, 'GET', `/v1/gates/${id}`)).json()) as {
    targets: { model: string }[]
  }
  return gate.targets.map(({ model }) => model)
}

const picker = (page: Page) => page.getByRole('combobox', { name: 'Add a target' })

async function addTarget(page: Page, target: string): Promise<void> {
  await picker(page).fill(target)
  await page.getByRole('option', { name: target }).first().waitFor()
  await picker(page).press('Enter')
}

/** The list of models has no more than these. */
const SHOWN = 40

const modelOf = (page: Page, place: number) =>
  page.getByLabel(`Model of target ${place}`, { exact: true })

test('a target without calls since the start is shown as not seen, with the time of the start', async () => {
  const { page } = visit
  const sentence = /^ ?No call to this target since the restart of this node, .*\(.*\)\.$/
  await follow(page, '/gates/demo')
  const target = page.getByRole('list', { name: 'Targets' }).getByRole('listitem').first()
  await target.getByText('not seen since restart', { exact: true }).waitFor()
  await target.locator('time').waitFor()
  await follow(page, '/gates')
  const row = page.getByRole('row', { name: /demo/ })
  await row.getByText('not seen since restart', { exact: true }).waitFor()
  await row.getByText(sentence).waitFor({ state: 'attached' })
  await page.getByText('Health is what this node has seen').locator('time').waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])
})

test('each target shows the losses of the callers’ formats there', async () => {
  const { page } = visit
  await createGate(gatehouse, 'lossy', ['anthropic/claude-sonnet-4-5', 'groq/llama-3.3-70b'])
  await follow(page, '/gates/lossy')
  const row = (place: number) =>
    page
      .getByRole('list', { name: 'Targets' })
      .locator(':scope > li')
      .nth(place - 1)
  const { data } = (await (await controlPlaneCall(gatehouse, 'GET', '/v1/conformance')).json()) as {
    data: {
      endpoint: string
      targets: { provider: string; models: string[] }[]
      results: Record<string, { verdict: string }>
    }[]
  }
  const chat = data.find(
    ({ endpoint, targets }) =>
      endpoint === '/v1/chat/completions' &&
      targets.some(
        ({ provider, models }) => provider === 'anthropic' && models.includes('claude-sonnet-4-5'),
      ),
  )
  const lost = Object.values(chat?.results ?? {}).filter(
    ({ verdict }) => !['relayed', 'lossless'].includes(verdict),
  )
  expect(lost.length).toBeGreaterThan(0)
  const summary = row(1).getByText(`lossy from /v1/chat/completions (${lost.length}), /v3/chat`)
  await summary.press('Enter')
  await row(1).getByRole('definition').filter({ hasText: 'nothing is lost' }).waitFor()
  await row(1).getByRole('listitem').filter({ hasText: 'log probabilities: ' }).first().waitFor()
  await row(2)
    .getByText(/^lossy from \/v1\/messages/)
    .waitFor()
  expect(await findPageFaults(page)).toEqual([])
})

test('a gate with a fallback is built, answers from the second target, and health and test say so', async () => {
  const { page } = visit
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Gates' }).click()
  await page.getByRole('link', { name: 'Create a gate' }).first().click()

  await page.getByRole('textbox', { name: 'Id' }).fill('.support')
  await page.getByText('must be 1 to 64 letters').waitFor()
  await page.getByRole('textbox', { name: 'Id' }).fill('support')
  await page.getByText('must be 1 to 64 letters').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Create the gate' }).click()
  await page.getByText('must name at least one target').first().waitFor()

  await addTarget(page, 'sandbox/500')
  await addTarget(page, 'sandbox/echo')
  expect(await findAccessibilityFaults(page)).toEqual([])
  await page.getByRole('button', { name: 'Create the gate' }).click()
  await page.getByRole('button', { name: 'Run the test' }).waitFor()
  expect(await targetsOf('support')).toEqual(['sandbox/500', 'sandbox/echo'])

  const answer = await call('support')
  expect(answer).toMatchObject({
    status: 200,
    text: expect.stringContaining('Sandbox echo: hello'),
  })

  await page.getByRole('button', { name: 'Run the test' }).click()
  const results = page.getByRole('region', { name: 'Results of the test' })
  const failed = results.getByRole('row', { name: /sandbox\/500/ })
  await failed.getByText('failed', { exact: true }).waitFor()
  await failed.getByText('upstream_error').waitFor()
  await failed.getByText('502', { exact: true }).waitFor()
  const ok = results.getByRole('row', { name: /sandbox\/echo/ })
  await ok.getByText('ok', { exact: true }).waitFor()
  await ok.getByText(/\d+ in · \d+ out/).waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])

  await page.getByRole('link', { name: 'Gates' }).last().click()
  const row = page.getByRole('row', { name: /support/ })
  const [first, second] = [row.getByRole('listitem').nth(0), row.getByRole('listitem').nth(1)]
  await first.getByText('failing').waitFor()
  await second.getByText('healthy').waitFor()
  await page
    .getByText('Health is what this node has seen of each target since it started')
    .locator('time')
    .waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])
})

test('a gate that lives on its fallback says so with share and reason, in the list and on its page', async () => {
  const { page } = visit
  await createGate(gatehouse, 'leaning', ['sandbox/429', 'sandbox/echo'])
  await call('leaning')
  // The list that the page has is from before this gate.
  await page.goto('/dashboard/gates')
  const row = page.getByRole('row', { name: /leaning/ })
  await row.getByText('100% on fallback').waitFor()
  await row.getByText('sandbox/429 was asked too often (429).').waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])
  await follow(page, '/gates/leaning')
  const notice = page.getByRole('region', { name: 'Calls on a fallback' })
  await notice.getByText('answered 1 of the last 1 call.').waitFor()
  await notice.getByText('sandbox/429 was asked too often (429).').waitFor()
  await notice.locator('time').waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])
})

test('the picker offers current models first, and flags an unlisted one as unknown', async () => {
  const { page } = visit
  await follow(page, '/gates/new')
  await picker(page).fill('anthropic/claude-')
  const options = page.getByRole('option')
  await options.nth(5).waitFor()
  const names = await options.locator('code').allTextContents()
  const placeOf = (part: string) => names.findIndex((name) => name.includes(part))
  expect(placeOf('opus-4-5')).toBeGreaterThanOrEqual(0)
  expect(placeOf('opus-4-5')).toBeLessThan(placeOf('3-haiku'))

  await picker(page).fill('anthropic/claude-of-tomorrow')
  const option = page.getByRole('option', { name: 'anthropic/claude-of-tomorrow' })
  await option.getByText('unknown model').waitFor()
  await picker(page).press('Enter')
  const row = page.getByRole('list', { name: 'Targets' }).getByRole('listitem').first()
  await row.getByText('unknown model').waitFor()
  await addTarget(page, 'sandbox/echo')
  await page.getByRole('button', { name: 'Remove target 1' }).click()
  await page.getByText('unknown model').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Remove target 1' }).click()
  expect(await findAccessibilityFaults(page)).toEqual([])
})

test('the second and third model of a list are chosen by pointer and keys, and typed text stays', async () => {
  const { page } = visit
  const catalog = ['/v1/providers', '/v1/provider-models'].map((path) =>
    page.waitForResponse((response) => new URL(response.url()).pathname === path),
  )
  await page.goto('/dashboard/gates/new')
  await page.getByRole('textbox', { name: 'Id' }).fill('chosen')
  // Two words, also where they are read out.
  await page
    .getByRole('textbox', { name: 'Description optional', exact: true })
    .fill('typed before')
  const models = page.getByRole('listbox', { name: 'Models' }).getByRole('option')
  const open = async () => {
    await picker(page).click()
    await models.nth(3).waitFor()
  }
  for (const answered of catalog) await (await answered).finished()
  const nameOf = async (index: number) =>
    (await models.nth(index).locator('code').textContent()) ?? ''
  const isActive = (index: number) =>
    models.nth(index).and(page.locator('[aria-selected=true]')).waitFor()
  await open()
  // The list changes until all of the catalog is in it: then the first are those that can be
  // called.
  await models.nth(SHOWN - 1).waitFor({ state: 'attached' })
  await models.first().getByText('no key').waitFor({ state: 'detached' })
  const [second, third] = [await nameOf(1), await nameOf(2)]
  expect(new Set([await nameOf(0), second, third]).size).toBe(3)

  for (const index of [1, 2, 1]) {
    await models.nth(index).hover()
    await isActive(index)
  }
  await models.nth(1).click()
  await modelOf(page, 1).waitFor()
  await open()
  await models.nth(2).click()
  await modelOf(page, 2).waitFor()

  await open()
  await page.mouse.move(0, 0)
  // With nothing typed, none is chosen at first.
  for (const [key, index] of [
    ['ArrowDown', 0],
    ['ArrowDown', 1],
    ['ArrowDown', 2],
    ['ArrowUp', 1],
  ] as const) {
    await page.keyboard.press(key)
    await isActive(index)
  }
  await page.keyboard.press('Enter')
  await modelOf(page, 3).waitFor()
  // Beyond the first is the last, which is far below.
  await open()
  const last = (await models.count()) - 1
  await page.keyboard.press('ArrowUp')
  await isActive(last)
  await page.keyboard.press('ArrowDown')
  await isActive(0)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await isActive(2)
  await page.keyboard.press('Enter')
  await modelOf(page, 4).waitFor()

  expect(await page.getByLabel('Description').inputValue()).toBe('typed before')
  await page.getByRole('button', { name: 'Create the gate' }).click()
  await page.getByRole('button', { name: 'Run the test' }).waitFor()
  expect(await targetsOf('chosen')).toEqual([second, third, second, third])
  expect(visit.complaints).toEqual([])
})

test('targets are reordered by keys and buttons, unsaved changes are guarded, and saving shows its effect', async () => {
  const { page } = visit
  await createGate(gatehouse, 'order', ['sandbox/echo', 'sandbox/slow', 'sandbox/500'])
  await follow(page, '/gates/order')
  await modelOf(page, 3).waitFor()

  await page.getByRole('button', { name: 'Move target 1', exact: true }).focus()
  await page.keyboard.press('Space')
  await page.getByText('Lifted sandbox/echo, at place 1 of 3.').waitFor()
  // It listens for arrows a moment after it has been lifted; a press that was one too many is taken
  // back.
  await pollUntil(
    'the target to have moved',
    async () => {
      if (await page.getByText('The target is now at place 2 of 3.').isVisible()) return true
      const isTooFar = await page.getByText('Now at place 3 of 3.').isVisible()
      await page.keyboard.press(isTooFar ? 'ArrowUp' : 'ArrowDown')
      return undefined
    },
    { intervalMs: 250, timeoutMs: 60_000 },
  )
  await page.keyboard.press('Space')
  await page.getByText('Put sandbox/echo down at place 2 of 3.').waitFor()
  const isModel = (place: number, model: string) =>
    untilItHolds(async () => expect(await modelOf(page, place).inputValue()).toBe(model))
  await isModel(1, 'sandbox/slow')

  await page.getByRole('button', { name: 'Move target 3 up' }).click()
  await isModel(2, 'sandbox/500')
  await page.getByRole('radio', { name: /Weighted/ }).check()
  await page.getByLabel('Weight of target 1').fill('3')
  await page.getByText('60%').waitFor()

  await page.getByRole('link', { name: 'API Keys' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('Not saved yet: targets, strategy.').waitFor()
  expect(await targetsOf('order')).toEqual(['sandbox/echo', 'sandbox/slow', 'sandbox/500'])

  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved; the next call uses it.').waitFor()
  await page.getByText('strategy: fallback → weighted').waitFor()
  expect(await targetsOf('order')).toEqual(['sandbox/slow', 'sandbox/500', 'sandbox/echo'])
  await page.getByRole('link', { name: 'API Keys' }).click()
  await page.getByRole('heading', { name: 'API Keys', level: 1 }).waitFor()
})

test('a refusal of the gateway is shown at its target, and no input is lost', async () => {
  const { page } = visit
  await createGate(gatehouse, 'refused', 'sandbox/echo')
  await follow(page, '/gates/refused')
  await addTarget(page, 'nobody/model')
  await page.getByLabel('Description').fill('kept')
  await page.getByRole('button', { name: 'Save' }).click()
  const second = page.getByRole('list', { name: 'Targets' }).getByRole('listitem').nth(1)
  await second.getByText('names the provider').waitFor()
  await modelOf(page, 2).and(page.locator('[aria-invalid=true]')).waitFor()
  expect(await page.getByLabel('Description').inputValue()).toBe('kept')

  await modelOf(page, 2).fill('sandbox/slow')
  await second.getByText('names the provider').waitFor({ state: 'detached' })
  await page.getByText('Advanced').click()
  await page.getByLabel('Retries').fill('9')
  await page.getByText('must be at most 5').waitFor()
  await page.getByLabel('Retries').fill('1')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('retries: 0 → 1').waitFor()
})

test('the share of a budget that puts a target first is checked in percent while it is typed', async () => {
  const { page } = visit
  await createGate(gatehouse, 'steered', ['sandbox/echo', 'sandbox/500'])
  const made = await controlPlaneCall(gatehouse, 'POST', '/v1/budgets', {
    ...{ gateId: 'steered', name: 'Steering', limitUsd: 5, period: 'month' },
  })
  const { id } = (await made.json()) as { id: string }
  await follow(page, '/gates/steered')
  await page.locator('summary').filter({ hasText: 'Budgets' }).click()
  await page.getByLabel('Ask sandbox/500 first').selectOption('by the budget “Steering”')
  const share = page.getByLabel('From this share on, in percent')
  expect(await share.inputValue()).toBe('80')
  const problem = page.getByText('must be a percentage above 0 and at most 100, such as 80')
  expect(await problem.count()).toBe(0)
  for (const wrong of ['120', '0', '', 'many']) {
    await share.fill(wrong)
    await problem.waitFor()
    expect(await share.getAttribute('aria-invalid')).toBe('true')
    await share.fill('90')
    await problem.waitFor({ state: 'detached' })
  }
  await share.fill('0.5 %')
  expect(await problem.count()).toBe(0)
  await share.fill('85')
  expect(await findPageFaults(page)).toEqual([])
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved; the next call uses it.').waitFor()
  const gate = await controlPlaneCall(gatehouse, 'GET', '/v1/gates/steered')
  expect(await gate.json()).toMatchObject({
    targets: [{}, { when: { budget: id, from: 0.85 } }],
  })
  await controlPlaneCall(gatehouse, 'DELETE', '/v1/gates/steered')
})

test('a deletion names its consequences, and undo restores the gate', async () => {
  const { page } = visit
  const settings = {
    strategy: 'weighted',
    defaults: { instructions: 'Be brief.', temperature: 0.5 },
    overrides: 'reject',
    hedgeAfterMs: 900,
    description: 'for the billing service',
  }
  await createGate(gatehouse, 'doomed', ['sandbox/echo', 'sandbox/slow'], settings)
  const before = await (await controlPlaneCall(gatehouse, 'GET', '/v1/gates/doomed')).json()
  await follow(page, '/gates/doomed')
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  const asked = page.getByRole('alertdialog')
  await asked.getByText('No calls were made through the gate').waitFor()
  await asked.getByRole('button', { name: 'Delete the gate' }).click()
  // It stays as long as it is pointed at.
  await page.getByText('Gate “doomed” deleted').hover()
  expect((await call('doomed')).status).toBe(404)

  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Gate “doomed” created again').waitFor()
  await page.getByRole('link', { name: 'doomed', exact: true }).waitFor()
  expect((await call('doomed')).status).toBe(200)
  const after = (await (
    await controlPlaneCall(gatehouse, 'GET', '/v1/gates/doomed')
  ).json()) as object
  const times = { createdAt: expect.any(String), updatedAt: expect.any(String) }
  expect(after).toEqual({ ...(before as object), ...times })
})

test('the page fits a phone in the dark palette, and axe finds nothing serious', async () => {
  await createGate(gatehouse, 'phone', ['sandbox/500', 'sandbox/echo'])
  const { page } = visit
  await page.setViewportSize({ width: 390, height: 800 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto('/dashboard/gates')
  await page.locator('html[data-theme=dark]').waitFor()
  const places = [
    ['/gates', { role: 'link', name: 'phone' }],
    ['/gates/new', { role: 'combobox', name: 'Add a target' }],
    ['/gates/phone', { role: 'button', name: 'Move target 2 up' }],
    ['/gates/phone?tab=test', { role: 'button', name: 'Run the test' }],
    ['/gates/phone?tab=snippets', { role: 'tab', name: 'Responses' }],
  ] as const
  for (const [path, { role, name }] of places) {
    await follow(page, path)
    await page.getByRole(role, { name }).waitFor()
    await untilItHolds(async () => {
      const sideways = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      expect({ path, sideways }).toEqual({ path, sideways: 0 })
    })
    expect({ path, faults: await findAccessibilityFaults(page) }).toEqual({ path, faults: [] })
  }
  await page.setViewportSize({ width: 1280, height: 900 })
  await page.emulateMedia({ colorScheme: 'light' })
})

test('snippets are filled in with this gate and this gateway', async () => {
  const { page } = visit
  await follow(page, '/gates/demo?tab=snippets')
  await page.getByRole('button', { name: 'OpenAI', exact: true }).click()
  await page.getByRole('tab', { name: 'Python, Responses' }).click()
  await page.getByRole('tabpanel').getByText(`base_url="${gatehouse.url}/v1"`).waitFor()
  await page.getByRole('tabpanel').getByText('model="demo"').waitFor()
})

test('the list is searched by names of gates and by their targets', async () => {
  const { page } = visit
  await follow(page, '/gates')
  await page.getByLabel('Search gates').fill('slow order')
  await page.getByRole('link', { name: 'demo', exact: true }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'order', exact: true }).waitFor()
  await page.getByLabel('Search gates').fill('nothing like it')
  await page.getByText('No gate matches “nothing like it”.').waitFor()
})

test('these pages log no error and request nothing from another host', () => {
  expect(visit.complaints).toEqual([])
})
