/**
 * The dashboard by keyboard alone, in a real browser on the real server: where the focus is at first
 * and once what had it has gone, and what the keys write.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import {
  BROWSER_TEST_TIMEOUT_MS,
  enterAsOwner,
  follow,
  openBrowser,
  type Visit,
} from '../support/chromium.ts'
import { controlPlaneCall, createGate, createKey } from '../support/control-plane.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { untilItHolds } from '../support/until-it-holds.ts'

setDefaultTimeout(BROWSER_TEST_TIMEOUT_MS)

/** The pages show so many rows of a list at once. */
const AT_ONCE = 100

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
  expect(visit.complaints).toEqual([])
  await browser.close()
  await gatehouse.remove()
})

const isFocused = (control: Locator) => control.and(page.locator(':focus')).waitFor()
const holds = (field: Locator, text: string) =>
  untilItHolds(async () => expect(await field.inputValue()).toBe(text))
const button = (name: string) => page.getByRole('button', { name, exact: true })

test('a range of days that is left or chosen gives the focus back to its button', async () => {
  await follow(page, '/analytics')
  for (const key of ['Escape', 'Enter']) {
    await button('Custom').press('Enter')
    await isFocused(page.getByLabel('From'))
    await page.keyboard.press(key)
    await page.getByLabel('From').waitFor({ state: 'detached' })
    await isFocused(button('Custom'))
  }
})

test('the window for a range of days closes when one goes on elsewhere', async () => {
  await follow(page, '/analytics')
  await button('Custom').click()
  await page.getByLabel('From').waitFor()
  await page.getByRole('heading', { name: 'Analytics', level: 1 }).click()
  await page.getByLabel('From').waitFor({ state: 'detached' })
  await button('Custom').press('Enter')
  await isFocused(page.getByLabel('From'))
  for (let stop = 0; stop < 10; stop += 1) await page.keyboard.press('Tab')
  await page.getByLabel('From').waitFor({ state: 'detached' })
})

test('a removed filter hands the focus on to the next', async () => {
  await follow(page, '/logs?outcome=failed&status=4xx')
  await button('Remove the filter failed').press('Enter')
  await isFocused(button('Remove the filter status 4xx'))
  await page.keyboard.press('Enter')
  await page.getByRole('list', { name: 'Filters that are set' }).waitFor({ state: 'detached' })
  expect(await page.evaluate('document.activeElement.closest("#content") !== null')).toBe(true)
})

test('a gate without a target says so above the list that opens for one', async () => {
  await follow(page, '/gates/new')
  await button('Create the gate').press('Enter')
  await isFocused(page.getByRole('combobox', { name: 'Add a target' }))
  const told = page.getByText('must name at least one target')
  await page.getByRole('listbox', { name: 'Models' }).waitFor()
  expect(await told.first().click({ trial: true, timeout: 5_000 })).toBeUndefined()
})

test('a removed target hands the focus on to what stands next', async () => {
  await follow(page, '/gates/new')
  const picker = page.getByRole('combobox', { name: 'Add a target' })
  for (const target of ['sandbox/echo', 'sandbox/slow']) {
    await picker.fill(target)
    await picker.press('Enter')
  }
  // The list of models is no stop of its own.
  await picker.press('Tab')
  await isFocused(page.getByLabel('Id optional'))
  await button('Remove target 1').press('Enter')
  await page.getByRole('list', { name: 'Targets' }).locator(':focus').waitFor()
})

test('Enter in the field for a target adds none that was not chosen', async () => {
  await follow(page, '/gates/new')
  const picker = page.getByRole('combobox', { name: 'Add a target' })
  const remove = page.getByRole('button', { name: /^Remove target/ })
  const before = await remove.count()
  await picker.focus()
  await page.getByRole('option').first().waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('listbox').waitFor({ state: 'detached' })
  await isFocused(picker)
  expect(await remove.count()).toBe(before + 1)
})

test('a target that was typed and not added keeps the gate from being saved without it', async () => {
  await createGate(gatehouse, 'typed', 'sandbox/echo')
  await follow(page, '/gates/typed')
  const picker = page.getByRole('combobox', { name: 'Add a target' })
  await picker.fill('sandbox/slow')
  await page.keyboard.press('Tab')
  await page.getByLabel('Display name').fill('Typed')
  await page.keyboard.press('Enter')
  const told = page.getByText(
    'The text in the field is not a target yet: press Enter to choose it, or clear the field.',
  )
  // Above the list, which covers what stands beneath the field.
  await told.first().waitFor()
  await isFocused(picker)
  expect(await told.first().click({ trial: true })).toBeUndefined()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await told.first().waitFor({ state: 'detached' })
  await button('Save').press('Enter')
  await page.getByText('Saved; the next call uses it.').waitFor()
  const saved = await controlPlaneCall(gatehouse, 'DELETE', '/v1/gates/typed')
  expect(saved.status).toBe(204)
})

test('a deleted row hands the focus on to the next, and the last to the page', async () => {
  for (const name of ['One', 'Two']) {
    const budget = { name, gateId: 'demo', limitTokens: 1_000, period: 'day' }
    await controlPlaneCall(gatehouse, 'POST', '/v1/budgets', budget)
  }
  await follow(page, '/settings/budgets')
  const remove = async (name: string) => {
    await button(`Delete ${name}`).press('Enter')
    await page
      .getByRole('alertdialog')
      .getByRole('button', { name: /^Delete/ })
      .press('Enter')
    await button(`Delete ${name}`).waitFor({ state: 'detached' })
  }
  await remove('Two')
  await isFocused(button('Simulate One'))
  await remove('One')
  await page.locator('#content:focus, #content :focus').waitFor()
})

test('a budget and a tag are found among many, by every typed word', async () => {
  for (let made = 0; made < 8; made += 1) {
    const budget = { name: `Team ${made}`, gateId: 'demo', limitTokens: 1_000, period: 'day' }
    await controlPlaneCall(gatehouse, 'POST', '/v1/budgets', budget)
    const tag = { name: `tag-${made}`, description: `Customer ${made}` }
    await controlPlaneCall(gatehouse, 'POST', '/v1/tags', tag)
  }
  for (const [path, thing, typed, name] of [
    ['/settings/tags', 'tag', 'tag customer 5', 'tag-5'],
    ['/settings/budgets', 'budget', 'DEMO team 6', 'Team 6'],
  ] as const) {
    // Anew: they were made past the page.
    await page.goto(`/dashboard${path}`)
    const rows = page.locator('tbody tr')
    await page.getByText(`8 ${thing}s`, { exact: true }).waitFor()
    const search = page.getByRole('searchbox', { name: `Find a ${thing}` })
    await search.pressSequentially(typed)
    await page.getByText(`1 of 8 ${thing}s`, { exact: true }).waitFor()
    expect(await rows.count()).toBe(1)
    await rows.getByText(name).waitFor()
    await search.pressSequentially(' x')
    await page.getByRole('heading', { name: `No ${thing} matches` }).waitFor()
    await page.keyboard.press('Escape')
    await rows.nth(7).waitFor()
    await isFocused(search)
  }
})

test('a target that was typed and not added is asked for before the gate is left', async () => {
  await createGate(gatehouse, 'half-typed', 'sandbox/echo')
  await follow(page, '/gates/half-typed')
  const picker = page.getByRole('combobox', { name: 'Add a target' })
  await picker.fill('sandbox/sl')
  await picker.press('Escape')
  await page.getByRole('link', { name: 'API Keys' }).press('Enter')
  await page.getByRole('alertdialog', { name: 'Leave without saving?' }).waitFor()
  await button('Cancel').press('Enter')
  await picker.fill('')
  await page.getByRole('link', { name: 'API Keys' }).press('Enter')
  await page.getByRole('heading', { name: 'API Keys', level: 1 }).waitFor()
  await controlPlaneCall(gatehouse, 'DELETE', '/v1/gates/half-typed')
})

test('“Show more” takes the focus to the first row that it brings', async () => {
  for (let made = 0; made <= AT_ONCE; made += 1) await createKey(gatehouse, `key ${made}`)
  await page.goto('/dashboard/keys')
  const rows = page.getByRole('region', { name: 'API keys' }).locator('tbody tr')
  await rows.nth(AT_ONCE - 1).waitFor()
  await button('Show more').press('Enter')
  await rows.nth(AT_ONCE).getByRole('link').and(page.locator(':focus')).waitFor()
})

test('“Show more” takes the focus to the first gate that it brings on a phone, too', async () => {
  for (let made = 0; made <= AT_ONCE; made += 1)
    await createGate(gatehouse, `one-of-many-${made}`, 'sandbox/echo')
  const phone = await browser.visit(gatehouse.url, { viewport: { width: 390, height: 844 } })
  await phone.context.addCookies(await visit.context.cookies())
  await phone.page.goto('/dashboard/gates')
  await phone.page.getByRole('button', { name: 'Show more' }).press('Enter')
  await phone.page
    .locator('[aria-label=Gates] > li')
    .nth(AT_ONCE)
    .getByRole('link')
    .and(phone.page.locator(':focus'))
    .waitFor()
  expect(phone.complaints).toEqual([])
  await phone.close()
})

test('a target moved to the end keeps the focus on the button that moved it', async () => {
  // Away first: a draft from before would be there still.
  await follow(page, '/settings/limits')
  await page.getByRole('heading', { name: 'This month' }).waitFor()
  await follow(page, '/gates/new')
  const picker = page.getByRole('combobox', { name: 'Add a target' })
  for (const target of ['sandbox/echo', 'sandbox/slow']) {
    await picker.fill(target)
    await picker.press('Enter')
  }
  await button('Move target 1 down').press('Enter')
  await isFocused(button('Move target 2 down'))
  await page.keyboard.press('Enter')
  expect(await page.getByLabel('Model of target 2').inputValue()).toBe('sandbox/echo')
})

test('a window with fields begins at the first of them', async () => {
  await follow(page, '/settings/budgets')
  await button('Create a budget').first().press('Enter')
  await isFocused(page.getByRole('dialog').getByLabel('Limits'))
  await page.keyboard.press('Escape')
})

test('a day of the audit log’s filter can be typed, and is kept', async () => {
  await follow(page, '/settings/audit-log')
  const from = page.getByLabel('From')
  await from.focus()
  // As fast as people type: the page is drawn anew between the digits of the year.
  await page.keyboard.type('11252026', { delay: 50 })
  await page.waitForURL('**from=2026-11-25**')
  await isFocused(from)
  await page.reload()
  expect(await from.inputValue()).toBe('2026-11-25')
  await button('Reset').press('Enter')
  await page.waitForURL((url) => url.search === '')
  expect(await from.inputValue()).toBe('')
})

test('a moment of the log can be typed: after four digits of the year comes the hour', async () => {
  await follow(page, '/logs')
  await page.locator('select:has(option[value="custom"])').selectOption('custom')
  const from = page.locator('input[type="datetime-local"]').first()
  await from.focus()
  await page.keyboard.type('112520261015AM', { delay: 50 })
  expect(await from.inputValue()).toBe('2026-11-25T10:15')
})

test('a moment of the log leaves its field with its filter, and comes back on the way back', async () => {
  await follow(page, '/logs?from=2026-02-01T10:00:00.000Z&to=2026-02-02T10:00:00.000Z')
  const [from, to] = [
    page.getByLabel('From', { exact: true }),
    page.getByLabel('to', { exact: true }),
  ]
  await to.fill('2026-01-01T00:00')
  await page.getByRole('alert').waitFor()
  await button('Remove the filter from 1 Feb, 11:00:00').click()
  await page.getByRole('alert').waitFor({ state: 'detached' })
  await holds(from, '')
  await holds(to, '2026-02-02T11:00')
  await button('Clear all').click()
  await holds(to, '')
  await page.goBack()
  await holds(to, '2026-02-02T11:00')
  await page.goBack()
  await holds(from, '2026-02-01T11:00')
})

test('a target that begins with another is typed to its end, and chosen with the focus kept', async () => {
  await createGate(gatehouse, 'reasoning', ['sandbox/echo', 'sandbox/echo-reasoning'])
  // With its gates as they are by now.
  await page.goto('/dashboard/logs')
  const field = page.getByRole('combobox', { name: 'Target', exact: true })
  await page
    .locator('datalist option[value="sandbox/echo-reasoning"]')
    .waitFor({ state: 'attached' })
  await field.focus()
  await page.keyboard.type('sandbox/echo-reasoning', { delay: 20 })
  await page.keyboard.press('Enter')
  await page.waitForURL('**target=sandbox%2Fecho-reasoning')
  await isFocused(field)
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.press('Delete')
  await page.keyboard.press('Enter')
  await page.waitForURL((url) => !url.search.includes('target'))
  await isFocused(field)
})

test('an empty log leads on to how a call is sent', async () => {
  await follow(page, '/logs')
  await page.getByRole('link', { name: 'How to send a call' }).press('Enter')
  await page.getByRole('heading', { name: 'Docs', level: 1 }).waitFor()
})

test('a budget is made by keyboard alone, and says at its fields what is missing', async () => {
  await follow(page, '/settings/budgets')
  await button('Create a budget').first().press('Enter')
  const dialog = page.getByRole('dialog')
  await isFocused(dialog.getByLabel('Limits'))
  await page.keyboard.press('ArrowDown')
  const gate = dialog.getByLabel('Gate', { exact: true })
  const amount = dialog.getByLabel(/^Limit in/)
  await amount.press('Enter')
  await isFocused(gate)
  await dialog.getByText('This is needed.').first().waitFor()
  await page.keyboard.type('demo')
  await page.keyboard.press('Tab')
  await page.keyboard.type('a little')
  await page.keyboard.press('Enter')
  await isFocused(amount)
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.type('1,000,000')
  await page.keyboard.press('Tab')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Tab')
  await page.keyboard.press('ArrowUp')
  // Past the time zone and the choice of what happens at the limit.
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('region', { name: 'Budgets' }).getByText('of 1M tokens a week').waitFor()
})

test('a budget is simulated with the calls in the log, by keyboard alone', async () => {
  const budget = { name: 'Simulated', gateId: 'demo', limitTokens: 1_000, period: 'day' }
  await controlPlaneCall(gatehouse, 'POST', '/v1/budgets', budget)
  // A list is asked for anew when its page opens.
  await follow(page, '/settings/webhooks')
  await follow(page, '/settings/budgets')
  await button('Simulate Simulated').press('Enter')
  const dialog = page.getByRole('dialog')
  await dialog.getByText('0 calls ($0) would have been admitted').waitFor()
  await dialog.getByRole('list', { name: 'Limitations' }).getByText('After a refusal').waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
})

test('a webhook and a key that ends are made by keyboard alone', async () => {
  await follow(page, '/settings/webhooks')
  await button('Create a webhook').first().press('Enter')
  const dialog = page.getByRole('dialog')
  const copyAndClose = async (name: string) => {
    await isFocused(button(name))
    await page.keyboard.press('Enter')
    await dialog.getByText('Copied.').waitFor()
    await page.keyboard.press('Tab')
    await isFocused(button('Done'))
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
  }
  await isFocused(dialog.getByLabel('Address'))
  await page.keyboard.press('Enter')
  await dialog.getByText('This is needed.').waitFor()
  await page.keyboard.type('https://hooks.example.com/a')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  await page.keyboard.press('Enter')
  await copyAndClose('Copy the secret')
  await page.getByText('https://hooks.example.com/a').waitFor()

  await follow(page, '/keys')
  await button('Create New Key').press('Enter')
  await isFocused(dialog.getByLabel('Name'))
  await page.keyboard.type('dated')
  await page.keyboard.press('Tab')
  await page.keyboard.press('End')
  await page.keyboard.press('Tab')
  await isFocused(dialog.getByLabel('Last day'))
  await page.keyboard.type('31122999')
  await page.keyboard.press('Enter')
  await copyAndClose('Copy the key')
  await page.getByRole('cell', { name: /2999|in \d+ years/ }).waitFor()
})

test('a filter of the audit log that is reset keeps the focus among the filters', async () => {
  await follow(page, '/settings/audit-log?resourceType=key')
  await button('Reset').press('Enter')
  await isFocused(page.getByRole('form', { name: 'Filter' }).getByLabel('By'))
})
