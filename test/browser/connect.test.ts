/** The page Connect, in a real browser on the real server: its lines, and lines that work. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'playwright-core'
import {
  BROWSER_TEST_TIMEOUT_MS,
  enterAsOwner,
  openBrowser,
  type Visit,
} from '../support/chromium.ts'
import { controlPlaneCall, createGate } from '../support/control-plane.ts'
import { findPageFaults } from '../support/page-checks.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

setDefaultTimeout(BROWSER_TEST_TIMEOUT_MS)

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
  await browser.close()
  await gatehouse.remove()
})

const lines = async (block: string) =>
  (await page.getByRole('region', { name: block, exact: true }).textContent()) ?? ''

let token = ''

test('without a token, the lines have a placeholder, and the page says where tokens are created', async () => {
  await page.getByRole('navigation').getByRole('link', { name: 'Connect' }).click()
  await page.getByText('This account has no access token yet.').waitFor()
  expect(await lines('Claude Code: gatehouse connect')).toBe(
    `gatehouse connect claude-code --url ${gatehouse.url} --gate demo`,
  )
  expect(await lines('Claude Code: In the shell')).toContain('ANTHROPIC_AUTH_TOKEN=at-svc-…\n')
  expect(await findPageFaults(page)).toEqual([])
  await page.getByRole('link', { name: 'Create an access token' }).click()
  await page.getByRole('heading', { name: 'Tokens and API Keys', level: 1 }).waitFor()
  await page.goBack()
})

test('every client has lines with the address, the chosen gate and the typed token', async () => {
  await createGate(gatehouse, 'coding', 'sandbox/echo')
  const answer = await controlPlaneCall(gatehouse, 'POST', '/v1/access-tokens', { name: 'jane' })
  token = ((await answer.json()) as { token: string }).token
  await page.reload()
  await page.getByText('Paste a token to have it in the lines.').waitFor()
  await page.getByRole('combobox', { name: 'Gate' }).selectOption('coding')
  await page.getByRole('textbox', { name: 'Token' }).fill(` ${token} `)
  await page.getByText('It is not stored or sent.').waitFor()
  const clients = page.getByRole('radiogroup', { name: 'Client' }).getByRole('radio')
  expect(await clients.count()).toBe(11)
  await clients.first().focus()
  for (let at = 0; at < 11; at++) {
    if (at > 0) await page.keyboard.press('ArrowDown')
    await clients.nth(at).and(page.locator(':checked')).waitFor()
    const shown = (await page.getByRole('region').allTextContents()).join('\n')
    for (const part of [gatehouse.url, 'coding', token]) expect(shown).toContain(part)
  }
  expect(page.url()).toEndWith('/dashboard/connect?gate=coding&client=curl')
})

test('the copied lines of curl call the gate', async () => {
  await visit.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Copy curl: In the shell' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  const copied = String(await page.evaluate('navigator.clipboard.readText()'))
  const shell = Bun.spawn(['bash', '-c', copied], { stdout: 'pipe', stderr: 'ignore' })
  expect(await new Response(shell.stdout).json()).toMatchObject({ object: 'chat.completion' })
})

test('a typed token is neither stored nor in the address, and is gone with the page', async () => {
  const kept = 'JSON.stringify([localStorage, sessionStorage, location.href, history.state])'
  expect(await page.evaluate(kept)).not.toContain(token)
  await page.reload()
  await page.getByRole('region', { name: 'curl: In the shell' }).waitFor()
  expect(await page.getByRole('textbox', { name: 'Token' }).inputValue()).toBe('')
  expect(await page.getByRole('combobox', { name: 'Gate' }).inputValue()).toBe('coding')
})

test('other text is not put into the lines, and an API key gets a warning', async () => {
  await page.getByRole('radiogroup', { name: 'Client' }).getByText('Claude Code').click()
  await page.getByRole('textbox', { name: 'Token' }).fill(`${token};ls`)
  await page.getByText('A token is at-svc- and 64 hexadecimal characters.').waitFor()
  expect(await lines('Claude Code: In the shell')).not.toContain(';ls')
  await page.getByRole('textbox', { name: 'Token' }).fill(gatehouse.key)
  await page.getByText('This is an API key, which has full access').waitFor()
  expect(await findPageFaults(page)).toEqual([])
})

test('an account without a gate is told to create one', async () => {
  for (const gate of ['demo', 'coding'])
    await controlPlaneCall(gatehouse, 'DELETE', `/v1/gates/${gate}`)
  await page.goto('/dashboard/connect')
  await page.getByText('No gate yet').waitFor()
  expect(await findPageFaults(page)).toEqual([])
  await page.getByRole('link', { name: 'Create a gate' }).click()
  await page.waitForURL('**/gates/new')
})

test('these pages log no error and request nothing from another host', () => {
  expect(visit.complaints).toEqual([])
})
