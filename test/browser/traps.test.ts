/**
 * Mistakes that people make at the dashboard, and what keeps their work safe, in a real browser on
 * the real server.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Locator, Page, Route } from 'playwright-core'
import {
  BROWSER_TEST_TIMEOUT_MS,
  copyShownOnce,
  enterAsOwner,
  follow,
  OWNER,
  openBrowser,
  type Visit,
} from '../support/chromium.ts'
import { controlPlaneCall, createGate, waitForLogRow } from '../support/control-plane.ts'
import { findPageFaults } from '../support/page-checks.ts'
import { pollUntil } from '../support/poll-until.ts'
import { routePage } from '../support/route-page.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { untilItHolds } from '../support/until-it-holds.ts'

setDefaultTimeout(BROWSER_TEST_TIMEOUT_MS)

let gatehouse: Gatehouse
let browser: Awaited<ReturnType<typeof openBrowser>>
let visit: Visit
let page: Page
beforeAll(async () => {
  gatehouse = await startGatehouse({
    sandbox: true,
    environment: { GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1' },
  })
  browser = await openBrowser()
  visit = await browser.visit(gatehouse.url)
  page = visit.page
  await visit.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  // Time goes on as ever, and can be made to leap.
  await page.clock.install()
  await enterAsOwner(page, gatehouse)
})
afterAll(async () => {
  await browser.close()
  await gatehouse.remove()
})

describe('a secret with a single showing', () => {
  const dialog = () => page.getByRole('dialog')
  const button = (name: string) => dialog().getByRole('button', { name, exact: true })
  const question = () => dialog().getByRole('alert').getByText('You have not copied')
  const hasFocus = (name: string) => button(name).and(page.locator(':focus')).waitFor()
  const copied = () => page.evaluate('navigator.clipboard.readText()')
  /** By a link, so that there is a way back; on a phone it is behind a button. */
  const openNewKey = async (name: string) => {
    const menu = page.getByRole('button', { name: 'Open the menu' })
    if (await menu.isVisible()) await menu.click()
    await page.getByRole('navigation').getByRole('link', { name: 'API Keys' }).click()
    await page.getByRole('button', { name: 'Create New Key' }).click()
    await dialog().getByLabel('Name').fill(name)
  }
  const ON_ITS_WAY =
    'This dialog stays open until the answer arrives, because the answer is shown only once.'

  test('has the focus at Copy, and survives a click beside it, Escape, the cross, Done and the way back', async () => {
    await openNewKey('once')
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

  test('is waited for: neither Escape, the cross nor Cancel loses it while it is made', async () => {
    for (const [path, open, label, text, send, path2] of [
      ['/keys', 'Create New Key', 'Name', 'waited-for', 'Create', '/v1/keys'],
      [
        '/settings/webhooks',
        'Create a webhook',
        'Address',
        'https://example.com/waited',
        'Create',
        '/v1/webhooks',
      ],
      [
        '/settings/members',
        'Invite',
        'Email',
        'waited@example.com',
        'Create the invitation',
        '/v1/invitations',
      ],
    ] as const) {
      await follow(page, path)
      const answered = Promise.withResolvers<void>()
      await page.route(`**${path2}`, async (route) => {
        if (route.request().method() === 'POST') await answered.promise
        await route.continue()
      })
      await page.getByRole('button', { name: open }).first().click()
      await dialog().getByLabel(label).fill(text)
      await button(send).click()
      await dialog().locator('[aria-busy="true"]').waitFor()
      await page.keyboard.press('Escape')
      await button('Close').click()
      await button('Cancel').dispatchEvent('click')
      await dialog().getByText(ON_ITS_WAY).waitFor()
      await page.mouse.click(4, 4)
      answered.resolve()
      await dialog()
        .getByRole('button', { name: /^Copy the/ })
        .and(page.locator(':focus'))
        .waitFor()
      await page.unrouteAll({ behavior: 'wait' })
      await button('Done').click()
      await button('Close without copying').click()
      await dialog().waitFor({ state: 'detached' })
    }
  })

  test('is waited for on the way back, too', async () => {
    await follow(page, '/settings/limits')
    await openNewKey('not-lost')
    const answered = Promise.withResolvers<void>()
    await page.route('**/v1/keys', async (route) => {
      if (route.request().method() === 'POST') await answered.promise
      await route.continue()
    })
    await button('Create').click()
    await dialog().locator('[aria-busy="true"]').waitFor()
    await page.evaluate('history.back()')
    await dialog().getByText(ON_ITS_WAY).waitFor()
    expect(await findPageFaults(page)).toEqual([])
    answered.resolve()
    await hasFocus('Copy the key')
    await page.unrouteAll({ behavior: 'wait' })
    await copyShownOnce(page, 'key')
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
  })

  test('may be given up on purpose', async () => {
    await follow(page, '/settings/webhooks')
    await page.getByRole('button', { name: 'Create a webhook' }).click()
    await dialog().getByLabel('Address').fill('https://example.com/hook')
    await button('Create').click()
    await hasFocus('Copy the secret')
    await button('Done').click()
    await question().waitFor()
    await button('Close without copying').click()
    await dialog().waitFor({ state: 'detached' })
  })

  test('counts as copied when all of it, or its other form, was selected and copied', async () => {
    await follow(page, '/settings/members')
    const invite = async (name: string) => {
      await page.getByRole('button', { name: 'Invite' }).click()
      await dialog().getByLabel('Email').fill(`${name}@example.com`)
      await button('Create the invitation').click()
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

/** In the page, so that nothing is drawn between the two. */
const submitTwice = `(() => {
  const form = document.querySelector('[role="dialog"] form')
  form.requestSubmit()
  form.requestSubmit()
})()`

const focused = (name: string) =>
  page.getByLabel(name, { exact: true }).and(page.locator(':focus')).waitFor()

describe('a session that ends while something is typed', () => {
  const LONGER_THAN_ANY_POLL_MS = 60_000
  const ended = () => page.getByRole('dialog', { name: 'Your session ended' })

  test('is reported once, sends no more requests, and keeps typed text until it can be saved', async () => {
    const natives: string[] = []
    page.on('dialog', (dialog) => {
      natives.push(dialog.type())
      void dialog.accept()
    })
    await page.goto('/dashboard/gates/demo')
    await page.getByLabel('Description').fill('half a sentence')
    await visit.context.clearCookies()
    await page.getByRole('button', { name: 'Save' }).click()
    await ended().waitFor()
    await focused('Password')
    expect(await page.getByLabel('Email').inputValue()).toBe(OWNER.email)

    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.clock.fastForward(LONGER_THAN_ANY_POLL_MS)
    await page.keyboard.press('Escape')
    await page.mouse.click(4, 4)
    await ended().getByLabel('Password', { exact: true }).fill('not the password')
    await page.keyboard.press('Enter')
    await ended().getByRole('alert').waitFor()
    expect(asked.filter((url) => url.includes('/v1/'))).toEqual([
      `${gatehouse.url}/v1/auth/sign-in`,
    ])
    expect(await findPageFaults(page)).toEqual([])

    await ended().getByLabel('Password', { exact: true }).fill(OWNER.password)
    await page.keyboard.press('Enter')
    await ended().waitFor({ state: 'detached' })
    expect(await page.getByLabel('Description').inputValue()).toBe('half a sentence')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved; the next call uses it.').waitFor()
    const gate = await controlPlaneCall(gatehouse, 'GET', '/v1/gates/demo')
    expect(await gate.text()).toContain('half a sentence')
    expect(natives).toEqual([])
  })

  test('leaves a window over the page as it was, and says there that nothing was done', async () => {
    await follow(page, '/settings/tags')
    await page.getByRole('button', { name: 'Create a tag' }).first().click()
    const tag = page.getByRole('dialog', { name: 'Create a tag' })
    await tag.getByLabel('Name').fill('typed-before')
    await visit.context.clearCookies()
    await tag.getByRole('button', { name: 'Create' }).click()
    await ended().getByLabel('Password', { exact: true }).fill(OWNER.password)
    await page.keyboard.press('Enter')
    await ended().waitFor({ state: 'detached' })
    await tag.getByText('Your session had ended, and nothing was done. Try again.').waitFor()
    await tag.getByRole('button', { name: 'Create' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Enter')
    await tag.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Delete typed-before' }).waitFor()
    await follow(page, '/gates/demo')
    await page.getByLabel('Description').waitFor()
  })

  test('closes the menu of a phone, which would lie over the sign-in', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await follow(page, '/')
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Open the menu' }).click()
    await page.getByRole('dialog', { name: 'Menu' }).waitFor()
    await visit.context.clearCookies()
    await page.clock.fastForward(LONGER_THAN_ANY_POLL_MS)
    await ended().getByLabel('Password', { exact: true }).click()
    await page.keyboard.type(OWNER.password)
    await page.keyboard.press('Enter')
    await ended().waitFor({ state: 'detached' })
    await page.setViewportSize({ width: 1280, height: 900 })
    await follow(page, '/gates/demo')
    await page.getByLabel('Description').waitFor()
  })

  test('continues after a sign-in in another tab', async () => {
    await page.getByLabel('Description').fill('another half')
    await visit.context.clearCookies()
    // A poll notices the end. A click on Save could come after the sign-in covers the page.
    await page.clock.fastForward(LONGER_THAN_ANY_POLL_MS)
    await ended().waitFor()
    const signedIn = await page.request.post('/v1/auth/sign-in', {
      headers: { origin: gatehouse.url, 'x-gatehouse-csrf': '1' },
      data: { email: OWNER.email, password: OWNER.password },
    })
    expect(signedIn.status()).toBe(200)
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await ended().waitFor({ state: 'detached' })
    expect(await page.getByLabel('Description').inputValue()).toBe('another half')
    await page.getByRole('button', { name: 'Discard' }).click()
  })

  test('is reported at the sign-in page, and so is a sign-out', async () => {
    await visit.context.clearCookies()
    await page.goto('/dashboard/keys')
    await page.getByText('Your session ended. Sign in to continue where you were.').waitFor()
    await page.getByLabel('Email').fill(OWNER.email)
    await page.getByLabel('Password', { exact: true }).fill(OWNER.password)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'API Keys', level: 1 }).waitFor()
    await page.getByRole('button', { name: /Account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByText('You have signed out.').waitFor()
  })
})

describe('a form', () => {
  test('puts the focus on its first fault, and names it in the page’s own words', async () => {
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await focused('Email')
    expect(await page.getByText('This is needed.').count()).toBe(2)
    await page.keyboard.type('ada')
    expect(await page.getByText('This is needed.').count()).toBe(1)
    await page.keyboard.press('Enter')
    await page.getByText('Write an address such as name@example.com.').waitFor()
    await focused('Email')
    expect(await findPageFaults(page)).toEqual([])
  })

  test('shows a password on request, and gives instructions for a forgotten one', async () => {
    const password = page.getByLabel('Password', { exact: true })
    await page.getByLabel('Email').fill(OWNER.email)
    await password.fill(OWNER.password)
    await page.getByRole('button', { name: 'Show what is typed' }).press('Enter')
    expect(await password.getAttribute('type')).toBe('text')
    await page.getByRole('button', { name: 'Hide what is typed' }).click()
    expect(await password.getAttribute('type')).toBe('password')
    await page.getByText('Forgot the password?').click()
    await page.getByText(`gatehouse users reset-password ${OWNER.email}`).waitFor()
    expect(await findPageFaults(page)).toEqual([])
    await password.press('Enter')
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  })

  test('in a window is not lost by a click beside it once something was typed', async () => {
    await page.getByRole('navigation').getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('navigation').getByRole('link', { name: 'Budgets' }).click()
    const create = page.getByRole('button', { name: 'Create a budget' }).first()
    const budget = page.getByRole('dialog', { name: 'Create a budget' })
    await create.click()
    await budget.waitFor()
    await page.mouse.click(4, 4)
    await budget.waitFor({ state: 'detached' })
    await create.click()
    await budget.getByLabel('Limit in US dollars').fill('77')
    await page.mouse.click(4, 4)
    expect(await budget.getByLabel('Limit in US dollars').inputValue()).toBe('77')
    await page.keyboard.press('Escape')
    await budget.waitFor({ state: 'detached' })
  })

  test('puts the focus on the refused field after a refusal by the gateway', async () => {
    await page.getByRole('navigation').getByRole('link', { name: 'API Keys' }).click()
    await page.getByRole('button', { name: 'Create New Key' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click()
    await focused('Name')
    await page.getByLabel('Name', { exact: true }).fill('a\u0007b')
    await page.getByLabel('Expires').focus()
    await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click()
    await focused('Name')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })
})

describe('a button that is pressed twice', () => {
  const dialog = () => page.getByRole('dialog')
  const watchSent = async (path: string) => {
    const sent: string[] = []
    // No answer comes before both presses have been.
    const answered = Promise.withResolvers<void>()
    await page.route(`**${path}`, async (route) => {
      if (route.request().method() !== 'GET') {
        sent.push(route.request().method())
        await answered.promise
      }
      await route.continue()
    })
    const end = async () => {
      answered.resolve()
      await dialog().or(page.getByRole('alertdialog')).waitFor({ state: 'detached' })
      await page.unrouteAll({ behavior: 'wait' })
      return sent
    }
    return end
  }

  test('creates one thing: by a double click, and by Enter twice', async () => {
    await follow(page, '/settings/tags')
    for (const [name, press] of [
      ['clicked', () => dialog().getByRole('button', { name: 'Create' }).dblclick({ force: true })],
      ['entered', () => page.evaluate(submitTwice)],
    ] as const) {
      await page.getByRole('button', { name: 'Create a tag' }).first().click()
      await dialog().getByLabel('Name').fill(`twice-${name}`)
      const end = await watchSent('/v1/tags')
      await press()
      await dialog().locator('[aria-busy="true"]').waitFor()
      expect(await end()).toEqual(['POST'])
    }
  })

  test('keeps the focus while its change is under way, and when that was refused', async () => {
    await follow(page, '/settings/tags')
    await page.getByRole('button', { name: 'Create a tag' }).first().click()
    await dialog().getByLabel('Name').fill('focused')
    const answered = Promise.withResolvers<void>()
    await page.route('**/v1/tags', async (route) => {
      if (route.request().method() !== 'POST') return await route.continue()
      await answered.promise
      await route.fulfill({ status: 503, json: { error: 'unavailable', message: 'Not now.' } })
    })
    const create = dialog().getByRole('button', { name: 'Create' })
    await create.focus()
    await page.keyboard.press('Enter')
    await dialog().locator('[aria-busy="true"]').waitFor()
    const hasFocus = async () => (await create.and(page.locator(':focus')).count()) === 1
    expect(await hasFocus()).toBeTrue()
    answered.resolve()
    await dialog().locator('[aria-busy="true"]').waitFor({ state: 'detached' })
    expect(await hasFocus()).toBeTrue()
    await page.unrouteAll({ behavior: 'wait' })
    await page.keyboard.press('Escape')
  })

  test('deletes once', async () => {
    await follow(page, '/settings/tags')
    await page.getByRole('button', { name: 'Delete twice-clicked' }).click()
    const end = await watchSent('/v1/tags/*')
    const confirm = page.getByRole('alertdialog').getByRole('button', { name: 'Delete the tag' })
    await confirm.dblclick({ force: true })
    await page.getByRole('alertdialog').locator('[aria-busy="true"]').waitFor()
    expect(await end()).toEqual(['DELETE'])
    await page.getByText('Tag “twice-clicked” deleted').waitFor()
  })
})

test('a message follows the colours that the reader has changed', async () => {
  await follow(page, '/settings/tags')
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.getByRole('button', { name: 'Create a tag' }).first().click()
    await page.getByRole('dialog').getByLabel('Name').fill(`in-${colorScheme}`)
    await page.keyboard.press('Enter')
    await page
      .locator(`[data-sonner-theme=${colorScheme}]`)
      .getByText('Tag created')
      .first()
      .waitFor()
  }
  await page.emulateMedia({ colorScheme: 'light' })
})

test('a new page is announced to readers who do not see it', async () => {
  const told = page.getByRole('status', { name: 'Page' })
  await page.getByRole('navigation').getByRole('link', { name: 'Gates' }).click()
  await told.getByText('Gates').waitFor({ state: 'attached' })
  await page.getByRole('navigation').getByRole('link', { name: 'Settings' }).click()
  await told.getByText('Account · Settings').waitFor({ state: 'attached' })
})

describe('a call without a known gate', () => {
  test.each([
    ['a name', 'dmeo', 'no such gate: dmeo', 'none has the id dmeo that was sent'],
    [
      'a tag, and more than there is room for',
      `<b>${'gpt-'.repeat(50)}`,
      'no such gate: %3Cb%3Egpt-',
      /^none has the id %3Cb%3E(?:gpt-){31}g… that was sent$/,
    ],
    [
      'a key',
      `sk-svc-${'0123456789abcdef'.repeat(4)}`,
      'no such gate',
      'none; sent was something that looks like an API key, which was not kept',
    ],
  ])(
    'is in the log with its gate id, and without a link to one: %s',
    async (_, model, row, said) => {
      const refused = await controlPlaneCall(gatehouse, 'POST', '/v1/responses', {
        model,
        input: 'x',
      })
      expect(refused.status).toBe(404)
      const id = refused.headers.get('x-request-id') ?? ''
      await waitForLogRow(gatehouse, id)
      await page.goto(`/dashboard/logs/${id}`)
      const call = page.getByRole('complementary', { name: 'Call' })
      await call
        .getByText('The account has no gate with the id that was sent as the model.')
        .waitFor()
      await call.getByRole('definition').filter({ hasText: said }).waitFor()
      expect(await call.getByRole('link').count()).toBe(0)
      await page.getByRole('grid', { name: 'Calls' }).getByText(row).first().waitFor()
      expect(await page.content()).not.toContain('sk-svc-0123')
      expect(await findPageFaults(page)).toEqual([])
    },
  )
})

test('code for a gate begins with its targets’ own formats, and names unsupported members', async () => {
  await createGate(gatehouse, 'messages', 'anthropic/claude-sonnet-4-5')
  await follow(page, '/gates/messages?tab=snippets')
  const tabs = page.getByRole('tablist', { name: 'curl' }).getByRole('tab')
  await tabs
    .first()
    .and(page.getByRole('tab', { name: 'Messages' }))
    .waitFor()
  await page.getByRole('tab', { name: 'FIM (does not work here)' }).click()
  await page.getByRole('tabpanel').getByText('No target of this gate takes this format').waitFor()
  expect(await findPageFaults(page)).toEqual([])
})

test('a used-up budget is shown with its remedy where its calls are looked up', async () => {
  const budget = { name: 'Demo, daily', gateId: 'demo', limitTokens: 1, period: 'day' }
  expect((await controlPlaneCall(gatehouse, 'POST', '/v1/budgets', budget)).status).toBe(201)
  await pollUntil('a refused call', async () => {
    const answer = await controlPlaneCall(gatehouse, 'POST', '/v1/responses', {
      model: 'demo',
      input: 'x',
    })
    await answer.text()
    return answer.status === 429
  })
  const notice = page.getByRole('region', { name: 'Limits that are used up' })
  await follow(page, '/gates')
  await notice.getByText('The budget “Demo, daily” is used up.').waitFor()
  await page.getByRole('cell').getByText('Budget used up').waitFor()
  expect(await findPageFaults(page)).toEqual([])
  await notice.getByRole('link', { name: 'what was refused' }).click()
  await page.getByRole('grid', { name: 'Calls' }).getByText('429').first().waitFor()
  await follow(page, '/')
  await notice.getByText('Used up: the budget “Demo, daily”.').waitFor()
  await notice.getByRole('link', { name: 'Budgets' }).click()
  await page.getByRole('cell', { name: 'Demo, daily Exhausted' }).waitFor()
  await page
    .getByRole('navigation', { name: 'Pages' })
    .getByRole('link', { name: 'API Keys' })
    .click()
  await page.getByRole('table').waitFor()
  expect(await notice.count()).toBe(0)
})

test('refused calls are counted by their reason, lead to the log, and are in no error rate', async () => {
  for (const body of [
    { model: 'demo', input: 'x' },
    { model: 'nobody', input: 'x' },
    { model: 'demo', input: 'x', stream: 'x' },
  ])
    await (await controlPlaneCall(gatehouse, 'POST', '/v1/responses', body)).text()
  const from = new Date(Date.now() - 86_400_000).toISOString()
  const counted = await pollUntil('all reasons', async () => {
    const path = `/v1/analytics/refused?interval=all&from=${from}`
    const { data } = (await (await controlPlaneCall(gatehouse, 'GET', path)).json()) as {
      data: { status: number; errorKind: string; calls: number }[]
    }
    return data.length >= 3 ? data : undefined
  })
  await follow(page, '/')
  const reasons = page.getByRole('list', { name: 'Reasons' })
  for (const { status, errorKind, calls } of counted)
    await reasons
      .getByRole('listitem')
      .filter({ hasText: `${status} ${errorKind.replaceAll('_', ' ')}${calls} calls` })
      .waitFor()
  const total = counted.reduce((sum, { calls }) => sum + calls, 0)
  await page.getByRole('heading', { name: `Refused calls: ${total}` }).waitFor()
  await page.getByRole('tab', { name: /^Errors\s*0%/ }).waitFor()
  await page.getByRole('tab', { name: /^Calls\s*\d+\s*\d+ refused/ }).waitFor()
  expect(await findPageFaults(page)).toEqual([])
  await reasons.getByRole('link', { name: '404 gate not found' }).click()
  await page
    .getByRole('grid', { name: 'Calls' })
    .getByText('no such gate: nobody')
    .first()
    .waitFor()

  await follow(page, '/analytics?gate=demo')
  await reasons.getByRole('link', { name: '429 quota exceeded' }).waitFor()
  expect(await reasons.getByRole('link', { name: '404' }).count()).toBe(0)
  expect(await findPageFaults(page)).toEqual([])
  await follow(page, '/analytics?target=sandbox%2Fecho')
  await page
    .getByRole('region', { name: 'Figures by gate' })
    .or(page.getByText('No calls in this range'))
    .first()
    .waitFor()
  expect(await reasons.count()).toBe(0)
})

describe('a range of days', () => {
  const range = () =>
    page.getByRole('group', { name: 'Range of time' }).locator('..').locator('form')

  test.each(['/', '/analytics'])(
    'is refused in the page’s words, at its first wrong field: %s',
    async (path) => {
      await follow(page, path)
      await page.getByRole('button', { name: 'Custom' }).click()
      await focused('From')
      await page.getByLabel('From', { exact: true }).fill('2026-03-05')
      await page.getByLabel('To', { exact: true }).fill('2026-03-01')
      await range().getByRole('button', { name: 'Show' }).click()
      await range().getByText('Not after 2026-03-01.').waitFor()
      await focused('From')
      await page.getByLabel('From', { exact: true }).fill('')
      await page.getByLabel('To', { exact: true }).fill('')
      await page.keyboard.press('Enter')
      await focused('From')
      expect(await range().getByText('This is needed.').count()).toBe(2)
      expect(await findPageFaults(page)).toEqual([])
      await page.getByLabel('From', { exact: true }).fill('2026-02-01')
      await page.getByLabel('To', { exact: true }).fill('2026-02-02')
      await page.keyboard.press('Enter')
      await page.waitForURL('**range=custom**')
      await range().waitFor({ state: 'detached' })
    },
  )

  test('of the log with its end first filters nothing, and keeps the typed text', async () => {
    await follow(page, '/logs?from=2026-02-01T10:00:00.000Z&to=2026-02-02T10:00:00.000Z')
    const [from, to] = [
      page.getByLabel('From', { exact: true }),
      page.getByLabel('to', { exact: true }),
    ]
    await from.fill('2026-02-05T10:00')
    await page.getByRole('alert').getByText('The start must be before the end.').waitFor()
    expect(await from.inputValue()).toStartWith('2026-02-05T10:00')
    expect(new URL(page.url()).searchParams.get('from')).toBe('2026-02-01T10:00:00.000Z')
    expect(await findPageFaults(page)).toEqual([])
    await to.fill('2026-02-06T10:00')
    await page.waitForURL((url) => url.searchParams.get('from')?.startsWith('2026-02-05') === true)
    expect(new URL(page.url()).searchParams.get('to')).toStartWith('2026-02-06')
    expect(await page.getByRole('alert').count()).toBe(0)
  })
})

describe('a gateway that does not answer', () => {
  const notice = () => page.getByRole('status', { name: 'Connection' }).getByText('does not answer')
  const LOOKS_AGAIN_MS = 2_000
  const isBack = async () => {
    // The next look may have been begun before: then it is the one after.
    await page.clock.fastForward(LOOKS_AGAIN_MS)
    await notice().waitFor({ state: 'detached' })
  }

  test('is reported by the page itself, which stays live and goes on when it answers, even past a proxy', async () => {
    await follow(page, '/logs')
    await page.getByRole('switch', { name: 'Live' }).click()
    await page.getByRole('grid', { name: 'Calls' }).getByRole('row').nth(1).waitFor()
    for (const fail of [
      (route: Route) => route.abort('connectionrefused'),
      (route: Route) => route.fulfill({ status: 502, body: '<h1>Bad gateway</h1>' }),
    ]) {
      await routePage(page, /\/v1\/|\/dashboard\/$/, fail)
      await page.clock.fastForward(LOOKS_AGAIN_MS)
      await notice().waitFor()
      await page.getByRole('grid', { name: 'Calls' }).getByRole('row').nth(1).waitFor()
      await page.unroute(/\/v1\/|\/dashboard\/$/)
      await isBack()
      await page.getByRole('switch', { name: 'Live', checked: true }).waitFor()
    }
  })

  test('is told of no change that its author has given up meanwhile', async () => {
    await controlPlaneCall(gatehouse, 'POST', '/v1/tags', { name: 'kept' })
    await follow(page, '/settings/tags')
    await page.getByRole('button', { name: 'Delete kept' }).click()
    await routePage(page, /\/v1\/|\/dashboard\/$/, (route) => route.abort('connectionrefused'))
    const asked = page.getByRole('alertdialog')
    const confirm = asked.getByRole('button', { name: 'Delete the tag' })
    const refusal = asked.getByRole('alert').getByText('The gateway cannot be reached.')
    await confirm.click()
    await refusal.waitFor()
    await notice().waitFor()
    await confirm.click()
    await asked.locator('[aria-busy="true"]').waitFor({ state: 'detached' })
    await refusal.waitFor()
    await asked.getByRole('button', { name: 'Cancel' }).click()
    const sent: string[] = []
    page.on('request', (request) => sent.push(request.method()))
    await page.unroute(/\/v1\/|\/dashboard\/$/)
    await isBack()
    await page.getByRole('button', { name: 'Delete kept' }).waitFor()
    await page.waitForLoadState('networkidle')
    expect(sent).not.toContain('DELETE')
  })

  test('keeps a page that is not loaded yet waiting, and shows it when it can', async () => {
    await routePage(page, /\/assets\/|\/v1\/|\/dashboard\/$/, (route) =>
      route.abort('connectionrefused'),
    )
    await page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('link', { name: 'Owned models' })
      .click()
    await notice().waitFor()
    expect(await findPageFaults(page)).toEqual([])
    await page.unroute(/\/assets\/|\/v1\/|\/dashboard\/$/)
    await isBack()
    await page.getByRole('heading', { name: 'Owned models', level: 1 }).waitFor()
  })
})

test('a page whose rows are not there yet says its name, and counts none', async () => {
  const held = Promise.withResolvers<void>()
  await routePage(page, /\/v1\/(?:gates|logs)/, async (route) => {
    await held.promise
    await route.continue()
  })
  await page.goto('/dashboard/playground')
  await page.getByRole('heading', { name: 'Playground', level: 1 }).waitFor()
  await page.goto('/dashboard/logs')
  const list = page.getByRole('region', { name: 'List of calls' })
  await list.getByRole('status').getByText('Loading…', { exact: true }).waitFor()
  held.resolve()
  await list.getByRole('status').getByText('calls').waitFor()
  await page.unroute(/\/v1\/(?:gates|logs)/)
})

test('the page shows something before any script or style has come', async () => {
  const slow = await visit.context.newPage()
  const held = Promise.withResolvers<void>()
  await slow.route('**/assets/**', async (route) => {
    await held.promise
    await route.continue()
  })
  await slow.goto('/dashboard/settings', { waitUntil: 'commit' })
  await slow.getByText('Loading the dashboard').waitFor()
  held.resolve()
  await slow.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
  await slow.getByText('Loading the dashboard').waitFor({ state: 'hidden' })
  await slow.close()
})

test('the session is requested once, while the first script is on its way', async () => {
  const slow = await visit.context.newPage()
  const html = await (await slow.request.get('/dashboard/')).text()
  const entry = /<script type="module"[^>]* src="([^"]+)"/.exec(html)?.[1] ?? ''
  const held = Promise.withResolvers<void>()
  await slow.route(`**${entry}`, async (route) => {
    await held.promise
    await route.continue()
  })
  const asked: string[] = []
  slow.on('request', (request) => asked.push(new URL(request.url()).pathname))
  const scripts = () => asked.filter((path) => path.endsWith('.js'))
  await slow.goto('/dashboard/gates', { waitUntil: 'commit' })
  await untilItHolds(async () => expect(asked).toContain('/v1/session'))
  held.resolve()
  await slow.getByRole('heading', { name: 'Gates', level: 1 }).waitFor()
  expect(asked.filter((path) => path === '/v1/session')).toEqual(['/v1/session'])
  expect(scripts()).toEqual([...new Set(scripts())])
  await slow.close()
})

/** Tables and the like that have more than they show. */
const CLIPPED = `[...document.querySelectorAll('main section[tabindex="0"], main [role=grid]')]
  .filter((each) => each.scrollWidth > each.clientWidth + 1)
  .map((each) => each.getAttribute('aria-label') + ': ' + each.scrollWidth + ' of ' + each.clientWidth)`

test('at 1024 px the menu makes room, and no table hides a column or a button', async () => {
  await page.setViewportSize({ width: 1024, height: 768 })
  const clipped: Record<string, unknown> = {}
  for (const path of [
    '/gates',
    '/keys',
    '/settings/members',
    '/settings/budgets',
    '/settings/security',
  ]) {
    await follow(page, path)
    await page.getByRole('table').first().waitFor()
    clipped[path] = await page.evaluate(CLIPPED)
  }
  expect(clipped).toEqual({
    '/gates': [],
    '/keys': [],
    '/settings/members': [],
    '/settings/budgets': [],
    '/settings/security': [],
  })
  const menu = page.getByRole('navigation', { name: 'Pages' })
  expect((await menu.boundingBox())?.width).toBeLessThan(80)
  await menu.getByRole('link', { name: 'Playground' }).press('Enter')
  const message = page.getByRole('textbox', { name: 'Message' })
  await message.waitFor()
  const before = await message.boundingBox()
  await page.getByRole('button', { name: 'Settings', exact: true }).click()
  await page.getByRole('complementary', { name: 'Settings' }).getByLabel('Temperature').waitFor()
  // The drawer lies over the conversation: nothing of it moves.
  expect(await message.boundingBox()).toEqual(before)
  await page.setViewportSize({ width: 1280, height: 900 })
})

test.each([
  ['no page', '/nothing-here', 'There is no page here'],
  ['no gate', '/gates/nobodys', "There is no gate 'nobodys' in this account."],
  ['no model', '/owned-models/nobodys', 'no owned model'],
  ['no call', `/logs/req_${'0'.repeat(32)}`, 'No such call in the log'],
  ['no call that passes the filters', '/logs?status=418', 'No call passes these filters'],
])('an address with %s is readable in both palettes and on a phone', async (_, path, words) => {
  await follow(page, path)
  await page.getByText(words, { exact: false }).first().waitFor()
  expect(await findPageFaults(page)).toEqual([])
})

test('figures that the gateway fails to read are reported accessibly', async () => {
  await routePage(page, /\/v1\/analytics/, (route) =>
    route.fulfill({
      status: 500,
      headers: { 'x-request-id': `req_${'1'.repeat(32)}` },
      json: { error: 'internal_error', message: 'The gateway failed.' },
    }),
  )
  await follow(page, '/analytics')
  await page.getByRole('main').getByRole('alert').first().waitFor()
  expect(await findPageFaults(page)).toEqual([])
  await page.unroute(/\/v1\/analytics/)
})

test('at 320 px the head of the page has room for the longest zone, and the menu is in sight', async () => {
  const narrow = await browser.visit(gatehouse.url, { viewport: { width: 320, height: 640 } })
  await narrow.context.addCookies(await visit.context.cookies())
  const zones = `Intl.DateTimeFormat.prototype.resolvedOptions = ((original) => function () {
    return { ...original.call(this), timeZone: 'America/Argentina/ComodRivadavia' }
  })(Intl.DateTimeFormat.prototype.resolvedOptions)`
  await narrow.page.addInitScript(zones)
  await narrow.page.goto('/dashboard/settings/tags')
  const zone = narrow.page.getByRole('note').filter({ hasText: 'Times in America' }).first()
  await zone.waitFor()
  const logo = await narrow.page.getByText('Gatehouse', { exact: true }).first().boundingBox()
  const menu = await narrow.page.getByRole('button', { name: 'Open the menu' }).boundingBox()
  const box = await zone.boundingBox()
  expect(box?.x).toBeGreaterThan((logo?.x ?? 0) + (logo?.width ?? 0) + 4)
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(menu?.x ?? 0)
  expect((menu?.x ?? 0) + (menu?.width ?? 0)).toBeLessThanOrEqual(320)
  await narrow.close()
})

test('at 320 px the folds of a gate say in full what is in them', async () => {
  await page.setViewportSize({ width: 320, height: 640 })
  await follow(page, '/gates/new')
  await page.getByText('Hedging, time limit, retries').waitFor()
  const cut = `[...document.querySelectorAll('main summary span')]
    .filter((each) => each.scrollWidth > each.clientWidth)
    .map((each) => each.textContent)`
  expect(await page.evaluate(cut)).toEqual([])
  await page.setViewportSize({ width: 1280, height: 900 })
})

/** What one presses in a table's row, or is told of a target, beyond the page's edges. */
const OUT_OF_SIGHT = `[...document.querySelectorAll('main td button, main li span[title]')]
  .filter((each) => each.checkVisibility())
  .map((each) => ({ text: each.textContent, box: each.getBoundingClientRect() }))
  .filter(({ box }) => box.left < 0 || box.right > innerWidth)
  .map(({ text, box }) => text + ': ' + Math.round(box.left) + ' to ' + Math.round(box.right))`

test('on a phone the buttons of rows, the usage of budgets and the states of targets are in sight', async () => {
  await createGate(gatehouse, 'long-names', 'anthropic/claude-sonnet-4-5-with-a-long-name')
  expect((await controlPlaneCall(gatehouse, 'POST', '/v1/tags', { name: 'team' })).status).toBe(201)
  await page.setViewportSize({ width: 390, height: 844 })
  const unseen: Record<string, unknown> = {}
  for (const [path, shown] of [
    ['/gates', 'li span[title]'],
    ['/settings/members', 'td button'],
    ['/settings/budgets', 'td button'],
    ['/settings/tags', 'td button'],
  ] as const) {
    await follow(page, path)
    await page.locator('main').locator(shown).first().waitFor()
    unseen[path] = await page.evaluate(OUT_OF_SIGHT)
  }
  expect(unseen).toEqual({
    '/gates': [],
    '/settings/members': [],
    '/settings/budgets': [],
    '/settings/tags': [],
  })

  await follow(page, '/settings/budgets')
  const row = page.getByRole('table').getByRole('row').nth(1)
  await row.getByRole('meter').waitFor()
  const used = await row.getByRole('meter').boundingBox()
  const button = await row.getByRole('button').first().boundingBox()
  expect((used?.x ?? 0) + (used?.width ?? 0)).toBeLessThan(button?.x ?? 0)
  await page.setViewportSize({ width: 1280, height: 900 })
})

/** The page and its tables, where they are wider than what there is for them. */
const TOO_WIDE = `[document.documentElement, ...document.querySelectorAll('main section:has(> table)')]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
  .map((each) => (each.ariaLabel ?? 'page') + ': ' + each.scrollWidth)`

test('the longest names, in one word, keep everything beside them in sight', async () => {
  const word = 'W'.repeat(100)
  const make = async (path: string, body: object) => {
    const response = await controlPlaneCall(gatehouse, 'POST', path, body)
    expect(response.status).toBe(201)
    return (await response.json()) as { readonly id: string }
  }
  const id = 'G'.repeat(64)
  await make('/v1/gates', {
    ...{ id, displayName: word, description: word.repeat(3) },
    targets: [{ model: `bedrock/${word}` }, { model: `openai/${word}` }],
  })
  const key = await make('/v1/keys', { name: word })
  await make('/v1/budgets', { keyId: key.id, name: word, limitTokens: 1, period: 'day' })
  await make('/v1/owned-models', {
    ...{ slug: 's'.repeat(60), displayName: word, dialect: 'openai-chat', credential: 'x' },
    ...{ baseUrl: `http://127.0.0.1:9/${word}`, upstreamModelId: word },
    ...{ pricingInput: 1, pricingOutput: 1, pricingCachedInput: 1 },
  })
  await make('/v1/invitations', { email: `${'w'.repeat(60)}@${'w'.repeat(60)}.example.com` })
  await page.setViewportSize({ width: 1280, height: 900 })
  const wide: string[] = []
  for (const [path, shown] of [
    ['/gates', 'td code'],
    [`/gates/${id}`, 'header p'],
    ['/settings/budgets', 'td button'],
    ['/keys', 'td button'],
    ['/owned-models', 'td code'],
    ['/settings/members', 'td button'],
  ] as const) {
    await page.goto(`/dashboard${path}`)
    await page.locator('main').locator(shown).first().waitFor()
    for (const found of (await page.evaluate(TOO_WIDE)) as string[]) wide.push(`${path}: ${found}`)
  }
  expect(wide).toEqual([])
})

test('on a phone the longest address of a webhook leaves its buttons and its removal in sight', async () => {
  const url = `https://hooks.example.com/${'h'.repeat(1974)}`
  const body = { url, events: ['budget.exhausted'] }
  expect((await controlPlaneCall(gatehouse, 'POST', '/v1/webhooks', body)).status).toBe(201)
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto('/dashboard/settings/webhooks')
  const remove = page.getByRole('button', { name: `Delete ${url}` })
  await remove.waitFor()
  const bottomOf = async (shown: Locator) => {
    const box = await shown.boundingBox()
    return (box?.y ?? Number.POSITIVE_INFINITY) + (box?.height ?? 0)
  }
  expect(await bottomOf(remove)).toBeLessThan(844)
  await remove.click()
  const confirm = page.getByRole('alertdialog').getByRole('button', { name: 'Delete the webhook' })
  await confirm.waitFor()
  expect(await bottomOf(confirm)).toBeLessThan(844)
  await confirm.click()
  await remove.waitFor({ state: 'detached' })
  await page.setViewportSize({ width: 1280, height: 900 })
})

/** Facts of rows that are not wholly in sight: beside the screen, or beneath another cell. */
const COVERED = `[...document.querySelectorAll('main section > table > tbody > tr > td')].flatMap((cell) => {
  const box = cell.getBoundingClientRect()
  if (box.width === 0) return []
  const beneath = [...cell.parentElement.cells].some((other) => {
    const over = other.getBoundingClientRect()
    const isBeside = over.right <= box.left + 1 || over.left >= box.right - 1
    return other !== cell && !isBeside && over.top < box.bottom - 1 && over.bottom > box.top + 1
  })
  return beneath || box.right > innerWidth ? [cell.textContent.slice(0, 40)] : []
})`

test('on a phone every fact of a row is in sight, and none beneath its buttons', async () => {
  await controlPlaneCall(gatehouse, 'POST', '/v1/tags', { name: 'w'.repeat(64) })
  const found: string[] = []
  for (const [path, name, width] of [
    ['/settings/members', 'Open invitations', 360],
    ['/settings/budgets', 'Budgets', 360],
    ['/settings/tags', 'Tags', 360],
    ['/settings/security', 'Sessions', 360],
    ['/settings/audit-log', 'Changes', 360],
    ['/owned-models', 'Owned models', 360],
    ['/keys', 'API keys', 320],
  ] as const) {
    await page.setViewportSize({ width, height: 780 })
    await follow(page, path)
    await page.getByRole('region', { name }).getByRole('cell').first().waitFor()
    for (const asked of [TOO_WIDE, COVERED])
      for (const fault of (await page.evaluate(asked)) as string[]) found.push(`${path}: ${fault}`)
  }
  expect(found).toEqual([])
  await page.setViewportSize({ width: 1280, height: 900 })
})

test('the way back closes the window over a page, and a second one leaves the page', async () => {
  await follow(page, '/settings/tags')
  await page.getByRole('link', { name: 'Budgets', exact: true }).click()
  await page.getByRole('button', { name: 'Create a budget' }).first().click()
  await page.getByRole('dialog').getByLabel('Name').fill('typed')
  await page.evaluate('history.back()')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('heading', { name: 'Budgets', level: 2 }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/dashboard/settings/budgets')
  await page.evaluate('history.back()')
  await page.getByRole('heading', { name: 'Tags', level: 2 }).waitFor()
})

test('on a phone the playground has room for the longest name of a gate', async () => {
  await page.setViewportSize({ width: 360, height: 780 })
  const id = 'G'.repeat(64)
  await follow(page, `/playground?gate=${id}`)
  const name = await page.getByText(id, { exact: true }).last().boundingBox()
  expect(name?.x ?? -1).toBeGreaterThanOrEqual(0)
  expect((name?.x ?? 0) + (name?.width ?? 361)).toBeLessThanOrEqual(360)
  await page.setViewportSize({ width: 1280, height: 900 })
})

test('on a phone the playground’s first words are in sight above the longest list of targets', async () => {
  const targets = Array.from({ length: 20 }, (_, index) => ({
    model: `openai/${'w'.repeat(150)}-${index}`,
  }))
  const made = await controlPlaneCall(gatehouse, 'POST', '/v1/gates', { id: 'long-list', targets })
  expect(made.status).toBe(201)
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto('/dashboard/playground?gate=long-list')
  await page.getByText('w-19', { exact: false }).last().waitFor()
  const words = await page.getByText('appear here').boundingBox()
  const box = await page.getByRole('region', { name: 'Conversation with long-list' }).boundingBox()
  expect(words?.y ?? 0).toBeGreaterThanOrEqual(box?.y ?? 844)
  await page.setViewportSize({ width: 1280, height: 900 })
})

test('on a phone the window for a range of days is on the screen', async () => {
  for (const width of [360, 320]) {
    await page.setViewportSize({ width, height: 780 })
    await follow(page, '/analytics')
    await page.getByRole('button', { name: 'Custom' }).click()
    const from = await page.getByLabel('From', { exact: true }).boundingBox()
    const show = await page.getByRole('button', { name: 'Show', exact: true }).boundingBox()
    const frame = 16
    expect(from?.x ?? 0).toBeGreaterThanOrEqual(frame)
    expect((show?.x ?? 0) + (show?.width ?? 0)).toBeLessThanOrEqual(width - frame)
    await page.keyboard.press('Escape')
  }
  await page.setViewportSize({ width: 1280, height: 900 })
})

/** Where the last letter of an element ends, and where the whole of it does. */
const ENDS = (selector: string) => `(() => {
  const whole = document.querySelector(${JSON.stringify(selector)})
  const range = document.createRange()
  range.selectNodeContents(whole)
  const end = range.getBoundingClientRect().right
  let last = whole
  while (last.lastChild !== null) last = last.lastChild
  range.setStart(last, last.length - 1)
  range.setEnd(last, last.length)
  return { end, last: range.getBoundingClientRect().right }
})()`

test('a name that turns the direction of writing moves no word beside it', async () => {
  const turned = 'Bob \u202Egnp.exe'
  await controlPlaneCall(gatehouse, 'POST', '/v1/tags', { name: 'turned' })
  await routePage(page, /\/v1\/members|\/v1\/tags/, async (route) => {
    const answer = await route.fetch()
    const { data, nextCursor } = (await answer.json()) as { data: object[]; nextCursor: null }
    await route.fulfill({
      response: answer,
      json: { data: data.map((each) => ({ ...each, name: turned })), nextCursor },
    })
  })
  await page.goto('/dashboard/settings/members')
  await page.getByRole('cell', { name: 'Bob' }).first().waitFor()
  const wrong: unknown[] = []
  const look = async (selector: string) => {
    const { end, last } = (await page.evaluate(ENDS(selector))) as { end: number; last: number }
    if (Math.abs(end - last) > 1) wrong.push({ selector, end, last })
  }
  await look('main tbody td')
  await page.goto('/dashboard/settings/tags')
  await page.getByRole('button', { name: 'Delete Bob' }).first().click()
  await page.getByRole('alertdialog').waitFor()
  await look('[role=alertdialog] h2')
  expect(wrong).toEqual([])
  await page.keyboard.press('Escape')
  await page.unrouteAll({ behavior: 'wait' })
})

test('these pages log no error and request nothing from another host', () => {
  expect(visit.complaints).toEqual([])
})
