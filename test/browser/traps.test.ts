/** Mistakes that people make at the dashboard, and what keeps their work safe, in a real browser on the real server. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'playwright-core'
import {
  BROWSER_TEST_TIMEOUT_MS,
  enterAsOwner,
  follow,
  openBrowser,
  type Visit,
} from '../support/chromium.ts'
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
  await visit.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await enterAsOwner(page, gatehouse)
})
afterAll(async () => {
  await browser.close()
  await gatehouse.remove()
})

describe('a secret that is shown once', () => {
  const dialog = () => page.getByRole('dialog')
  const button = (name: string) => dialog().getByRole('button', { name, exact: true })
  const question = () => dialog().getByRole('alert').getByText('You have not copied')
  const hasFocus = (name: string) => button(name).and(page.locator(':focus')).waitFor()
  const copied = () => page.evaluate('navigator.clipboard.readText()')

  test('has the focus at Copy, and is not lost by a click beside it, Escape, the cross, Done or the way back', async () => {
    await page.getByRole('navigation').getByRole('link', { name: 'API Keys' }).click()
    await page.getByRole('button', { name: 'Create New Key' }).click()
    await dialog().getByLabel('Name').fill('once')
    await button('Create').click()
    const key = await dialog().getByRole('region', { name: 'the new key' }).textContent()
    await hasFocus('Copy the key')

    await page.mouse.click(4, 4)
    expect(await question().count()).toBe(0)
    for (const ask of [
      () => page.keyboard.press('Escape'),
      () => button('Close').click(),
      () => button('Done').press('Enter'),
      () => page.evaluate('history.back()'),
    ]) {
      await ask()
      await question().waitFor()
      await hasFocus('Copy the key')
      await page.keyboard.press('Escape')
      await question().waitFor({ state: 'detached' })
    }
    await page.keyboard.press('Escape')
    await question().waitFor()
    expect(await findPageFaults(page)).toEqual([])
    await button('Copy the key').press('Enter')
    await hasFocus('Done')
    expect(await copied()).toBe(key)
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Create New Key' }).and(page.locator(':focus')).waitFor()
    expect(await page.content()).not.toContain(key ?? '')
  })

  test('may be given up, on purpose', async () => {
    await follow(page, '/settings/webhooks')
    await page.getByRole('button', { name: 'Add a webhook' }).click()
    await dialog().getByLabel('Address').fill('https://example.com/hook')
    await button('Add').click()
    await hasFocus('Copy the secret')
    await button('Done').click()
    await question().waitFor()
    await button('Close without copying').click()
    await dialog().waitFor({ state: 'detached' })
  })

  test('counts as copied when all of it was selected and copied, or its other form was', async () => {
    await follow(page, '/settings/members')
    const invite = async (name: string) => {
      await page.getByRole('button', { name: 'Invite' }).click()
      await dialog().getByLabel('Email').fill(`${name}@example.com`)
      await button('Make the invitation').click()
      await hasFocus('Copy the link')
    }
    await invite('selected')
    await dialog().getByRole('region', { name: 'the link' }).locator('code').selectText()
    await page.keyboard.press('Control+C')
    await dialog().getByText('Copied.').waitFor()
    expect(String(await copied())).toContain('#invitation=')
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })

    await invite('other-form')
    await dialog().getByText('The token alone').click()
    await button('Copy the token').click()
    await dialog().getByText('Copied.').waitFor()
    await button('Done').click()
    await dialog().waitFor({ state: 'detached' })
  })
})

test('nothing on these pages complains or leaves the gateway', () => {
  expect(visit.complaints).toEqual([])
})
