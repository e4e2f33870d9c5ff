/**
 * Limits, budgets, webhooks and the audit log in the dashboard, in a real browser on the real
 * server.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import {
  BROWSER_TEST_TIMEOUT_MS,
  copyShownOnce,
  enterAsOwner,
  openBrowser,
  type Visit,
} from '../support/chromium.ts'
import { controlPlaneCall } from '../support/control-plane.ts'
import { findPageFaults } from '../support/page-checks.ts'
import { pollUntil } from '../support/poll-until.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { untilItHolds } from '../support/until-it-holds.ts'
import { startWebhookReceiver } from '../support/webhook-receiver.ts'

const SECRET = 'shared with the receiver'

const receiver = startWebhookReceiver(SECRET)
setDefaultTimeout(BROWSER_TEST_TIMEOUT_MS)

let folder: TemporaryFolder
let gatehouse: Gatehouse
let browser: Awaited<ReturnType<typeof openBrowser>>
let visit: Visit
let page: Page
beforeAll(async () => {
  folder = await createTemporaryFolder()
  const file = join(folder.path, 'gatehouse.yaml')
  await Bun.write(
    file,
    'plans: {definitions: {unlimited: {accountRequestsPerMinute: 7654, monthlySpendUsd: 999999.99}}}',
  )
  gatehouse = await startGatehouse({
    sandbox: true,
    environment: { GATEHOUSE_TRUSTED_HOSTS: receiver.host, GATEHOUSE_CONFIG: file },
  })
  browser = await openBrowser()
  visit = await browser.visit(gatehouse.url)
  page = visit.page
  await enterAsOwner(page, gatehouse)
})
afterAll(async () => {
  await browser.close()
  await gatehouse.remove()
  await receiver.stop()
  await folder.remove()
})

async function callDemo(): Promise<number> {
  const response = await fetch(`${gatehouse.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gatehouse.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo', input: 'hello' }),
  })
  await response.text()
  return response.status
}

async function openSection(name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name }).click()
}

test('the plan and its usage are shown', async () => {
  expect(await callDemo()).toBe(200)
  await page.goto('/dashboard/settings/limits')
  await page.getByText(/^Plan: /).waitFor()
  const tokens = page.getByRole('region', { name: 'Tokens' })
  await tokens.getByText(/^[1-9]\d*$/).waitFor()
  await page.getByText('of $999,999.99 used').waitFor()
  await page.getByText('10,000').waitFor()
  await page.getByRole('heading', { name: 'All keys together' }).waitFor()
  await page.getByText('7,654').waitFor()
  expect(await findPageFaults(page)).toEqual([])
})

test('a webhook is added, shows its secret once, is tested, switched off, changed and deleted', async () => {
  await openSection('Webhooks')
  await page.getByRole('button', { name: 'Create a webhook' }).click()
  const dialog = page.getByRole('dialog')
  const sizes = await dialog
    .getByRole('checkbox')
    .evaluateAll((boxes) => boxes.map((box) => box.getBoundingClientRect().width))
  // Long words beside a box take no room from it.
  expect(new Set(sizes)).toEqual(new Set([16]))
  await dialog.getByLabel('Address').fill('http://10.0.0.1/hook')
  await dialog.getByRole('button', { name: 'Create', exact: true }).click()
  await dialog.getByLabel('Address').and(page.locator('[aria-invalid=true]')).waitFor()
  await dialog.getByLabel('Address').fill(receiver.url)
  await dialog.getByRole('button', { name: 'Create', exact: true }).click()
  const secret = (await dialog.getByRole('region', { name: 'the secret' }).textContent()) ?? ''
  expect(secret.length).toBeGreaterThan(20)
  await copyShownOnce(page, 'secret')
  await dialog.getByRole('button', { name: 'Done' }).click()
  const item = page.getByRole('listitem', { name: receiver.url })
  await item.waitFor()
  expect(await page.content()).not.toContain(secret)

  await item.getByRole('button', { name: /^Edit/ }).click()
  await dialog.getByRole('checkbox', { name: /provider\.degraded/ }).uncheck()
  await dialog.getByLabel('Secret').fill(SECRET)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await item.getByText('provider.degraded').waitFor({ state: 'detached' })

  await item.getByRole('button', { name: /^Test/ }).click()
  await item.getByText('Delivered', { exact: true }).waitFor()
  expect(receiver.deliveries.map(({ eventName, isSigned }) => [eventName, isSigned])).toEqual([
    ['webhook.test', true],
  ])
  expect(await findPageFaults(page)).toEqual([])

  // The page says so at once; to load it anew before the gateway has heard of it would take the
  // change back.
  const heard = page.waitForResponse((response) => response.request().method() === 'PATCH')
  await item.getByRole('switch').click()
  await item.getByText('Off', { exact: true }).waitFor()
  await heard
  await page.reload()
  await item.getByRole('switch', { checked: false }).click()
  await item.getByRole('switch', { checked: true }).waitFor()
})

test('a tag is created, its name is unique, and it is edited, gets members and is deleted', async () => {
  await openSection('Tags')
  const dialog = page.getByRole('dialog')
  const create = async (name: string) => {
    await page.getByRole('button', { name: 'Create a tag' }).click()
    await dialog.getByLabel('Name').fill(name)
    await dialog.getByRole('button', { name: 'Create', exact: true }).click()
  }
  await create('two words')
  await dialog.getByLabel('Name').and(page.locator('[aria-invalid=true]')).waitFor()
  expect(await findPageFaults(page)).toEqual([])
  await dialog.getByLabel('Name').fill('production')
  await dialog.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('cell', { name: 'production', exact: true }).waitFor()
  expect(await findPageFaults(page)).toEqual([])

  await create('production')
  await dialog.getByText('A tag with this name already exists.').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Edit production' }).click()
  await dialog.getByLabel('Description').fill('What customers see')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('cell', { name: 'What customers see' }).waitFor()
  for (const [isMember, count] of [
    [true, '1'],
    [false, '0'],
  ] as const) {
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Edit production' }).click()
    const member = dialog.getByRole('group', { name: /^Members/ }).getByRole('checkbox')
    expect(await member.isChecked()).toBe(!isMember)
    await member.setChecked(isMember)
    expect(await findPageFaults(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row', { name: new RegExp(`production.* ${count} `) }).waitFor()
  }
  await page.getByRole('button', { name: 'Delete production' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete the tag' }).click()
  await page.getByText('No tags').waitFor()
})

test('a budget of an end user whom the account does not record is refused at its field', async () => {
  await openSection('Budgets')
  await page.getByRole('button', { name: 'Create a budget' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Limits').selectOption('endUser')
  await dialog.getByLabel('End user').fill('customer-4711')
  await dialog.getByLabel('Limit in US dollars').fill('5')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByText('would count no call, because the account does not record').waitFor()
  await dialog.getByLabel('End user').and(page.locator(':focus')).waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
})

test('a budget is created, used up, shown as exhausted, sent to the webhook, raised and deleted', async () => {
  await openSection('Budgets')
  await page.getByRole('button', { name: 'Create a budget' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Limits').selectOption('gateId')
  const gate = dialog.getByRole('combobox', { name: 'Gate' })
  await gate.fill('nothing-like-it')
  await dialog.getByText('No gate matches.').waitFor()
  await gate.fill('dem')
  await dialog.getByText('Limits demo.').waitFor()
  await dialog.getByText('The cost of calls, a month.').waitFor()
  await dialog.getByLabel('Counted in').selectOption('tokens')
  await dialog.getByText('Input and output tokens, a month.').waitFor()
  await gate.blur()
  expect(await gate.inputValue()).toBe('demo')
  await dialog.getByLabel('Limit in tokens').fill('1.5')
  await dialog.getByText('must be a whole number of at least 1').waitFor()
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByLabel('Limit in tokens').and(page.locator(':focus')).waitFor()
  await dialog.getByLabel('Limit in tokens').fill('1')
  await dialog.getByLabel('Name').fill('Demo, daily')
  await dialog.getByLabel('Period').selectOption('day')
  await dialog.getByText('The budget starts again each day at midnight.').waitFor()
  expect(await findPageFaults(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('cell', { name: 'Demo, daily', exact: true }).waitFor()

  await pollUntil('a refused call', async () => (await callDemo()) === 429)
  await page.reload()
  await page.getByText('Exhausted').waitFor()
  await page.getByText('Calls are refused.').waitFor()
  expect(
    await page.getByRole('meter', { name: 'Used of Demo, daily' }).getAttribute('aria-valuenow'),
  ).toBe('100')
  expect(await findPageFaults(page)).toEqual([])
  await pollUntil('the webhook to be told', () =>
    receiver.deliveries.some(({ eventName }) => eventName === 'budget.exhausted'),
  )

  await page.getByRole('button', { name: 'Edit Demo, daily' }).click()
  await dialog.getByLabel('Raise by').fill('1,000,000')
  await dialog.getByRole('button', { name: 'Save' }).click()
  const until = dialog.getByLabel('Raise until')
  await untilItHolds(async () => expect(await until.getAttribute('aria-invalid')).toBe('true'))
  await until.fill('2099-12-31T18:00')
  await dialog.getByLabel('Message to callers').fill('Ask #ai-platform.')
  expect(await findPageFaults(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Exhausted').waitFor({ state: 'detached' })
  expect(await callDemo()).toBe(200)
  await page.getByRole('button', { name: 'Edit Demo, daily' }).click()
  await dialog.getByLabel('Raise by').fill('')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Exhausted').waitFor()

  await page.getByRole('button', { name: 'Edit Demo, daily' }).click()
  await dialog.getByLabel('When it is used up').selectOption('cheaper')
  await dialog.getByLabel('Refuse all calls at').fill('99')
  await dialog.getByText('must be a whole percent from 100 to 1000').waitFor()
  expect(await findPageFaults(page)).toEqual([])
  await dialog.getByLabel('Refuse all calls at').fill('130')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Calls move to cheaper targets, and are refused at 130 %.').waitFor()

  await page.getByRole('button', { name: 'Edit Demo, daily' }).click()
  await dialog.getByLabel('Limit in tokens').fill('1,000,000')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Exhausted').waitFor({ state: 'detached' })
  expect(await callDemo()).toBe(200)

  await page.getByRole('button', { name: 'Delete Demo, daily' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete the budget' }).click()
  await page.getByText('No budgets').waitFor()
})

test('the audit log shows these changes, filters them, and shows their differences', async () => {
  await openSection('Audit log')
  await page.getByRole('button', { name: 'Deleted a budget' }).waitFor()
  await page.getByLabel('Of', { exact: true }).selectOption('budget')
  await page.getByRole('button', { name: 'Created a webhook' }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Changed a budget' }).first().focus()
  await page.keyboard.press('Enter')
  const change = page.getByRole('row', { name: 'limitTokens 1 1000000', exact: true })
  await change.waitFor()
  expect(await findPageFaults(page)).toEqual([])

  expect(new URL(page.url()).searchParams.get('resourceType')).toBe('budget')
  await page.reload()
  await page.getByRole('button', { name: 'Deleted a budget' }).waitFor()
  expect(await page.getByLabel('Of', { exact: true }).inputValue()).toBe('budget')

  await page.getByLabel('By', { exact: true }).selectOption({ label: 'The operator' })
  await page.getByText('Nothing matches').waitFor()
  await page.getByRole('button', { name: 'Show all changes' }).click()
  await page.getByRole('button', { name: 'Created a webhook' }).waitFor()
  await page.getByLabel('Until').fill('2020-01-01')
  await page.getByText('Nothing matches').waitFor()
  await page.getByRole('button', { name: 'Reset' }).click()
  await page.getByRole('button', { name: 'Created a webhook' }).waitFor()
  expect(await page.content()).not.toContain(SECRET)
})

test('an unreachable webhook is reported, and deleted', async () => {
  await receiver.stop()
  await openSection('Webhooks')
  const item = page.getByRole('listitem', { name: receiver.url })
  await item.getByRole('button', { name: /^Test/ }).click()
  await item.getByText('Not delivered').waitFor()
  await item.getByRole('button', { name: /^Delete/ }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete the webhook' }).click()
  await page.getByText('No webhooks').waitFor()
})

test('an edit saved over another undoes only the members that it changed', async () => {
  const ask = async (method: string, path: string, body?: object) =>
    (await (await controlPlaneCall(gatehouse, method, path, body)).json()) as { id: string }
  const budget = await ask('POST', '/v1/budgets', { gateId: 'demo', limitUsd: 50, period: 'month' })
  const webhook = await ask('POST', '/v1/webhooks', {
    url: receiver.url,
    events: ['budget.threshold'],
  })
  const dialog = page.getByRole('dialog')

  await page.goto('/dashboard/settings/budgets')
  await page.getByRole('button', { name: /^Edit/ }).click()
  await ask('PATCH', `/v1/budgets/${budget.id}`, { limitUsd: 20, alertAt: [0.3] })
  await dialog.getByLabel('Name').fill('Renamed')
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await dialog.getByRole('button', { name: 'Save mine over it' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await ask('GET', `/v1/budgets/${budget.id}`)).toMatchObject({
    name: 'Renamed',
    limitUsd: 20,
    alertAt: [0.3],
  })

  await openSection('Webhooks')
  await page.getByRole('button', { name: /^Edit/ }).click()
  await ask('PATCH', `/v1/webhooks/${webhook.id}`, { events: ['provider.degraded'] })
  await dialog.getByLabel('Secret').fill(SECRET)
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await dialog.getByRole('button', { name: 'Save mine over it' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await ask('GET', `/v1/webhooks/${webhook.id}`)).toMatchObject({
    events: ['provider.degraded'],
  })
  await ask('DELETE', `/v1/webhooks/${webhook.id}`).catch(() => {})
  await ask('DELETE', `/v1/budgets/${budget.id}`).catch(() => {})
})

test('these pages log no error and request nothing from another host', () => {
  expect(visit.complaints).toEqual([])
})
