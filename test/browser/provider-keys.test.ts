/**
 * Provider keys in the dashboard, in a real browser on the real server: set, deactivated, replaced,
 * deleted, and never seen again.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import {
  BROWSER_TEST_TIMEOUT_MS,
  enterAsOwner,
  findAccessibilityFaults,
  openBrowser,
  type Visit,
} from '../support/chromium.ts'
import { controlPlaneCall, createGate } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { routePage } from '../support/route-page.ts'
import { collectSeenTexts, type SeenTexts } from '../support/seen-texts.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { untilItHolds } from '../support/until-it-holds.ts'

const FIRST = 'sandbox-key-of-the-customer-7f3a'
const SECOND = 'sandbox-key-that-came-later-91bd'

setDefaultTimeout(BROWSER_TEST_TIMEOUT_MS)

let gatehouse: Gatehouse
let browser: Awaited<ReturnType<typeof openBrowser>>
let visit: Visit
let seen: SeenTexts
beforeAll(async () => {
  gatehouse = await startGatehouse({ sandbox: true })
  await createGate(gatehouse, 'support-chat', 'sandbox/echo')
  browser = await openBrowser()
  visit = await browser.visit(gatehouse.url)
  seen = collectSeenTexts(visit.page)
  await enterAsOwner(visit.page, gatehouse)
  await visit.page.getByRole('navigation').getByRole('link', { name: 'Provider keys' }).click()
  await visit.page.getByRole('listitem', { name: 'Sandbox', exact: true }).waitFor()
})
afterAll(async () => {
  await browser.close()
  await gatehouse.remove()
})

interface StoredKey {
  readonly provider: string
  readonly maskedKey: string
  readonly active: boolean
}

async function storedKeys(): Promise<readonly StoredKey[]> {
  const answer = await controlPlaneCall(gatehouse, 'GET', '/v1/provider-keys')
  return ((await answer.json()) as { data: StoredKey[] }).data
}

const sandboxRow = () => visit.page.getByRole('listitem', { name: 'Sandbox', exact: true })

test('a malformed key is refused at its field, and the typed text stays', async () => {
  const { page } = visit
  await sandboxRow().getByRole('button', { name: 'Set a key for Sandbox' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Key').fill('two words')
  expect(await dialog.getByLabel('Key').getAttribute('type')).toBe('password')
  expect(await findAccessibilityFaults(page)).toEqual([])
  await page.keyboard.press('Enter')
  await dialog.getByText('without spaces').waitFor()
  expect(await dialog.getByLabel('Key').getAttribute('aria-invalid')).toBe('true')
  expect(await dialog.getByLabel('Key').inputValue()).toBe('two words')
})

test('a key is set and shown masked, and typing it leaves it in no attribute', async () => {
  const { page } = visit
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Key').fill(FIRST)
  expect(await page.content()).not.toContain(FIRST)
  await dialog.getByRole('button', { name: 'Set the key' }).click()
  await dialog.waitFor({ state: 'detached' })
  await sandboxRow().getByText('san…7f3a').waitFor()
  expect(await storedKeys()).toMatchObject([{ provider: 'sandbox', active: true }])
})

test('a key is switched off by keyboard at once, and back on when the gateway refuses', async () => {
  const { page } = visit
  const toggle = sandboxRow().getByRole('switch')
  await toggle.focus()
  await page.keyboard.press('Space')
  await sandboxRow().getByText('inactive').waitFor()
  await pollUntil('the key to be inactive', async () => (await storedKeys())[0]?.active === false)

  await routePage(page, '**/v1/provider-keys/sandbox', (route) =>
    route.fulfill({ status: 403, json: { error: 'forbidden', message: 'Not today.' } }),
  )
  await page.keyboard.press('Space')
  await page.getByText('Your key for Sandbox is still inactive').waitFor()
  await page.getByText('Not today.').waitFor()
  await toggle.and(page.locator('[aria-checked=false]')).waitFor()
  await page.unroute('**/v1/provider-keys/sandbox')
})

test('presses faster than the answers all count, in their order', async () => {
  const { page } = visit
  const toggle = sandboxRow().getByRole('switch')
  const sent: boolean[] = []
  await routePage(page, '**/v1/provider-keys/sandbox', async (route) => {
    sent.push((route.request().postDataJSON() as { active: boolean }).active)
    await route.continue()
  })
  await toggle.focus()
  for (const _ of [1, 2, 3, 4]) await page.keyboard.press('Space')
  await pollUntil('four changes', () => sent.length === 4)
  expect(sent).toEqual([true, false, true, false])
  await pollUntil('the last of them to hold', async () => (await storedKeys())[0]?.active === false)
  await toggle.and(page.locator('[aria-checked=false]')).waitFor()
  await page.unroute('**/v1/provider-keys/sandbox')
})

test('a replaced key stays inactive, and the new one is masked', async () => {
  const { page } = visit
  await sandboxRow().getByRole('button', { name: 'Replace the key for Sandbox' }).click()
  await page.getByRole('dialog').getByLabel('Key').fill(SECOND)
  await page.keyboard.press('Enter')
  await sandboxRow().getByText('san…91bd').waitFor()
  expect(await storedKeys()).toMatchObject([{ maskedKey: 'san…91bd', active: false }])
})

test('a key that the provider refuses is saved, and what is wrong stays on the page', async () => {
  const { page } = visit
  const set = async (key: string) => {
    await sandboxRow().getByRole('button', { name: 'Replace the key for Sandbox' }).click()
    await page.getByRole('dialog').getByLabel('Key').fill(key)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await set('sandbox-bad-key')
  const warning = sandboxRow().getByRole('alert')
  await warning.getByText('The key was saved, but sandbox refused the key (HTTP 401).').waitFor()
  expect(await storedKeys()).toMatchObject([{ provider: 'sandbox', active: false }])
  expect(await findAccessibilityFaults(page)).toEqual([])
  await set(SECOND)
  await warning.waitFor({ state: 'detached' })
})

test('a deletion names the gates that use the provider', async () => {
  const { page } = visit
  await sandboxRow().getByRole('button', { name: 'Delete the key for Sandbox' }).click()
  const asked = page.getByRole('alertdialog')
  await asked.getByRole('link', { name: 'support-chat' }).waitFor()
  await asked.getByText('Calls to these targets will use the platform’s credential').waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])
  await asked.getByRole('button', { name: 'Delete the key' }).click()
  await sandboxRow().getByText('No key of yours').waitFor()
  expect(await storedKeys()).toEqual([])
})

test('no key was in the page, in an answer or in an address afterwards', async () => {
  const { page } = visit
  const everything = (await seen.all()) + (await page.content())
  expect(everything).toContain('maskedKey')
  for (const key of [FIRST, SECOND]) expect(everything).not.toContain(key)
})

test('a provider without an address shows that before a key is typed', async () => {
  const { page } = visit
  await page.getByRole('button', { name: 'Set a key for Ollama' }).click()
  await page.getByRole('dialog').getByText('until its operator has given the address').waitFor()
  await page.keyboard.press('Escape')
})

test('providers are found by name, and their documents open in new tabs', async () => {
  const { page } = visit
  await page.getByRole('searchbox', { name: 'Find a provider' }).fill('perplexity')
  await page.getByRole('status').getByText('1 provider').waitFor()
  const docs = page.getByRole('link', { name: 'Docs (opens in a new tab)' })
  expect(await docs.getAttribute('rel')).toBe('noreferrer')
  expect(await docs.getAttribute('target')).toBe('_blank')
  await page.getByRole('searchbox', { name: 'Find a provider' }).fill('no such thing')
  await page.getByText('No provider matches').waitFor()
})

test('a refused list is reported, and can be requested again', async () => {
  const { page } = visit
  await routePage(page, '**/v1/provider-keys*', (route) =>
    route.fulfill({
      status: 403,
      json: { error: 'forbidden', message: 'This takes another role.' },
    }),
  )
  await page.goto('/dashboard/provider-keys')
  await page.getByText('You may not do this: This takes another role.').waitFor()
  await page.unroute('**/v1/provider-keys*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await sandboxRow().waitFor()
})

test.each([
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
] as const)(
  'in %s at %i px axe finds nothing serious and nothing scrolls sideways',
  async (colorScheme, width) => {
    const { page } = visit
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 844 })
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor()
    await sandboxRow().waitFor()
    expect(await findAccessibilityFaults(page)).toEqual([])
    await untilItHolds(async () =>
      expect(
        await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
      ).toBeLessThanOrEqual(0),
    )
  },
)

test('these pages log no error and request nothing from another host', () => {
  expect(visit.complaints).toEqual([])
})
