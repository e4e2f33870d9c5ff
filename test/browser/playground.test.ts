/**
 * The playground as its users meet it: streamed answers, stopping, errors, tools, two gates, and
 * code to take away.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import {
  BROWSER_TEST_TIMEOUT_MS,
  enterAsOwner,
  findAccessibilityFaults,
  openBrowser,
  type Visit,
} from '../support/chromium.ts'
import { createGate, listLogRows, waitForLogRow } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { untilItHolds } from '../support/until-it-holds.ts'

// The runner would kill the server along with a test that outlasts its time.
setDefaultTimeout(BROWSER_TEST_TIMEOUT_MS)

let gatehouse: Gatehouse
let browser: Awaited<ReturnType<typeof openBrowser>>
let visit: Visit
let page: Page
beforeAll(async () => {
  gatehouse = await startGatehouse({ sandbox: true })
  await createGate(gatehouse, 'talker', 'sandbox/echo')
  await createGate(gatehouse, 'thinker', 'sandbox-anthropic/echo-reasoning')
  await createGate(gatehouse, 'fallback', ['sandbox/500', 'sandbox/echo'])
  await createGate(gatehouse, 'broken', 'sandbox/500')
  await createGate(gatehouse, 'cut', 'sandbox/cut-mid-stream-3')
  await createGate(gatehouse, 'slow', 'sandbox/slow-stream-100')
  await createGate(gatehouse, 'brisk', 'sandbox/slow-stream-25')
  browser = await openBrowser()
  visit = await browser.visit(gatehouse.url)
  page = visit.page
  await page
    .context()
    .grantPermissions(['clipboard-read', 'clipboard-write'], { origin: gatehouse.url })
  await enterAsOwner(page, gatehouse)
})
afterAll(async () => {
  await browser.close()
  await gatehouse.remove()
})

const messageBox = () => page.getByRole('textbox', { name: 'Message' })
const sendButton = () => page.getByRole('button', { name: 'Send', exact: true })
const stopButton = () => page.getByRole('button', { name: 'Stop' })
const conversation = (gate: string) =>
  page.getByRole('region', { name: `Conversation with ${gate}` })
const lastAnswer = (gate: string) => conversation(gate).getByRole('article').last()

async function open(query: string): Promise<void> {
  // Not through the application: every test begins with an empty memory.
  await page.goto(`/dashboard/playground?${query}`)
  await messageBox().waitFor()
}

async function say(text: string): Promise<void> {
  await messageBox().fill(text)
  await messageBox().press('Enter')
}

async function waitForFigures(answer: Locator): Promise<string> {
  await answer.getByText('in all').waitFor()
  return (await answer.textContent()) ?? ''
}

test('a message is answered, with its figures, and the next one continues the conversation', async () => {
  await page.getByRole('navigation').getByRole('link', { name: 'Playground' }).click()
  await page.getByLabel('Gate', { exact: true }).selectOption('talker')
  await messageBox().fill('Hello')
  await messageBox().press('Shift+Enter')
  await messageBox().pressSequentially('<b>gateway</b>')
  await messageBox().press('Enter')
  const figures = await waitForFigures(lastAnswer('talker'))
  expect(figures).toStartWith('Sandbox echo: Hello\n<b>gateway</b>')
  for (const part of [
    'sandbox/echo',
    ' in · ',
    ' out',
    '$0 (exact)',
    'to first token',
    '1 attempt',
    'req_',
  ])
    expect(figures).toContain(part)
  expect(await lastAnswer('talker').locator('b').count()).toBe(0)
  expect(await messageBox().inputValue()).toBe('')
  await page.waitForURL('**/playground?gate=talker')

  await say('a fence:\n```ts\nconst a = 1\n```\nand after')
  await lastAnswer('talker')
    .getByRole('region', { name: 'ts 2' })
    .getByText('const a = 1')
    .waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])

  // The conversation is there after a look at another page, and in no storage of the browser's.
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByRole('link', { name: 'Playground', exact: true }).click()
  await conversation('talker').getByText('Sandbox echo: Hello').waitFor()
  const stored = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')
  expect(stored).not.toContain('gateway')
  await page.reload()
  await conversation('talker').getByText('appear here').waitFor()
})

test('the menu’s link to the page itself keeps the gates and the conversation', async () => {
  await open('gate=talker&compare=thinker')
  await say('Stay')
  for (const gate of ['talker', 'thinker']) await waitForFigures(lastAnswer(gate))
  await page.getByRole('link', { name: 'Playground', exact: true }).click()
  await page.waitForURL('**/playground?gate=talker&compare=thinker')
  for (const gate of ['talker', 'thinker'])
    await conversation(gate).getByText('Sandbox echo: Stay').waitFor()
})

const SLOW_WORDS = 1_000

test('Escape stops the answer in the middle, and the gateway cancels the call', async () => {
  await open('gate=slow')
  // Longer than any machine takes to press a key.
  await say(`repeat ${SLOW_WORDS} words`)
  await lastAnswer('slow').getByText('sandbox echo').waitFor()
  await stopButton().waitFor()
  // The next message can be typed meanwhile, and is not lost.
  await messageBox().fill('typed meanwhile')
  await page.keyboard.press('Escape')
  await lastAnswer('slow').getByText('Stopped').waitFor()
  expect(await messageBox().inputValue()).toBe('typed meanwhile')
  const words = ((await lastAnswer('slow').locator('p').first().textContent()) ?? '').split(
    ' ',
  ).length
  expect(words).toBeLessThan(SLOW_WORDS)
  const row = await pollUntil('the row of the stopped call', async () =>
    (await listLogRows(gatehouse)).find(({ gateId }) => gateId === 'slow'),
  )
  expect(row.outcome).toBe('cancelled')

  await page.getByRole('button', { name: 'Ask again' }).click()
  await stopButton().click()
  await lastAnswer('slow').getByText('Stopped').waitFor()
  expect(await conversation('slow').getByRole('article').count()).toBe(1)
})

/** Pixels: the browser itself keeps the line that is read in its place when the box grows. */
const NEAR_THE_TOP = 100

test('an answer that arrives does not move a reader who scrolled up', async () => {
  await page.setViewportSize({ width: 1280, height: 420 })
  try {
    await open('gate=brisk')
    await say(Array.from({ length: 120 }, (_, line) => `line ${line}`).join('\n'))
    await lastAnswer('brisk').getByText('line 12').waitFor()
    const top = () => conversation('brisk').evaluate((box) => box.scrollTop)
    await untilItHolds(async () => expect(await top()).toBeGreaterThan(0))
    await conversation('brisk').hover()
    await page.mouse.wheel(0, -9000)
    await page.getByRole('button', { name: 'To the end' }).waitFor()
    await pollUntil(
      'the wheel to have been heard',
      async () => (await top()) < NEAR_THE_TOP || undefined,
    )
    await lastAnswer('brisk').getByText('line 20').waitFor()
    expect(await top()).toBeLessThan(NEAR_THE_TOP)
    await page.getByRole('button', { name: 'To the end' }).click()
    await untilItHolds(async () => expect(await top()).toBeGreaterThan(NEAR_THE_TOP))
    await page.keyboard.press('Escape')
  } finally {
    await page.setViewportSize({ width: 1280, height: 900 })
  }
})

describe('a failure is shown at its place', () => {
  test('before the answer begins: the message can be edited and sent elsewhere', async () => {
    await open('gate=broken')
    await say('Does this work?')
    const alert = lastAnswer('broken').getByRole('alert')
    await alert.getByText('upstream_error · 502').waitFor()
    expect(await alert.textContent()).toContain('The sandbox answers 500')
    expect(await findAccessibilityFaults(page)).toEqual([])
    await page.getByLabel('Gate', { exact: true }).selectOption('talker')
    await messageBox().fill('a draft')
    await page.getByRole('button', { name: 'Edit this message' }).click()
    expect(await messageBox().inputValue()).toBe('Does this work?')
    await messageBox().press('Escape')
    expect(await messageBox().inputValue()).toBe('a draft')
    await page.getByRole('button', { name: 'Edit this message' }).click()
    await say('It does now.')
    await lastAnswer('talker').getByText('Sandbox echo: It does now.').waitFor()
    expect(await conversation('talker').getByRole('article').count()).toBe(1)
    expect(await messageBox().inputValue()).toBe('a draft')
  })

  test('in the middle of the answer: the earlier text stays', async () => {
    await open('gate=cut')
    await say('repeat 30 words')
    await lastAnswer('cut').getByRole('alert').getByText('upstream_error').waitFor()
    expect(await lastAnswer('cut').textContent()).toContain('sandbox')
  })

  test('for an unknown gate', async () => {
    await open('gate=gone')
    await say('Hello')
    await lastAnswer('gone').getByRole('alert').getByText('gate_not_found · 404').waitFor()
  })
})

test('tools are checked while typed, and their calls are answered in the page', async () => {
  await open('gate=talker')
  await page.getByLabel('Tools').fill('[{"name": "get_weather"')
  await page.getByText('Not JSON yet').waitFor()
  await messageBox().fill('Call get_weather for "Turin"')
  expect(await sendButton().isDisabled()).toBe(true)
  await page.getByLabel('Tools').fill('')
  await page.getByRole('button', { name: 'Insert an example' }).click()
  await page.getByLabel('System prompt').fill('You are brief.')
  await messageBox().press('Enter')
  await page.getByLabel('Result of get_weather').fill('{"sky":"clear"}')
  expect(await lastAnswer('talker').textContent()).toContain('"city": "Turin"')
  expect(await sendButton().isDisabled()).toBe(true)
  expect(await findAccessibilityFaults(page)).toEqual([])
  await page.getByRole('button', { name: 'Send the result' }).click()
  await lastAnswer('talker').getByText('{"sky":"clear"}').waitFor()
})

test('reasoning can be unfolded', async () => {
  await open('gate=thinker')
  await page.getByLabel('Reasoning effort').selectOption('low')
  await say('Think about it')
  await waitForFigures(lastAnswer('thinker'))
  const thoughts = lastAnswer('thinker').locator('details > p')
  expect(await thoughts.isVisible()).toBe(false)
  await lastAnswer('thinker').getByText('Reasoning', { exact: true }).click()
  await thoughts.waitFor()
  expect(((await thoughts.textContent()) ?? '').length).toBeGreaterThan(5)
})

test('two gates answer one message side by side, each with its attempts', async () => {
  await open('gate=fallback')
  await say('First')
  await waitForFigures(lastAnswer('fallback'))
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.getByLabel('Gate to compare with').selectOption('thinker')
  await page.waitForURL('**/playground?gate=fallback&compare=thinker')
  // What the first was asked already, the second can be asked too.
  await page.getByRole('button', { name: 'Ask thinker' }).click()
  await lastAnswer('thinker').getByText('Sandbox echo: First').waitFor()
  await sendButton().waitFor()
  await say('Second')
  for (const gate of ['fallback', 'thinker'])
    expect(await waitForFigures(lastAnswer(gate))).toStartWith('Sandbox echo: Second')
  await lastAnswer('fallback').getByText('2 attempts').click()
  await lastAnswer('fallback').getByText('status 500').waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])
  await page.getByRole('button', { name: 'Close fallback' }).click()
  await conversation('fallback').waitFor({ state: 'detached' })
  await conversation('thinker').getByText('Sandbox echo: Second').waitFor()

  await page.getByRole('button', { name: 'New conversation' }).click()
  // It stays as long as it is pointed at.
  await page.getByRole('button', { name: 'Undo' }).hover()
  await conversation('thinker').getByText('appear here').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await conversation('thinker').getByText('Sandbox echo: Second').waitFor()
})

test('the conversation as curl repeats the page’s request', async () => {
  await open('gate=talker')
  await say('First')
  await waitForFigures(lastAnswer('talker'))
  await say('it\'s $HOME and "that" \\ `id`')
  await conversation('talker').getByRole('article').nth(1).getByText('in all').waitFor()
  await page.getByRole('button', { name: /^Code/ }).click()
  await page.getByRole('button', { name: 'Copy the curl code' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  const code = await page.evaluate('navigator.clipboard.readText()')
  expect(await findAccessibilityFaults(page)).toEqual([])
  await page.keyboard.press('Escape')

  // In place of the program, which may not be here: what a shell hands it is sent as it would send
  // it.
  const script = `curl() { for part in "$@"; do printf '%s\\0' "$part"; done; }\n${code}`
  const ran = Bun.spawnSync(['sh', '-c', script], { env: { GATEHOUSE_API_KEY: gatehouse.key } })
  const [address = '', , authorization = '', , type = '', , body = ''] = ran.stdout
    .toString()
    .split('\0')
  const headers = [authorization, type].map((line) => line.split(': ') as [string, string])
  const response = await fetch(address, { method: 'POST', headers, body })
  expect(await response.json()).toMatchObject({
    content: 'Sandbox echo: it\'s $HOME and "that" \\ `id`',
  })
  const { keyId } = (await waitForLogRow(
    gatehouse,
    response.headers.get('x-request-id'),
  )) as unknown as {
    keyId: string
  }
  expect(keyId).toStartWith('key_')
})

test('a page that its reader is on the way to stays the one they get when the gates have come', async () => {
  const gates = Promise.withResolvers<void>()
  const logs = Promise.withResolvers<void>()
  await page.goto('/dashboard/keys')
  await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor()
  await page.route(/\/v1\/gates/, async (route) => {
    await gates.promise
    await route.continue()
  })
  const menu = page.getByRole('navigation', { name: 'Pages', exact: true })
  await menu.getByRole('link', { name: 'Playground' }).click()
  await page.getByRole('heading', { name: 'Playground', level: 1 }).waitFor()
  await page.route(/\.js$/, async (route) => {
    await logs.promise
    await route.continue()
  })
  const isAskedFor = page.waitForRequest(/\.js$/)
  await menu.getByRole('link', { name: 'Logs' }).click()
  await isAskedFor
  gates.resolve()
  await messageBox().waitFor()
  logs.resolve()
  await page.getByRole('heading', { name: 'Logs', level: 1 }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/dashboard/logs')
  await page.unrouteAll()
  // Who stays finds the gate in the address.
  await menu.getByRole('link', { name: 'Playground' }).click()
  await page.waitForURL('**/playground?gate=*')
})

test('the page follows the dark palette, and fits a phone', async () => {
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize({ width: 390, height: 780 })
  await open('gate=talker&compare=broken')
  await say('Hello')
  await waitForFigures(lastAnswer('broken'))
  await page.getByRole('button', { name: 'Settings' }).click()
  await page.getByLabel('System prompt').waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])
  await untilItHolds(async () => {
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBe(780)
  })
})

test('this page logs no error and requests nothing from another host', () => {
  expect(visit.complaints).toEqual([])
})
