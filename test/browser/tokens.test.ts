/**
 * Access tokens in the dashboard, in a real browser on the real server: made, shown once with ready
 * lines, used, changed, rotated, revoked, refused.
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
  visit = await browser.visit(gatehouse.url)
  await enterAsOwner(visit.page, gatehouse)
  await controlPlaneCall(gatehouse, 'POST', '/v1/tags', { name: 'laptops' })
})
afterAll(async () => {
  await browser.close()
  await gatehouse.remove()
})

async function callWith(token: string, path = '/v1/responses', model = 'demo'): Promise<number> {
  const response = await fetch(gatehouse.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, input: 'hello' }),
  })
  await response.text()
  return response.status
}

interface ListedToken {
  readonly id: string
  readonly name: string
  readonly gates: readonly string[] | null
  readonly requestsPerMinute: number | null
  readonly ipRanges: readonly string[] | null
  readonly overrides: boolean
  readonly owner: { readonly type: string } | null
  readonly tags: readonly string[]
}

async function listedToken(name: string): Promise<ListedToken | undefined> {
  const answer = await controlPlaneCall(gatehouse, 'GET', '/v1/access-tokens')
  return ((await answer.json()) as { data: ListedToken[] }).data.find((one) => one.name === name)
}

async function chooseAction(name: string, action: string): Promise<void> {
  const { page } = visit
  await page
    .locator('[role=dialog], [role=alertdialog], [role=menu]')
    .waitFor({ state: 'detached' })
  await page.getByRole('button', { name: `Actions for ${name}`, exact: true }).click()
  await page.getByRole('menuitem', { name: action }).click()
}

const dialog = () => visit.page.getByRole('dialog')
const field = (label: string) => dialog().getByLabel(label)
const create = () => dialog().getByRole('button', { name: 'Create', exact: true })
const shownToken = async () =>
  (await dialog().getByRole('region', { name: 'the new token' }).textContent()) ?? ''

let token = ''

test('an access token is created with rules, shown once with ready lines, and only calls its gate', async () => {
  const { page } = visit
  await page.getByRole('navigation').getByRole('link', { name: 'Tokens and API Keys' }).click()
  await page.getByText('No access tokens').waitFor()
  await page.getByRole('button', { name: 'Create Access Token' }).click()
  await field('Name').and(page.locator(':focus')).waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])
  await field('Name').fill('jane, laptop')
  await dialog().getByText('Only these').click()
  await create().click()
  await dialog().getByText('Choose at least one gate.').waitFor()
  await dialog().getByRole('checkbox', { name: 'demo' }).check()
  await field('Owner').selectOption('Ada Owner')
  await field('Tags').fill('laptops')
  await dialog().getByText('Advanced').click()
  await field('Requests a minute').fill('1,200')
  await field('IP ranges').fill('127.0.0.0/8, ::1/128')
  await create().click()

  token = await shownToken()
  expect(token).toMatch(/^at-svc-[0-9a-f]{64}$/)
  const lines = dialog().getByRole('region', { name: 'Claude Code: In the shell' })
  expect(await lines.textContent()).toBe(
    `export ANTHROPIC_BASE_URL=${gatehouse.url}\nexport ANTHROPIC_AUTH_TOKEN=${token}\n` +
      'export ANTHROPIC_MODEL=demo ANTHROPIC_SMALL_FAST_MODEL=demo\nclaude',
  )
  expect(
    await dialog().getByRole('region', { name: 'Claude Code: gatehouse connect' }).textContent(),
  ).toBe(
    `GATEHOUSE_TOKEN=${token} gatehouse connect claude-code --url ${gatehouse.url} --gate demo`,
  )
  expect(await findAccessibilityFaults(page)).toEqual([])
  await field('Lines for').selectOption('Codex')
  await dialog().getByRole('region', { name: 'Codex: ~/.codex/config.toml' }).waitFor()
  await dialog().getByRole('button', { name: 'Copy Codex: In the shell' }).click()
  await dialog().getByText('Copied.').waitFor()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('cell', { name: 'jane, laptop ada@example.com', exact: true }).waitFor()
  expect(await page.content()).not.toContain(token)

  expect(await callWith(token)).toBe(200)
  expect(await callWith(token, '/v1/keys')).toBe(403)
  expect(await listedToken('jane, laptop')).toMatchObject({
    gates: ['demo'],
    requestsPerMinute: 1200,
    ipRanges: ['127.0.0.0/8', '::1/128'],
    overrides: false,
    owner: { type: 'member' },
    tags: ['laptops'],
  })
})

test('the dialog offers the access token first, and says what an API key can do', async () => {
  const { page } = visit
  await page.getByRole('button', { name: 'Create New Key' }).click()
  const kinds = dialog().getByRole('group', { name: 'What it may do' }).getByRole('radio')
  expect(await kinds.count()).toBe(2)
  expect(await kinds.nth(1).isChecked()).toBe(true)
  await dialog().getByText('a key can also change gates, keys, budgets').waitFor()
  await kinds.nth(1).press('ArrowUp')
  await kinds.nth(0).and(page.locator(':checked')).and(page.locator(':focus')).waitFor()
  await dialog().getByText('Advanced').waitFor()
})

test('a refused IP range is reported at its field, although it is folded away', async () => {
  const { page } = visit
  await field('Name').fill('refused')
  await dialog().getByText('Advanced').click()
  await field('IP ranges').fill('10.0.0.1/8')
  await dialog().getByText('Advanced').click()
  await create().click()
  await dialog().getByText("'10.0.0.1/8' is not an address/prefix length").waitFor()
  await field('IP ranges').and(page.locator('[aria-invalid=true]:visible')).waitFor()
  await field('Tokens a minute').fill('many')
  await create().click()
  await dialog().getByText('Write a whole number of at least 1').waitFor()
  await page.keyboard.press('Escape')
  expect(await listedToken('refused')).toBeUndefined()
})

test('a token is changed, and its row shows all gates and that it expires soon', async () => {
  const { page } = visit
  await chooseAction('jane, laptop', 'Edit')
  expect(await field('Requests a minute').inputValue()).toBe('1200')
  expect(await dialog().getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
  await dialog().getByText('All gates of the account').click()
  await field('Name').fill('jane')
  await field('Expires').selectOption('On a date…')
  const day = await page.evaluate(
    "new Date(Date.now() + 5 * 86_400_000).toLocaleDateString('sv-SE')",
  )
  await field('Last day').fill(String(day))
  await dialog().getByRole('button', { name: 'Save' }).click()
  const row = page.getByRole('row').filter({ hasText: 'jane' })
  await row.getByText('ada@example.com').waitFor()
  await row.getByText('all gates').filter({ visible: true }).waitFor()
  await row
    .getByText(/^Expires in [56] days$/)
    .filter({ visible: true })
    .waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])
  expect(await listedToken('jane')).toMatchObject({ gates: null, requestsPerMinute: 1200 })
})

test('a rotated token is shown once, and the old one works until it ends', async () => {
  const { page } = visit
  await chooseAction('jane', 'Rotate')
  await page.getByLabel('The old token ends').selectOption('In 1 hour')
  await page.getByRole('button', { name: 'Rotate the token' }).click()
  const second = await shownToken()
  expect(second).toMatch(/^at-svc-[0-9a-f]{64}$/)
  await copyShownOnce(page, 'token')
  await page.getByRole('button', { name: 'Done' }).click()
  expect([await callWith(token), await callWith(second)]).toEqual([200, 200])
  token = second
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
    await page.getByRole('cell', { name: 'jane' }).first().waitFor()
    await page.getByRole('button', { name: 'Create Access Token' }).click()
    await dialog().getByText('Only these').click()
    expect(await findAccessibilityFaults(page)).toEqual([])
    await untilItHolds(async () =>
      expect(
        await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
      ).toBeLessThanOrEqual(0),
    )
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
  },
)

test('logs and budgets call a token by its name, and its page shows what it was used for', async () => {
  const { page } = visit
  await page.setViewportSize({ width: 1280, height: 844 })
  const id = (await listedToken('jane'))?.id ?? ''
  await page.goto(`/dashboard/logs?key=${id}`)
  await page.getByRole('button', { name: /^Remove the filter .*jane/ }).waitFor()
  await page.goto('/dashboard/settings/budgets')
  await page.getByRole('button', { name: 'Create a budget' }).click()
  await field('Limit in US dollars').fill('5')
  await dialog().getByRole('combobox', { name: 'Key', exact: true }).fill('jane')
  await create().click()
  await page.getByRole('cell', { name: 'jane', exact: false }).first().waitFor()
  const budgets = await controlPlaneCall(gatehouse, 'GET', '/v1/budgets')
  expect(await budgets.json()).toMatchObject({ data: [{ keyId: id }] })
  await pollUntil('three calls to be counted', async () => {
    const path = `/v1/analytics?key=${id}&interval=all`
    const usage = await controlPlaneCall(gatehouse, 'GET', path)
    return (await usage.text()).includes('"calls":3')
  })
  await page.goto('/dashboard/keys')
  await page.getByRole('link', { name: 'jane', exact: true }).click()
  await page.getByRole('heading', { name: 'jane', level: 1 }).waitFor()
  await page.getByText('by Ada Owner').waitFor()
  await page.getByText('Access token', { exact: true }).waitFor()
  await page
    .getByText(/^Expires in [56] days$/)
    .first()
    .waitFor()
  await page.getByRole('link', { name: '3 calls in the logs' }).waitFor()
  const budget = page.getByRole('list', { name: 'Budgets' }).getByRole('listitem')
  await budget.filter({ hasText: 'jane' }).filter({ hasText: 'of $5.00 a month' }).waitFor()
  const fact = (term: string) =>
    page.getByRole('definition').and(page.locator(`dt:text-is("${term}") + dd`))
  expect(await fact('Limits').textContent()).toBe('1,200 requests a minute')
  expect(await fact('Owner').textContent()).toBe('ada@example.com')
  expect(await findAccessibilityFaults(page)).toEqual([])
  await page.goto('/dashboard/keys')
})

test('the page of a token shows gates, errors by kind, refused calls and a chart of the range', async () => {
  const { page } = visit
  await createGate(gatehouse, 'broken', 'sandbox/500')
  const { id = '' } = (await listedToken('jane')) ?? {}
  expect(await callWith(token, '/v1/responses', 'broken')).toBe(502)
  expect(await callWith(token, '/v1/responses', 'nowhere')).toBe(404)
  await pollUntil('five calls to be counted', async () => {
    const path = `/v1/analytics?key=${id}&interval=all`
    const usage = await controlPlaneCall(gatehouse, 'GET', path)
    return (await usage.text()).includes('"calls":5')
  })
  await page.goto(`/dashboard/keys/${id}`)
  const row = page.getByRole('region', { name: 'Gates used' }).getByRole('row')
  await row.filter({ hasText: 'broken11$0' }).waitFor()
  await row.filter({ hasText: 'demo30$0' }).waitFor()
  await row.filter({ hasText: 'no such gate' }).waitFor()
  const kinds = page.getByRole('list', { name: 'Errors by kind' })
  await kinds.getByText('502 upstream error').waitFor()
  expect(await kinds.getByRole('listitem').count()).toBe(1)
  await page.getByText('Refused calls: 1').waitFor()
  await page.getByRole('combobox', { name: 'Which figure' }).selectOption('Errors')
  const figure = page.getByRole('figure', { name: 'Errors over time' })
  await figure.getByRole('button', { name: 'Show the figures as a table' }).click()
  await figure.getByRole('row').filter({ hasText: /1$/ }).waitFor()
  expect(await findPageFaults(page)).toEqual([])
  await page.getByRole('button', { name: '24 h', exact: true }).click()
  await page.waitForURL('**/keys/*?range=24h')
  await kinds.getByRole('link', { name: '502 upstream error' }).click()
  await page.waitForURL('**/logs?*')
  expect(new URL(page.url()).searchParams.get('errorKind')).toBe('upstream_error')
  expect(new URL(page.url()).searchParams.get('key')).toBe(id)
})

test('the page of an API key says what kind it is; a deleted one leaves its figures', async () => {
  const { page } = visit
  const answer = await controlPlaneCall(gatehouse, 'POST', '/v1/keys', { name: 'ci' })
  const { id } = (await answer.json()) as { id: string }
  await page.goto(`/dashboard/keys/${id}`)
  await page.getByText('API key, full access').waitFor()
  await page.getByText('No call failed after a provider was asked').waitFor()
  await page.getByText('No budget limits it').waitFor()
  expect(await findPageFaults(page)).toEqual([])
  await controlPlaneCall(gatehouse, 'DELETE', `/v1/keys/${id}`)
  await page.reload()
  await page.getByText('The token or key was deleted.').waitFor()
  await page.getByRole('figure', { name: 'Calls over time' }).waitFor()
})

test('the overview names a token in use that expires soon', async () => {
  const { page } = visit
  await controlPlaneCall(gatehouse, 'POST', '/v1/access-tokens', {
    name: 'never used',
    expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
  })
  await page.goto('/dashboard/')
  const notice = page.getByRole('region', { name: 'Access tokens that expire soon' })
  await notice.getByText(/jane in [56] days\. Set a later end/).waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])
  await notice.getByRole('link', { name: 'jane' }).click()
  await page.getByRole('heading', { name: 'jane', level: 1 }).waitFor()
  const unused = await listedToken('never used')
  await controlPlaneCall(gatehouse, 'DELETE', `/v1/access-tokens/${unused?.id}`)
  await page.goto('/dashboard/keys')
})

test('a stopped token is refused with the reason until the stop is lifted', async () => {
  const { page } = visit
  await chooseAction('jane', 'Stop')
  await field('Reason').and(page.locator(':focus')).fill('The laptop was stolen.')
  expect(await findAccessibilityFaults(page)).toEqual([])
  await page.keyboard.press('Enter')
  await page.getByText('No call was running.').waitFor()
  const row = page.getByRole('row').filter({ hasText: 'jane' })
  await row.getByText('Stopped', { exact: true }).waitFor()
  expect(await callWith(token)).toBe(403)
  await chooseAction('jane', 'Lift the stop')
  const asked = page.getByRole('alertdialog')
  await asked.getByText('The laptop was stolen.').waitFor()
  await asked.getByRole('button', { name: 'Lift the stop' }).click()
  await row.getByText('Stopped', { exact: true }).waitFor({ state: 'detached' })
  expect(await callWith(token)).toBe(200)
})

test('a revoked token is refused at once', async () => {
  const { page } = visit
  await page.setViewportSize({ width: 1280, height: 844 })
  await chooseAction('jane', 'Revoke')
  const asked = page.getByRole('alertdialog')
  await asked.getByRole('button', { name: 'Revoke the token' }).click()
  await asked.waitFor({ state: 'detached' })
  await page.getByText('No access tokens').waitFor()
  expect(await callWith(token)).toBe(401)
})

test('these pages log no error and request nothing from another host', () => {
  expect(visit.complaints).toEqual([])
})
