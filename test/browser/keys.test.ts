/** API keys in the dashboard, in a real browser on the real server: made, shown once, used, deleted, refused. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import {
  BROWSER_TEST_TIMEOUT_MS,
  enterAsOwner,
  findAccessibilityFaults,
  openBrowser,
  type Visit,
} from '../support/chromium.ts'
import { controlPlaneCall, createKey } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { collectSeenTexts, type SeenTexts } from '../support/seen-texts.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

setDefaultTimeout(BROWSER_TEST_TIMEOUT_MS)

let gatehouse: Gatehouse
let browser: Awaited<ReturnType<typeof openBrowser>>
let visit: Visit
let seen: SeenTexts
beforeAll(async () => {
  gatehouse = await startGatehouse({ sandbox: true })
  browser = await openBrowser()
  visit = await browser.visit(gatehouse.url)
  seen = collectSeenTexts(visit.page)
  // A message that is fading in has no contrast yet.
  await visit.page.emulateMedia({ reducedMotion: 'reduce' })
  await enterAsOwner(visit.page, gatehouse)
})
afterAll(async () => {
  await browser.close()
  await gatehouse.remove()
})

async function callWith(key: string): Promise<number> {
  const response = await fetch(`${gatehouse.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo', input: 'hello' }),
  })
  await response.text()
  return response.status
}

test('a key is made, shown once, works, is deleted, and the next call is refused', async () => {
  const { page } = visit
  await page.getByRole('navigation').getByRole('link', { name: 'API Keys' }).click()
  await page.getByRole('button', { name: 'Create New Key' }).click()
  await page.getByLabel('Name').fill('billing service')
  await page.getByRole('button', { name: 'Create', exact: true }).click()

  const shown = page.getByRole('dialog').getByRole('region', { name: 'the new key' })
  const key = (await shown.textContent()) ?? ''
  expect(key).toMatch(/^sk-svc-[0-9a-f]{64}$/)
  expect(await findAccessibilityFaults(page)).toEqual([])
  expect(await callWith(key)).toBe(200)

  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('cell', { name: 'billing service', exact: true }).waitFor()
  expect(await page.content()).not.toContain(key)
  expect(await findAccessibilityFaults(page)).toEqual([])

  await page.getByRole('button', { name: 'Delete billing service' }).click()
  const asked = page.getByRole('alertdialog')
  await asked.getByText('1 call', { exact: true }).or(asked.getByText('No calls')).waitFor()
  await asked.getByRole('button', { name: 'Delete the key' }).click()
  // What is behind a dialog has no roles: only without it does the missing row say that the key is gone.
  await asked.waitFor({ state: 'detached' })
  await page.getByRole('cell', { name: 'billing service', exact: true }).waitFor({ state: 'detached' })
  expect(await callWith(key)).toBe(401)
})

test('a name that is refused is told at its field', async () => {
  const { page } = visit
  await page.goto('/dashboard/keys')
  await page.getByRole('button', { name: 'Create New Key' }).click()
  await page.getByLabel('Name').fill('a\u0007b')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByLabel('Name').and(page.locator('[aria-invalid=true]')).waitFor()
})

test('arrow keys go from one way of getting a key to the other and back', async () => {
  const { page } = visit
  const way = (name: string) => page.getByRole('dialog').getByRole('radio', { name })
  await way('Make a new key').focus()
  for (const name of ['Import an existing key', 'Make a new key', 'Import an existing key']) {
    await page.keyboard.press('ArrowDown')
    await way(name).and(page.locator(':checked')).and(page.locator(':focus')).waitFor({ state: 'attached' })
  }
})

const LEGACY = 'legacy_key-of-the-old-gateway-0417'

test('a key that was made elsewhere is imported, works, and is seen nowhere', async () => {
  const { page } = visit
  expect(await callWith(LEGACY)).toBe(401)
  await page.getByRole('dialog').getByText('Import an existing key').click()
  await page.getByLabel('Name').fill('old billing')
  await page.getByLabel('Key', { exact: true }).fill('sk-other-1234567890')
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByLabel('Key', { exact: true }).and(page.locator('[aria-invalid=true]')).waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])
  await page.getByLabel('Key', { exact: true }).fill(LEGACY)
  expect(await page.content()).not.toContain(LEGACY)
  await page.keyboard.press('Enter')
  await page.getByRole('cell', { name: 'old billing', exact: true }).waitFor()
  expect(await callWith(LEGACY)).toBe(200)
  expect((await seen.all()) + (await page.content())).not.toContain(LEGACY)
})

test('an imported key that is there already is refused at its field', async () => {
  const { page } = visit
  await page.getByRole('button', { name: 'Create New Key' }).click()
  await page.getByRole('dialog').getByText('Import an existing key').click()
  await page.getByLabel('Name').fill('again')
  await page.getByLabel('Key', { exact: true }).fill(LEGACY)
  await page.keyboard.press('Enter')
  await page.getByText('This key exists already').waitFor()
  await page.keyboard.press('Escape')
})

test('a row tells the calls of the last 24 hours and leads to their logs', async () => {
  const { page } = visit
  const keys = (await (await controlPlaneCall(gatehouse, 'GET', '/v1/keys')).json()) as {
    data: { id: string; name: string }[]
  }
  const id = keys.data.find(({ name }) => name === 'old billing')?.id ?? ''
  await pollUntil('the call to be counted', async () => {
    const usage = await controlPlaneCall(gatehouse, 'GET', '/v1/analytics?group_by=key&interval=all')
    return (await usage.text()).includes(id)
  })
  await page.goto('/dashboard/keys')
  const calls = page.getByRole('link', { name: /calls?, to the logs of old billing/ })
  expect(await calls.getAttribute('href')).toBe(`/dashboard/logs?key=${id}`)
})

test('when there are many, they can be searched', async () => {
  const { page } = visit
  expect(await page.getByRole('searchbox').count()).toBe(0)
  for (const name of ['staging', 'batch', 'search', 'mobile', 'partner', 'reports', 'nightly'])
    await createKey(gatehouse, name)
  await page.reload()
  await page.getByRole('searchbox', { name: 'Find a key' }).fill('NIGHT')
  await page.getByText('1 of 9 keys').waitFor()
  await page.getByRole('searchbox', { name: 'Find a key' }).fill('legacy_')
  await page.getByRole('cell', { name: 'old billing', exact: true }).waitFor()
  await page.getByRole('searchbox', { name: 'Find a key' }).fill('none of them')
  await page.getByText('No key matches').waitFor()
})

test('an account without keys is told what they are for; one without the right, that it has none', async () => {
  const { page } = visit
  await page.route('**/v1/keys*', (route) => route.fulfill({ json: { data: [], nextCursor: null } }))
  await page.goto('/dashboard/keys')
  await page.getByText('Without one, none can call a gate.').waitFor()
  await page.unroute('**/v1/keys*')
  await page.route('**/v1/keys*', (route) =>
    route.fulfill({ status: 403, json: { error: 'forbidden', message: 'This takes another role.' } }),
  )
  await page.reload()
  await page.getByText('You may not do this: This takes another role.').waitFor()
  await page.unroute('**/v1/keys*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('cell', { name: 'old billing', exact: true }).waitFor()
})

test.each([
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
] as const)(
  'in %s at %i px axe finds nothing serious and nothing scrolls sideways',
  async (colorScheme, width) => {
    const { page } = visit
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.setViewportSize({ width, height: 844 })
    await page.goto('/dashboard/keys')
    await page.getByRole('cell', { name: 'old billing' }).first().waitFor()
    expect(await findAccessibilityFaults(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
  },
)

test('nothing on these pages complains or leaves the gateway', () => {
  expect(visit.complaints).toEqual([])
})
