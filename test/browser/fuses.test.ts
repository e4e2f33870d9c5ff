/**
 * Fuses in the dashboard, in a real browser on the real server: set in a gate's form, shown where
 * they stop somebody, and lifted.
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
import { controlPlaneCall, createGate } from '../support/control-plane.ts'
import { findPageFaults } from '../support/page-checks.ts'
import { pollUntil } from '../support/poll-until.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

setDefaultTimeout(BROWSER_TEST_TIMEOUT_MS)

let gatehouse: Gatehouse
let browser: Awaited<ReturnType<typeof openBrowser>>
let visit: Visit
let page: Page
beforeAll(async () => {
  gatehouse = await startGatehouse({ sandbox: true })
  await controlPlaneCall(gatehouse, 'PATCH', '/v1/account/attribution', {
    endUsers: true,
    peopleFigures: 'administrators',
  })
  await createGate(gatehouse, 'plain', 'sandbox/echo')
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

async function fuseOf(gate: string): Promise<unknown> {
  const response = await controlPlaneCall(gatehouse, 'GET', `/v1/gates/${gate}`)
  return ((await response.json()) as { fuse: unknown }).fuse
}

async function call(gate: string, names: Readonly<Record<string, string>>): Promise<number> {
  const response = await fetch(`${gatehouse.url}/v1/responses`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gatehouse.key}`,
      'content-type': 'application/json',
      ...names,
    },
    body: JSON.stringify({ model: gate, input: 'x' }),
  })
  await response.text()
  return response.status
}

async function blow(gate: string, names: Readonly<Record<string, string>>): Promise<void> {
  await pollUntil('the fuse to blow', async () => (await call(gate, names)) === 403)
}

async function createRunaway(gate: string): Promise<void> {
  await createGate(gatehouse, gate, 'sandbox/echo', {
    fuse: { callsPerMinute: 1, forMinutes: 1 },
  })
  await blow(gate, { 'x-gatehouse-user': 'customer-4711' })
  await blow(gate, { 'x-gatehouse-session': 'conversation-9' })
  await waitForName(gate, 'customer-4711')
}

/** The name of a user is stored with the first calls. */
async function waitForName(gate: string, name: string): Promise<void> {
  await pollUntil('the name of the user', async () => {
    const response = await controlPlaneCall(gatehouse, 'GET', `/v1/gates/${gate}/stops`)
    return (await response.text()).includes(name)
  })
}

const stopped = () => page.getByRole('region', { name: 'Stopped by the fuse' })

test('a fuse is set, explained when it is incomplete, and removed in the form of a gate', async () => {
  await follow(page, '/gates/plain')
  const fold = page.locator('summary').filter({ hasText: 'Fuse' })
  await fold.click()
  await page.getByLabel('Minutes in a row').fill('3')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Set US dollars or calls a minute.').waitFor()
  await page.getByLabel('Calls a minute').fill('1,200')
  await page.getByLabel('US dollars an hour').fill('0')
  await page.getByText('must be at least 0.01').waitFor()
  await page.getByLabel('US dollars an hour').fill('20')
  expect(await findPageFaults(page)).toEqual([])
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('fuse: none → $20 in an hour or 1200 calls a minute for 3 minutes').waitFor()
  expect(await fuseOf('plain')).toEqual({ usd: 20, callsPerMinute: 1_200, forMinutes: 3 })
  await page.reload()
  await fold.filter({ hasText: '$20 an hour · 1200 calls a minute' }).click()
  for (const label of ['US dollars an hour', 'Calls a minute', 'Minutes in a row'])
    await page.getByLabel(label).fill('')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved; the next call uses it.').waitFor()
  expect(await fuseOf('plain')).toBeNull()
})

test('a gate’s page lists the stopped, with who, since when and why, and lifts a stop with one click', async () => {
  await follow(page, '/gates/plain')
  await page.getByLabel('Display name').waitFor()
  expect(await stopped().count()).toBe(0)
  await createRunaway('runaway')
  await follow(page, '/gates/runaway')
  const user = stopped().getByRole('row', { name: /customer-4711/ })
  await user.getByText('Made more than one call').waitFor()
  await user.locator('time').waitFor()
  const session = stopped().getByRole('row', { name: /Session \w+/ })
  await session.getByRole('link').waitFor()
  expect(await findPageFaults(page)).toEqual([])
  await user.getByRole('button', { name: 'Lift the stop of customer-4711' }).click()
  await page.getByText('Stop of “customer-4711” lifted').waitFor()
  await user.waitFor({ state: 'detached' })
  expect(await call('runaway', { 'x-gatehouse-user': 'customer-4711' })).toBe(200)
  expect(await call('runaway', { 'x-gatehouse-session': 'conversation-9' })).toBe(403)
  await session.getByRole('button', { name: /^Lift/ }).press('Enter')
  await stopped().waitFor({ state: 'detached' })
  expect(await page.evaluate('document.activeElement.closest("#content") !== null')).toBe(true)
  expect(await call('runaway', { 'x-gatehouse-session': 'conversation-9' })).toBe(200)
})

test('a user and the session that did the user’s work are lifted together, or one of them alone', async () => {
  for (const kept of ['both', 'user'] as const) {
    const gate = `together-${kept}`
    await createGate(gatehouse, gate, 'sandbox/echo', {
      fuse: { callsPerMinute: 1, forMinutes: 1 },
    })
    const names = { 'x-gatehouse-user': `agent-${kept}`, 'x-gatehouse-session': `loop-${kept}` }
    await blow(gate, names)
    await waitForName(gate, `agent-${kept}`)
    await follow(page, `/gates/${gate}`)
    const user = stopped().getByRole('row', { name: new RegExp(`^agent-${kept}`) })
    const both = user.getByRole('button', {
      name: `Lift both the stops of agent-${kept} and one session`,
    })
    await both.waitFor()
    await stopped()
      .getByRole('row', { name: /Session \w+/ })
      .getByText(`of agent-${kept}`)
      .waitFor()
    expect(await findPageFaults(page)).toEqual([])
    if (kept === 'both') {
      await both.press('Enter')
      await page.getByText('Stop of “agent-both” and one session lifted').waitFor()
      await stopped().waitFor({ state: 'detached' })
      expect(await call(gate, names)).toBe(200)
    } else {
      await user.getByRole('button', { name: 'Lift the stop of agent-user' }).click()
      await user.waitFor({ state: 'detached' })
      expect(await call(gate, names)).toBe(403)
    }
    await controlPlaneCall(gatehouse, 'DELETE', `/v1/gates/${gate}`)
  }
})

test('the overview names the gates whose fuses stopped somebody, until all stops are lifted', async () => {
  await createRunaway('second')
  await page.goto('/dashboard/')
  const notice = page.getByRole('region', { name: 'Stopped by fuses' })
  await notice.getByText('1 session and 1 user by the gate second').waitFor()
  expect(await findPageFaults(page)).toEqual([])
  await notice.getByRole('link', { name: 'second' }).click()
  for (const left of [1, 0]) {
    await stopped().getByRole('button', { name: /^Lift/ }).first().click()
    await pollUntil('the stop to be lifted', async () => {
      const response = await controlPlaneCall(gatehouse, 'GET', '/v1/gates/second/stops')
      return ((await response.json()) as { data: unknown[] }).data.length === left
    })
  }
  await stopped().waitFor({ state: 'detached' })
  await follow(page, '/')
  await page.getByRole('list', { name: 'Top gates' }).waitFor()
  // The page shows the earlier counts until the new ones arrive.
  await notice.waitFor({ state: 'detached' })
})

test('a budget’s fuse is set in its form, and its stops are lifted on the page of budgets', async () => {
  await createGate(gatehouse, 'shared', 'sandbox/echo')
  const response = await controlPlaneCall(gatehouse, 'POST', '/v1/budgets', {
    ...{ gateId: 'shared', name: 'Shared', limitTokens: 1_000_000, period: 'day' },
  })
  const { id } = (await response.json()) as { id: string }
  await follow(page, '/settings/budgets')
  await page.getByRole('button', { name: 'Edit Shared' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Minutes in a row').fill('1')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('Set US dollars or calls a minute.').waitFor()
  await dialog.getByLabel('Calls a minute').fill('0')
  await dialog.getByText('must be at least 1').waitFor()
  await dialog.getByLabel('Calls a minute').fill('1')
  expect(await findPageFaults(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Budget saved').waitFor()
  const saved = await controlPlaneCall(gatehouse, 'GET', `/v1/budgets/${id}`)
  expect(await saved.json()).toMatchObject({
    fuse: { usd: null, callsPerMinute: 1, forMinutes: 1 },
  })

  await blow('shared', { 'x-gatehouse-session': 'conversation-10' })
  await page.goto('/dashboard/')
  const notice = page.getByRole('region', { name: 'Stopped by fuses' })
  await notice.getByText('1 session by the budget Shared').waitFor()
  await notice.getByRole('link', { name: 'Shared' }).click()
  const stops = page.getByRole('region', { name: 'Stopped by the fuse of “Shared”' })
  await stops.getByText('Made more than one call').waitFor()
  expect(await findPageFaults(page)).toEqual([])
  await stops.getByRole('button', { name: /^Lift the stop of Session/ }).click()
  await stops.waitFor({ state: 'detached' })
  expect(await call('shared', { 'x-gatehouse-session': 'conversation-10' })).toBe(200)
  await controlPlaneCall(gatehouse, 'DELETE', `/v1/budgets/${id}`)
})

test('a reader who does not see people gets no name, and can lift the stop', async () => {
  await createRunaway('private')
  await follow(page, '/settings')
  await page
    .getByRole('combobox', { name: 'Who sees figures of other people' })
    .selectOption({ value: 'hidden' })
  await page.getByText('Account saved').waitFor()
  await page.goto('/dashboard/gates/private')
  await stopped()
    .getByRole('row', { name: /End user \w+/ })
    .getByRole('button', { name: /^Lift/ })
    .click()
  await page.getByText(/^Stop of “End user \w+” lifted$/).waitFor()
  expect(await page.getByText('customer-4711').count()).toBe(0)
})
