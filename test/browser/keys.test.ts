/**
 * API keys in the dashboard, in a real browser on the real server: made, shown once, used, changed,
 * rotated, deleted, refused.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import {
  BROWSER_TEST_TIMEOUT_MS,
  copyShownOnce,
  enterAsOwner,
  findAccessibilityFaults,
  openBrowser,
  type Visit,
} from '../support/chromium.ts'
import { controlPlaneCall, createKey, deleteKey } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { routePage } from '../support/route-page.ts'
import { collectSeenTexts, type SeenTexts } from '../support/seen-texts.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { untilItHolds } from '../support/until-it-holds.ts'

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
  await enterAsOwner(visit.page, gatehouse)
  await controlPlaneCall(gatehouse, 'POST', '/v1/tags', { name: 'team-a' })
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

const actionsOf = (name: string) =>
  visit.page.getByRole('button', { name: `Actions for ${name}`, exact: true })

async function chooseAction(name: string, action: string): Promise<void> {
  // A menu that opens before a dialog has given the focus back would lose it again, and close.
  await visit.page
    .locator('[role=dialog], [role=alertdialog], [role=menu]')
    .waitFor({ state: 'detached' })
  await actionsOf(name).click()
  await visit.page.getByRole('menuitem', { name: action }).click()
}

interface ListedKey {
  readonly id: string
  readonly name: string
  readonly expiresAt: string | null
  readonly user: string | null
  readonly tags: readonly string[]
  readonly previous: { readonly maskedPrefix: string; readonly endsAt: string } | null
}

async function listedKey(name: string): Promise<ListedKey> {
  const answer = await controlPlaneCall(gatehouse, 'GET', '/v1/keys')
  const found = ((await answer.json()) as { data: ListedKey[] }).data.find(
    (key) => key.name === name,
  )
  if (found === undefined) throw new Error(`no key ${name}`)
  return found
}

test('a key is created, shown once, works, is deleted, and the next call is refused', async () => {
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

  await copyShownOnce(page, 'key')
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('cell', { name: 'billing service', exact: true }).waitFor()
  expect(await page.content()).not.toContain(key)
  expect(await findAccessibilityFaults(page)).toEqual([])

  await chooseAction('billing service', 'Delete')
  const asked = page.getByRole('alertdialog')
  await asked.getByText('1 call', { exact: true }).or(asked.getByText('No calls')).waitFor()
  await asked.getByRole('button', { name: 'Delete the key' }).click()
  // What is behind a dialog has no roles: only without it does the missing row say that the key is
  // gone.
  await asked.waitFor({ state: 'detached' })
  await page
    .getByRole('cell', { name: 'billing service', exact: true })
    .waitFor({ state: 'detached' })
  expect(await callWith(key)).toBe(401)
})

test('a key has a member and tags, which are checked, shown and changed', async () => {
  const { page } = visit
  await page.getByRole('button', { name: 'Create New Key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('team key')
  await dialog.getByText('Tags of the account: team-a.').waitFor()
  await dialog.getByLabel('Counts for').selectOption('Ada Owner')
  await dialog.getByLabel('Tags').fill('team-a, other')
  await dialog.getByRole('button', { name: 'Create', exact: true }).click()
  await dialog.getByText("there is no tag 'other' in this account").waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])
  await dialog.getByLabel('Tags').fill('team-a, team-a:night shift')
  await dialog.getByRole('button', { name: 'Create', exact: true }).click()
  await copyShownOnce(page, 'key')
  await page.getByRole('button', { name: 'Done' }).click()
  const made = await listedKey('team key')
  expect(made.tags).toEqual(['team-a', 'team-a:night shift'])
  expect(made.user).toMatch(/^user_/)

  await chooseAction('team key', 'Edit')
  expect(await dialog.getByLabel('Tags').inputValue()).toBe('team-a, team-a:night shift')
  await dialog.getByLabel('Counts for').selectOption('No member')
  await dialog.getByLabel('Tags').fill('team-a')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Key “team key” saved').waitFor()
  expect(await listedKey('team key')).toMatchObject({ user: null, tags: ['team-a'] })
  await page.getByRole('link', { name: 'team key' }).click()
  await page.getByText('Counts for').waitFor()
  await page.getByText('team-a', { exact: true }).waitFor()
  await deleteKey(gatehouse, made.id)
  await page.goBack()
  await page.getByRole('button', { name: 'Create New Key' }).waitFor()
})

test('a refused name is reported at its field', async () => {
  const { page } = visit
  await page.getByRole('button', { name: 'Create New Key' }).click()
  await page.getByLabel('Name').fill('a\u0007b')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByLabel('Name').and(page.locator('[aria-invalid=true]')).waitFor()
})

test('arrow keys move between the two ways of getting a key', async () => {
  const { page } = visit
  const way = (name: string) => page.getByRole('dialog').getByRole('radio', { name })
  await way('Create a new key').focus()
  for (const name of ['Import an existing key', 'Create a new key', 'Import an existing key']) {
    await page.keyboard.press('ArrowDown')
    await way(name)
      .and(page.locator(':checked'))
      .and(page.locator(':focus'))
      .waitFor({ state: 'attached' })
  }
})

test('typed text stays when the dialog changes to an import and back', async () => {
  const { page } = visit
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Create a new key').click()
  await dialog.getByLabel('Name').fill('kept name')
  await dialog.getByLabel('Expires').selectOption('In 90 days')
  for (const way of ['Import an existing key', 'Create a new key']) {
    await dialog.getByText(way).click()
    await dialog
      .getByRole('radio', { name: way })
      .and(page.locator(':checked'))
      .waitFor({ state: 'attached' })
    expect(await dialog.getByLabel('Name').inputValue()).toBe('kept name')
    expect(await dialog.getByLabel('Expires').inputValue()).toBe('90d')
  }
  await dialog.getByText('Import an existing key').click()
  await dialog.getByLabel('Name').fill('')
  await dialog.getByLabel('Expires').selectOption('Never')
})

const LEGACY = 'legacy_key-of-the-old-gateway-0417'

test('a key from elsewhere is imported, works, and is never shown', async () => {
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

test('an imported key that exists already is refused at its field', async () => {
  const { page } = visit
  await page.getByRole('button', { name: 'Create New Key' }).click()
  await page.getByRole('dialog').getByText('Import an existing key').click()
  await page.getByLabel('Name').fill('again')
  await page.getByLabel('Key', { exact: true }).fill(LEGACY)
  await page.keyboard.press('Enter')
  await page.getByText('This key already exists').waitFor()
  await page.keyboard.press('Escape')
})

test('a row shows the calls of the last 24 hours and leads to their logs', async () => {
  const { page } = visit
  const { id } = await listedKey('old billing')
  await pollUntil('the call to be counted', async () => {
    const usage = await controlPlaneCall(
      gatehouse,
      'GET',
      '/v1/analytics?group_by=key&interval=all',
    )
    return (await usage.text()).includes(id)
  })
  await page.goto('/dashboard/keys')
  const calls = page.getByRole('link', { name: /calls?, to the logs of old billing/ })
  expect(await calls.getAttribute('href')).toBe(`/dashboard/logs?key=${id}`)
})

const rowOf = (name: string) =>
  visit.page.getByRole('row').filter({ has: visit.page.getByRole('cell', { name, exact: true }) })
/** In the row's columns; phones have it below the name. */
const noteOf = (name: string, text: string | RegExp) =>
  rowOf(name).getByText(text, { exact: true }).filter({ visible: true })

test('a key with an expiry ends with its day, and its row shows its creator and that it ends soon', async () => {
  const { page } = visit
  await page.getByRole('button', { name: 'Create New Key' }).click()
  await page.getByLabel('Name').fill('contractor')
  await page.getByLabel('Expires').selectOption('On a date…')
  const day = String(
    await page.evaluate("new Date(Date.now() + 172_800_000).toLocaleDateString('sv-SE')"),
  )
  await page.getByLabel('Last day').fill(day)
  await page.getByText(/^Refused permanently from .*00:00:00 \(Europe\/Zurich\)\.$/).waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await copyShownOnce(page, 'key')
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Create New Key' }).and(page.locator(':focus')).waitFor()
  await noteOf('contractor', /^Expires in /).waitFor()
  await noteOf('contractor', 'by Ada Owner').waitFor()
  const { expiresAt } = await listedKey('contractor')
  expect(expiresAt).toBe(String(await page.evaluate(`new Date('${day}T24:00:00').toISOString()`)))
})

test('a key is renamed and extended by keyboard alone, and the focus returns to its place', async () => {
  const { page } = visit
  await actionsOf('contractor').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Edit' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Enter')
  const name = page.getByRole('dialog').getByLabel('Name')
  await name.and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Escape')
  await actionsOf('contractor').and(page.locator(':focus')).waitFor()

  await page.keyboard.press('Enter')
  await page.getByRole('menuitem').first().and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Enter')
  await name.and(page.locator(':focus')).waitFor()
  await name.fill('contractor in Basel')
  await page.getByLabel('Expires').selectOption('In 1 year')
  await name.press('Enter')
  await rowOf('contractor in Basel').waitFor()
  await noteOf('contractor in Basel', /^Expires in /).waitFor({ state: 'detached' })
  const { expiresAt } = await listedKey('contractor in Basel')
  const DAY_MS = 86_400_000
  expect(Math.round((Date.parse(expiresAt ?? '') - Date.now()) / DAY_MS)).toBe(365)

  await chooseAction('contractor in Basel', 'Edit')
  await page.getByLabel('Expires').selectOption('Never')
  await page.getByRole('button', { name: 'Save' }).click()
  await rowOf('contractor in Basel').getByRole('cell', { name: 'never' }).nth(1).waitFor()
  expect((await listedKey('contractor in Basel')).expiresAt).toBeNull()
})

test('a rotated key is shown once, and the old one works for a shown time, until both are ended', async () => {
  const { page } = visit
  const { key: first } = await createKey(gatehouse, 'rotated')
  await page.reload()
  const rotate = async () => {
    await page.getByRole('button', { name: 'Rotate the key' }).click()
    const shown = page.getByRole('dialog').getByRole('region', { name: 'the new key' })
    const key = (await shown.textContent()) ?? ''
    expect(key).toMatch(/^sk-svc-[0-9a-f]{64}$/)
    return key
  }
  await chooseAction('rotated', 'Rotate')
  await page.getByLabel('The old key ends').selectOption('In 1 hour')
  expect(await findAccessibilityFaults(page)).toEqual([])
  const second = await rotate()
  await page.getByRole('dialog').getByText('Put the new one in its place before that.').waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])
  await copyShownOnce(page, 'key')
  await page.getByRole('button', { name: 'Done' }).click()
  await noteOf('rotated', /ends in (?:59 minutes|1 hour)$/).waitFor()
  expect([await callWith(first), await callWith(second)]).toEqual([200, 200])
  const { previous } = await listedKey('rotated')
  expect(previous?.maskedPrefix).toBe(`${first.slice(0, 'sk-svc-'.length + 4)}…`)

  await chooseAction('rotated', 'Rotate')
  await page.getByText('was rotated before').waitFor()
  await page.getByText(/used this credential/).waitFor()
  expect(
    await page.getByLabel('The old key ends').locator('option:not([disabled])').allTextContents(),
  ).toEqual(['Now'])
  const third = await rotate()
  await page.getByRole('dialog').getByText('has ended.').waitFor()
  await copyShownOnce(page, 'key')
  await page.getByRole('button', { name: 'Done' }).press('Enter')
  await actionsOf('rotated').and(page.locator(':focus')).waitFor()
  await rowOf('rotated')
    .getByText(/ends (in|tomorrow)/)
    .waitFor({ state: 'detached' })
  expect([await callWith(first), await callWith(second), await callWith(third)]).toEqual([
    401, 401, 200,
  ])
  const content = await page.content()
  for (const key of [second, third]) expect(content).not.toContain(key)
})

test('an expired key is marked in words, and can be renamed or deleted, not rotated', async () => {
  const { page } = visit
  const expiresAt = new Date(Date.now() + 1_000).toISOString()
  const made = await controlPlaneCall(gatehouse, 'POST', '/v1/keys', { name: 'over', expiresAt })
  const { key } = (await made.json()) as { key: string }
  await pollUntil('the key to expire', async () => (await callWith(key)) === 401)
  await page.reload()
  await noteOf('over', 'Expired').waitFor()
  await actionsOf('over').click()
  expect(await page.getByRole('menuitem', { name: 'Rotate' }).getAttribute('aria-disabled')).toBe(
    'true',
  )
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  await page.getByText('This key has expired and cannot be renewed.').waitFor()
  await page.getByLabel('Name').fill('over and done')
  await page.keyboard.press('Enter')
  // A menu that opens before the focus is back would lose it again, and close.
  await actionsOf('over and done').and(page.locator(':focus')).waitFor()
  for (const name of ['over and done', 'rotated', 'contractor in Basel']) {
    await chooseAction(name, 'Delete')
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete the key' }).click()
    await page.getByRole('alertdialog').waitFor({ state: 'detached' })
    await page.getByRole('cell', { name, exact: true }).waitFor({ state: 'detached' })
  }
})

test('many keys can be searched', async () => {
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

test('an account without keys gets an explanation, and one without the right gets that reason', async () => {
  const { page } = visit
  await routePage(page, '**/v1/keys*', (route) =>
    route.fulfill({ json: { data: [], nextCursor: null } }),
  )
  await page.goto('/dashboard/keys')
  await page.getByText('use an API key to manage this account').waitFor()
  await page.unroute('**/v1/keys*')
  await routePage(page, '**/v1/keys*', (route) =>
    route.fulfill({
      status: 403,
      json: { error: 'forbidden', message: 'This takes another role.' },
    }),
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
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 844 })
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor()
    await page.getByRole('cell', { name: 'old billing' }).first().waitFor()
    expect(await findAccessibilityFaults(page)).toEqual([])
    await untilItHolds(async () =>
      expect(
        await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
      ).toBeLessThanOrEqual(0),
    )
  },
)

test('each of hundreds of keys is found, and few are drawn at once', async () => {
  const { page } = visit
  await createKey(gatehouse, 'made before')
  for (let made = 0; made < 600; made += 20)
    await Promise.all(Array.from({ length: 20 }, (_, at) => createKey(gatehouse, `n${made + at}`)))
  await page.goto('/dashboard/keys')
  const rows = page.getByRole('table').getByRole('row')
  await page.getByText(/^Shown are 100 of 6\d\d; the search looks at all/).waitFor()
  expect(await rows.count()).toBe(101)
  await page.getByRole('button', { name: 'Show more' }).press('Enter')
  await page.getByText(/^Shown are 200 of/).waitFor()
  expect(await rows.count()).toBe(201)
  await page.getByRole('searchbox', { name: 'Find a key' }).fill('made before')
  await page.getByRole('cell', { name: 'made before' }).first().waitFor()
})

test('a key pressed in a search is shown before the rows that it leaves', async () => {
  const { page } = visit
  const search = page.getByRole('searchbox', { name: 'Find a key' })
  await search.fill('')
  await page.getByText(/^Shown are/).waitFor()
  // All that the page does at once is done by the end of the promise.
  const [shown, rows] = (await page.evaluate(`(async () => {
    const field = document.querySelector('[aria-label="Find a key"]')
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, 'no such key')
    field.dispatchEvent(new Event('input', { bubbles: true }))
    await Promise.resolve()
    return [field.value, document.querySelectorAll('tbody tr').length]
  })()`)) as readonly [string, number]
  expect(shown).toBe('no such key')
  expect(rows).toBeGreaterThan(0)
  await page.getByText('No key matches').waitFor()
})

test('these pages log no error and request nothing from another host', () => {
  expect(visit.complaints).toEqual([])
})
