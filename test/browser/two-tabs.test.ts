/**
 * Two who edit one thing in the dashboard: neither undoes the other unseen, and nothing that was
 * typed is lost.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'playwright-core'
import {
  BROWSER_TEST_TIMEOUT_MS,
  enterAsOwner,
  follow,
  OWNER,
  openBrowser,
  type Visit,
} from '../support/chromium.ts'
import { controlPlaneCall, createGate, createKey } from '../support/control-plane.ts'
import { findPageFaults } from '../support/page-checks.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { untilItHolds } from '../support/until-it-holds.ts'

setDefaultTimeout(BROWSER_TEST_TIMEOUT_MS)

let gatehouse: Gatehouse
let browser: Awaited<ReturnType<typeof openBrowser>>
let visit: Visit
let here: Page
beforeAll(async () => {
  gatehouse = await startGatehouse({
    sandbox: true,
    environment: { GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1' },
  })
  browser = await openBrowser()
  visit = await browser.visit(gatehouse.url)
  here = visit.page
  await enterAsOwner(here, gatehouse)
})
afterAll(async () => {
  await browser.close()
  await gatehouse.remove()
})

const ask = async (method: string, path: string, body?: object) =>
  (await (await controlPlaneCall(gatehouse, method, path, body)).json()) as { id: string }
const note = (page: Page, thing: string) =>
  page
    .getByRole('alert')
    .filter({ hasText: `Another user or program changed this ${thing} while you were` })

describe('a gate that another tab has saved meanwhile', () => {
  test('is not overwritten unseen: the newest can be seen, and mine brought back onto it', async () => {
    await createGate(gatehouse, 'shared', ['sandbox/echo'])
    const there = await visit.context.newPage()
    await follow(here, '/gates/shared')
    await there.goto('/dashboard/gates/shared')
    for (const page of [here, there]) {
      await page.getByLabel('Model of target 1').waitFor()
      await page.getByRole('button', { name: 'Name' }).or(page.getByLabel('Display name')).waitFor()
    }
    await there.getByLabel('Display name').fill('Theirs')
    await there.getByLabel('Description').fill('Theirs too')
    await there.getByRole('button', { name: 'Save' }).click()
    await there.getByText('Saved; the next call uses it.').waitFor()
    await there.close()

    await here.getByLabel('Display name').fill('Mine')
    await here.getByRole('button', { name: 'Save' }).click()
    await note(here, 'gate').waitFor()
    await note(here, 'gate').getByText(OWNER.email).waitFor()
    expect(await here.getByLabel('Display name').inputValue()).toBe('Mine')
    expect(await ask('GET', '/v1/gates/shared')).toMatchObject({ displayName: 'Theirs' })
    expect(await findPageFaults(here)).toEqual([])

    await here.getByRole('button', { name: 'See the newest' }).click()
    await here.getByText('Your input is kept.').waitFor()
    expect(await here.getByLabel('Display name').inputValue()).toBe('Theirs')
    expect(await here.getByLabel('Description').inputValue()).toBe('Theirs too')
    await here.getByRole('button', { name: 'Bring mine back' }).click()
    expect(await here.getByLabel('Display name').inputValue()).toBe('Mine')
    await here.getByRole('button', { name: 'Save' }).click()
    await here.getByText('Saved; the next call uses it.').waitFor()
    expect(await ask('GET', '/v1/gates/shared')).toMatchObject({
      displayName: 'Mine',
      description: 'Theirs too',
    })
  })

  test('is shown as it is now, and a target that is being typed stays', async () => {
    await createGate(gatehouse, 'searched', ['sandbox/echo'])
    const page = await visit.context.newPage()
    await page.goto('/dashboard/gates/searched')
    const picker = page.getByRole('combobox', { name: 'Add a target' })
    await picker.fill('sandbox/sl')
    await ask('PATCH', '/v1/gates/searched', { description: 'Theirs' })
    // What the page knows is old by now, and it looks again when it is seen again.
    await page.clock.setFixedTime(Date.now() + 3_600_000)
    await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))')
    await untilItHolds(async () =>
      expect(await page.getByLabel('Description').inputValue()).toBe('Theirs'),
    )
    expect(await picker.inputValue()).toBe('sandbox/sl')
    await page.close()
  })

  test('is overwritten on purpose, in what was typed alone', async () => {
    await createGate(gatehouse, 'over', ['sandbox/echo'])
    await follow(here, '/gates/over')
    await here.getByLabel('Display name').fill('Mine')
    await ask('PATCH', '/v1/gates/over', { displayName: 'Theirs', description: 'Theirs' })
    await here.getByRole('button', { name: 'Save' }).click()
    await here.getByRole('button', { name: 'Save mine over it' }).click()
    await here.getByText('Saved; the next call uses it.').waitFor()
    expect(await note(here, 'gate').count()).toBe(0)
    expect(await ask('GET', '/v1/gates/over')).toMatchObject({
      displayName: 'Mine',
      description: 'Theirs',
    })
  })

  test('between the look and the change is not overwritten either', async () => {
    await createGate(gatehouse, 'raced', ['sandbox/echo'])
    await follow(here, '/gates/raced')
    await here.getByLabel('Display name').fill('Mine')
    await here.route('**/v1/gates/raced', async (route) => {
      if (route.request().method() === 'PATCH')
        await ask('PATCH', '/v1/gates/raced', { displayName: 'Theirs' })
      await route.continue()
    })
    await here.getByRole('button', { name: 'Save' }).click()
    await note(here, 'gate').waitFor()
    await here.unroute('**/v1/gates/raced')
    expect(await ask('GET', '/v1/gates/raced')).toMatchObject({ displayName: 'Theirs' })
    await here.getByRole('button', { name: 'Discard' }).click()
    await untilItHolds(async () =>
      expect(await here.getByLabel('Display name').inputValue()).toBe('Theirs'),
    )
  })

  test('and deleted says so, and keeps what was typed', async () => {
    await createGate(gatehouse, 'gone', ['sandbox/echo'])
    await follow(here, '/gates/gone')
    await here.getByLabel('Display name').fill('Mine')
    await controlPlaneCall(gatehouse, 'DELETE', '/v1/gates/gone')
    await here.getByRole('button', { name: 'Save' }).click()
    await here.getByRole('alert').getByText("There is no gate 'gone' in this account.").waitFor()
    expect(await here.getByLabel('Display name').inputValue()).toBe('Mine')
    await here.getByRole('button', { name: 'Discard' }).click()
  })
})

test('a budget, a webhook, a key and an owned model that another has changed ask in the same way', async () => {
  const dialog = here.getByRole('dialog')
  const { id: budget } = await ask('POST', '/v1/budgets', {
    gateId: 'demo',
    limitUsd: 50,
    period: 'month',
  })
  await follow(here, '/settings/budgets')
  await here.getByRole('button', { name: /^Edit/ }).click()
  await dialog.getByLabel('Name').fill('Mine')
  await ask('PATCH', `/v1/budgets/${budget}`, { name: 'Theirs', limitUsd: 20 })
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await note(here, 'budget').waitFor()
  await dialog.getByRole('button', { name: 'See the newest' }).click()
  expect(await dialog.getByLabel('Limit in US dollars').inputValue()).toBe('20')
  await dialog.getByRole('button', { name: 'Bring mine back' }).click()
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await ask('GET', `/v1/budgets/${budget}`)).toMatchObject({ name: 'Mine', limitUsd: 20 })

  const { id: webhook } = await ask('POST', '/v1/webhooks', {
    url: 'https://example.com/hook',
    events: ['budget.threshold'],
  })
  await follow(here, '/settings/webhooks')
  await here.getByRole('button', { name: /^Edit/ }).click()
  await dialog.getByLabel('Address').fill('https://example.com/mine')
  await ask('PATCH', `/v1/webhooks/${webhook}`, { events: ['provider.degraded'] })
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await note(here, 'webhook').waitFor()
  await dialog.getByRole('button', { name: 'Save mine over it' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await ask('GET', `/v1/webhooks/${webhook}`)).toMatchObject({
    url: 'https://example.com/mine',
    events: ['provider.degraded'],
  })

  const key = await createKey(gatehouse, 'theirs')
  await here.goto('/dashboard/keys')
  await here.getByRole('button', { name: 'Actions for theirs' }).click()
  await here.getByRole('menuitem', { name: 'Edit' }).click()
  await dialog.getByLabel('Name').fill('mine')
  await ask('PATCH', `/v1/keys/${key.id}`, { name: 'theirs again' })
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await note(here, 'key').waitFor()
  expect(await findPageFaults(here)).toEqual([])
  await dialog.getByRole('button', { name: 'Save mine over it' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await ask('GET', `/v1/keys/${key.id}`)).toMatchObject({ name: 'mine' })

  await ask('POST', '/v1/owned-models', {
    slug: 'both',
    dialect: 'openai-chat',
    baseUrl: 'http://127.0.0.1:9/v1',
    upstreamModelId: 'm',
    pricingInput: 1,
    pricingOutput: 1,
  })
  await follow(here, '/owned-models/both')
  await here.getByLabel('Display name').fill('Mine')
  await ask('PATCH', '/v1/owned-models/both', { pricingOutput: 7 })
  await here.getByRole('button', { name: 'Save', exact: true }).click()
  await note(here, 'model').waitFor()
  await here.getByRole('button', { name: 'See the newest' }).click()
  await here.getByRole('button', { name: 'Bring mine back' }).click()
  await here.getByRole('button', { name: 'Save', exact: true }).click()
  await here.getByText('Model “both” saved').waitFor()
  expect(await ask('GET', '/v1/owned-models/both')).toMatchObject({
    displayName: 'Mine',
    pricingOutput: 7,
  })
})

test('a thing that is gone by now leaves the list behind the window that says so', async () => {
  const dialog = here.getByRole('dialog')
  const { id: budget } = await ask('POST', '/v1/budgets', {
    gateId: 'demo',
    limitUsd: 50,
    period: 'month',
    name: 'Gone',
  })
  await here.goto('/dashboard/settings/budgets')
  await here.getByRole('button', { name: 'Edit Gone' }).click()
  await dialog.getByLabel('Name').fill('Mine')
  await controlPlaneCall(gatehouse, 'DELETE', `/v1/budgets/${budget}`)
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await dialog.getByRole('alert').getByText('There is no budget with this id.').waitFor()
  expect(await dialog.getByLabel('Name').inputValue()).toBe('Mine')
  await here.keyboard.press('Escape')
  await here
    .getByRole('button', { name: 'Edit Gone' })
    .waitFor({ state: 'detached', timeout: 5_000 })

  const key = await createKey(gatehouse, 'gone')
  await here.goto('/dashboard/keys')
  await here.getByRole('button', { name: 'Actions for gone' }).click()
  await here.getByRole('menuitem', { name: 'Delete' }).click()
  await controlPlaneCall(gatehouse, 'DELETE', `/v1/keys/${key.id}`)
  await here.getByRole('button', { name: 'Delete the key' }).click()
  await here.getByRole('alert').getByText('There is no key with this id.').waitFor()
  await here.keyboard.press('Escape')
  await here
    .getByRole('button', { name: 'Actions for gone' })
    .waitFor({ state: 'detached', timeout: 5_000 })
})

describe('a change whose answer was lost on the way', () => {
  /** Answers of the first change there are lost, after the gateway has made it. */
  const loseOne = async (path: string, method: string) => {
    let isLost = false
    await here.route(`**${path}`, async (route) => {
      if (route.request().method() !== method || isLost) return await route.continue()
      isLost = true
      await route.fetch()
      await route.abort('connectionreset')
    })
  }

  test('can be sent again: it is nobody else’s', async () => {
    await createGate(gatehouse, 'lost', ['sandbox/echo'])
    await follow(here, '/gates/lost')
    await here.getByLabel('Display name').fill('Mine')
    await loseOne('/v1/gates/lost', 'PATCH')
    await here.getByRole('button', { name: 'Save' }).click()
    await here.getByRole('alert').getByText('The gateway cannot be reached').waitFor()
    expect(await here.getByLabel('Display name').inputValue()).toBe('Mine')
    await here.getByRole('button', { name: 'Save' }).click()
    await here.getByText('Saved; the next call uses it.').waitFor({ timeout: 20_000 })
    await here.unrouteAll({ behavior: 'wait' })
  })

  test('that creates something says that it may be there, and the list shows it', async () => {
    await follow(here, '/settings/budgets')
    await here.getByRole('button', { name: 'Create a budget' }).first().click()
    const dialog = here.getByRole('dialog')
    await dialog.getByLabel('Limit in US dollars').fill('7')
    await dialog.getByLabel('Limits').selectOption('gateId')
    await dialog.getByLabel('Gate', { exact: true }).fill('demo')
    await dialog.getByText('Limits demo.').waitFor()
    await dialog.getByLabel('Name').fill('Perhaps')
    await loseOne('/v1/budgets', 'POST')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByRole('alert').getByText('It may have been done all the same').waitFor()
    await here.keyboard.press('Escape')
    await here.getByRole('button', { name: 'Edit Perhaps' }).waitFor({ timeout: 20_000 })
    await here.unrouteAll({ behavior: 'wait' })
  })
})

test('nothing on these pages complains or leaves the gateway', () => {
  expect(visit.complaints).toEqual([])
})
