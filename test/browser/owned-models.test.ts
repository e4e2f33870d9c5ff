/**
 * Owned models in the dashboard, in a real browser on the real server: registered, edited, rotated
 * with a warning, deleted.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import {
  BROWSER_TEST_TIMEOUT_MS,
  enterAsOwner,
  findAccessibilityFaults,
  follow,
  openBrowser,
  type Visit,
} from '../support/chromium.ts'
import { controlPlaneCall, createGate } from '../support/control-plane.ts'
import { CHAT_JSON } from '../support/dialect-samples.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { routePage } from '../support/route-page.ts'
import { jsonAnswer } from '../support/scripted-answers.ts'
import { collectSeenTexts, type SeenTexts } from '../support/seen-texts.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { untilItHolds } from '../support/until-it-holds.ts'

const CREDENTIALS = ['first-credential-5521', 'second-credential-8840', 'third-credential-1079']
const [FIRST = '', SECOND = '', THIRD = ''] = CREDENTIALS

setDefaultTimeout(BROWSER_TEST_TIMEOUT_MS)

let gatehouse: Gatehouse
let upstream: RawUpstream
let browser: Awaited<ReturnType<typeof openBrowser>>
let visit: Visit
let seen: SeenTexts
beforeAll(async () => {
  upstream = await startRawUpstream()
  upstream.answer(jsonAnswer(200, CHAT_JSON))
  gatehouse = await startGatehouse({
    sandbox: true,
    environment: { GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1' },
  })
  browser = await openBrowser()
  visit = await browser.visit(gatehouse.url)
  seen = collectSeenTexts(visit.page)
  await enterAsOwner(visit.page, gatehouse)
})
afterAll(async () => {
  await browser.close()
  await gatehouse.remove()
  await upstream.stop()
})

async function stored(): Promise<unknown> {
  return (await controlPlaneCall(gatehouse, 'GET', '/v1/owned-models/house-llama')).json()
}

test('the page without a model explains its purpose, and leads to the form', async () => {
  const { page } = visit
  await page.getByRole('navigation').getByRole('link', { name: 'Owned models' }).click()
  await page.getByText('No owned models').waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])
  await page.getByRole('link', { name: 'Register a model' }).last().click()
  await page.getByRole('heading', { name: 'Register a model' }).waitFor()
})

test('faults are shown while typing: slug, address, prices', async () => {
  const { page } = visit
  await page.getByLabel('Slug').fill('House')
  await page.getByText('Small letters only.').waitFor()
  await page.getByLabel('Base address').fill('models.example.com')
  await page.getByText('The address must begin with https://').waitFor()
  await page.getByLabel('Embeddings').check()
  expect(await page.getByLabel('Header of the credential').count()).toBe(0)
  await page.getByRole('radio', { name: 'Messages' }).check()
  await page.getByLabel('Header of the credential').waitFor()
  expect(await page.getByLabel('Filling in the middle').count()).toBe(0)
  await page.getByRole('radio', { name: 'Fill in the middle' }).check()
  await page.getByLabel('Filling in the middle').selectOption('infill')
  await page.getByRole('radio', { name: 'Chat Completions' }).check()
  await page.getByLabel('Output').fill('0.25')
  await page.getByText('Write whole cents in digits').waitFor()
  await page.getByRole('button', { name: 'Register' }).click()
  await page.getByLabel('Slug').and(page.locator(':focus')).waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])
})

test("an address inside the network is refused at its field, in the gateway's own words", async () => {
  const { page } = visit
  await page.getByLabel('Slug').fill('house-llama')
  await page.getByLabel('Base address').fill('https://10.1.2.3/v1')
  await page.getByText('https://10.1.2.3/v1/chat/completions').waitFor()
  await page.getByLabel('Model id at its server').fill('llama3.3:70b')
  await page.getByLabel('Credential').fill(FIRST)
  await page.getByLabel('Input optional', { exact: true }).fill('25')
  await page.getByText('$0.25 / 1M').waitFor()
  await page.getByLabel('Output').fill('75')
  await page.getByRole('button', { name: 'Register' }).click()
  await page.getByText('GATEHOUSE_TRUSTED_HOSTS').waitFor()
  expect(await page.getByLabel('Base address').getAttribute('aria-invalid')).toBe('true')
  expect(await page.getByLabel('Credential').inputValue()).toBe(FIRST)
  expect(await page.content()).not.toContain(FIRST)
})

test('a model is registered, and the result of its probe is shown', async () => {
  const { page } = visit
  await page.getByLabel('Base address').fill(`${upstream.url}/v1`)
  await page.getByText('GATEHOUSE_TRUSTED_HOSTS').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Register' }).click()
  await page.getByText('Saved, and the model answers').waitFor()
  await page.getByRole('tabpanel').getByText('owned/house-llama').waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])
  expect(upstream.last().headers.authorization).toBe(`Bearer ${FIRST}`)
  expect(await stored()).toMatchObject({
    pricingInput: 25,
    pricingOutput: 75,
    pricingCachedInput: 25,
  })
})

test('a taken slug is reported at its field', async () => {
  const { page } = visit
  await page.getByRole('button', { name: 'Register another' }).click()
  await page.getByLabel('Slug').fill('house-llama')
  await page.getByLabel('Base address').fill(`${upstream.url}/v1`)
  await page.getByLabel('Model id at its server').fill('x')
  await page.getByLabel('Credential').fill(FIRST)
  await page.getByLabel('Input optional', { exact: true }).fill('1')
  await page.getByLabel('Output').fill('1')
  await page.keyboard.press('Enter')
  await page.getByText('with this slug already exists').waitFor()
  expect(await page.getByLabel('Slug').getAttribute('aria-invalid')).toBe('true')
})

test('a refused credential is saved, with a warning; the next one answers', async () => {
  const { page } = visit
  await page.goto('/dashboard/owned-models')
  await page.getByRole('link', { name: 'house-llama', exact: true }).click()
  await page.getByRole('button', { name: 'Rotate' }).click()
  const dialog = page.getByRole('dialog')

  upstream.answer(jsonAnswer(401, { error: { message: 'no' } }))
  await dialog.getByLabel('New credential').fill(SECOND)
  await dialog.getByRole('button', { name: 'Save and try' }).click()
  const warning = dialog.getByRole('alert')
  await warning.getByText('Saved, but the model did not answer').waitFor()
  await warning.getByText('The server refused the credential.').waitFor()
  expect(await warning.textContent()).toContain('HTTP status401')
  expect(await warning.textContent()).toContain('unreachable')
  expect(await findAccessibilityFaults(page)).toEqual([])

  upstream.answer(jsonAnswer(200, CHAT_JSON))
  await dialog.getByRole('button', { name: 'Set another' }).click()
  await dialog.getByLabel('New credential').fill(THIRD)
  await page.keyboard.press('Enter')
  await dialog.getByText('Saved, and the model answers').waitFor()
  expect(upstream.last().headers.authorization).toBe(`Bearer ${THIRD}`)
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.getByText('The model answers', { exact: true }).waitFor()
})

test('a credential is removed, and set again', async () => {
  const { page } = visit
  await page.getByRole('button', { name: 'Rotate' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Delete: its server takes none' }).click()
  await dialog.getByText('Saved, and the model answers').waitFor()
  expect(upstream.last().headers).not.toHaveProperty('authorization')
  expect(await stored()).toMatchObject({ credentialSetAt: null })
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.getByText('none is sent').waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])

  await page.getByRole('button', { name: 'Set', exact: true }).click()
  expect(await dialog.getByRole('button', { name: 'Remove' }).count()).toBe(0)
  await dialog.getByLabel('New credential').fill(THIRD)
  await page.keyboard.press('Enter')
  await dialog.getByText('Saved, and the model answers').waitFor()
  expect(upstream.last().headers.authorization).toBe(`Bearer ${THIRD}`)
  await dialog.getByRole('button', { name: 'Done' }).click()
})

test('a server without a key is registered by its address and model alone', async () => {
  const { page } = visit
  await follow(page, '/owned-models/new')
  await page.getByLabel('Slug').fill('bare')
  await page.getByLabel('Base address').fill(`${upstream.url}/v1`)
  await page.getByLabel('Model id at its server').fill('x')
  await page.getByRole('button', { name: 'Register' }).click()
  await page.getByText('Saved, and the model answers').waitFor()
  expect(upstream.last().headers).not.toHaveProperty('authorization')
  const response = await controlPlaneCall(gatehouse, 'GET', '/v1/owned-models/bare')
  expect(await response.json()).toMatchObject({
    credentialSetAt: null,
    pricingInput: 0,
    pricingOutput: 0,
  })
  expect((await controlPlaneCall(gatehouse, 'DELETE', '/v1/owned-models/bare')).status).toBe(204)
  await follow(page, '/owned-models')
  await page.getByRole('link', { name: 'house-llama', exact: true }).click()
})

test('the result of the probe stays visible, and can be renewed', async () => {
  const { page } = visit
  upstream.answer(jsonAnswer(200, '<title>Sign in</title>', { 'content-type': 'text/html' }))
  await page.getByRole('button', { name: 'Check again' }).click()
  await page.getByText('The model did not answer', { exact: true }).waitFor()
  await page.getByText('with a web page, such as a sign-in page').waitFor()
  expect(await stored()).toMatchObject({ probe: { status: 'unreachable' } })
  await follow(page, '/owned-models')
  await page.getByText('does not answer').waitFor()
  await page.getByRole('link', { name: 'house-llama', exact: true }).click()

  // A server that loads its model, and then has it: nobody has to ask again.
  upstream.answer(jsonAnswer(503, { error: { code: 503, message: 'Loading model' } }))
  await page.getByRole('button', { name: 'Check again' }).click()
  await page.getByText('The model is being loaded', { exact: true }).waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])
  upstream.answer(jsonAnswer(200, CHAT_JSON))
  await page.getByText('The model answers', { exact: true }).waitFor()
})

test('only changed members are sent', async () => {
  const { page } = visit
  const sent = page.waitForRequest((request) => request.method() === 'PATCH')
  expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
  await page.getByLabel('Output').fill('80')
  await page.getByRole('button', { name: 'Save' }).click()
  expect((await sent).postDataJSON()).toEqual({ pricingOutput: 80 })
  await page.getByText('Calls that begin now use the new credential.').waitFor()
  expect(await stored()).toMatchObject({ pricingOutput: 80, pricingInput: 25 })
})

test('a refusal stands at its field until the field is changed', async () => {
  const { page } = visit
  await page.getByLabel('Display name').fill('a\u0007b')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('must not hold control characters').waitFor()
  await page.getByLabel('Display name').fill('Llama in the basement')
  await page.getByText('must not hold control characters').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'Llama in the basement' }).waitFor()
})

test('a model’s form of fill-in-the-middle is shown and can be set by hand', async () => {
  const { page } = visit
  await controlPlaneCall(gatehouse, 'POST', '/v1/owned-models', {
    slug: 'house-coder',
    dialect: 'mistral-fim',
    baseUrl: `${upstream.url}/v1`,
    upstreamModelId: 'mine',
    credential: FIRST,
    pricingInput: 0,
    pricingOutput: 0,
  })
  await follow(page, '/owned-models/house-coder')
  await page.getByText(`${upstream.url}/v1/fim/completions`).waitFor()
  await page.getByLabel('Filling in the middle').selectOption('completions-template')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('does not identify the family').waitFor()
  await page.getByLabel('Tokens of the model').selectOption('codestral')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText(`${upstream.url}/v1/completions`).waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])
  const saved = await controlPlaneCall(gatehouse, 'GET', '/v1/owned-models/house-coder')
  expect(await saved.json()).toMatchObject({
    fimEndpoint: 'completions-template',
    fimTemplate: 'codestral',
  })
  await controlPlaneCall(gatehouse, 'DELETE', '/v1/owned-models/house-coder')
  await follow(page, '/owned-models/house-llama')
  await page.getByText('no gate', { exact: true }).waitFor()
})

test('an unsaved owned model asks before its form is left', async () => {
  const { page } = visit
  const question = page.getByRole('alertdialog', { name: 'Leave without saving?' })
  for (const [path, field] of [
    ['/owned-models/new', 'Slug'],
    ['/owned-models/house-llama', 'Display name'],
  ] as const) {
    await follow(page, path)
    await page.getByLabel(field).fill('typed-of-it')
    await page.getByRole('link', { name: 'API Keys' }).first().click()
    await question.getByRole('button', { name: 'Cancel' }).click({ timeout: 5_000 })
    expect(await page.getByLabel(field).inputValue()).toBe('typed-of-it')
    await page.getByRole('link', { name: 'API Keys' }).first().click()
    await question.getByRole('button', { name: 'Leave' }).click()
    await page.getByRole('heading', { name: 'API Keys', level: 1 }).waitFor()
  }
  await follow(page, '/owned-models/house-llama')
  await page.getByText('no gate', { exact: true }).waitFor()
})

test('a model in use by a gate cannot be deleted, and the gate is named', async () => {
  const { page } = visit
  // Behind the page's back: it finds out by the refusal.
  await createGate(gatehouse, 'assistant', 'owned/house-llama')
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete the model' }).click()
  const told = page.getByRole('dialog', { name: 'house-llama is in use' })
  await told.getByRole('link', { name: 'assistant' }).waitFor()
  expect(await told.getByRole('link', { name: 'assistant' }).getAttribute('href')).toBe(
    '/dashboard/gates/assistant',
  )
  expect(await findAccessibilityFaults(page)).toEqual([])
  await told.getByRole('button', { name: 'Close' }).last().click()
})

test('a call that is newer than the probe decides the state on the list and the page', async () => {
  const { page } = visit
  const call = () =>
    controlPlaneCall(gatehouse, 'POST', '/v1/chat/completions', {
      model: 'assistant',
      messages: [{ role: 'user', content: 'hello' }],
    })
  upstream.answer(jsonAnswer(500, { error: { message: 'out of memory' } }))
  expect((await call()).status).not.toBe(200)
  await page.goto('/dashboard/owned-models/house-llama')
  const failed = page.getByRole('alert').filter({ hasText: 'The last call failed' })
  await failed.getByText('upstream_error').waitFor()
  await page.getByText('Checked before that').waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])
  await follow(page, '/owned-models')
  await page.getByText('last call failed').waitFor()

  upstream.answer(jsonAnswer(200, CHAT_JSON))
  expect((await call()).status).toBe(200)
  await page.getByText('answers', { exact: true }).waitFor()
  await page.getByText('called', { exact: false }).first().waitFor()
  await page.getByRole('link', { name: 'Llama in the basement' }).click()
  await page.getByText('It answered the last call').waitFor()
  await page.getByRole('button', { name: 'Check again' }).click()
  await page.getByText('It answered the last call').waitFor({ state: 'detached' })
  await page.getByText('The model answers', { exact: true }).waitFor()
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
    for (const [path, seenWhenThere] of [
      ['', 'link:Llama in the basement'],
      ['/new', 'button:Register'],
      ['/house-llama', 'button:Rotate'],
    ] as const) {
      await follow(page, `/owned-models${path}`)
      const [role = '', name = ''] = seenWhenThere.split(':')
      await page.getByRole(role as 'link' | 'button', { name }).waitFor()
      expect(await findAccessibilityFaults(page)).toEqual([])
      await untilItHolds(async () =>
        expect(
          await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
        ).toBeLessThanOrEqual(0),
      )
    }
  },
)

test('an unused model is deleted', async () => {
  const { page } = visit
  await controlPlaneCall(gatehouse, 'DELETE', '/v1/gates/assistant')
  await page.goto('/dashboard/owned-models/house-llama')
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete the model' }).click()
  await page.getByText('No owned models').waitFor()
})

test('a missing model is reported, and so is a refusal', async () => {
  const { page } = visit
  await follow(page, '/owned-models/no-such-model')
  await page.getByRole('alert').getByText('no owned model').waitFor()
  await routePage(page, '**/v1/owned-models*', (route) =>
    route.fulfill({
      status: 403,
      json: { error: 'forbidden', message: 'This takes another role.' },
    }),
  )
  await page.goto('/dashboard/owned-models')
  await page.getByText('You may not do this: This takes another role.').waitFor()
  await page.unroute('**/v1/owned-models*')
})

test('no credential was in the page, in an answer or in an address', async () => {
  const { page } = visit
  const everything = (await seen.all()) + (await page.content())
  expect(everything).toContain('credentialSetAt')
  for (const credential of CREDENTIALS) expect(everything).not.toContain(credential)
})

test('these pages log no error and request nothing from another host', () => {
  expect(visit.complaints).toEqual([])
})
