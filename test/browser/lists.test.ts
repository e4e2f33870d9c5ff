/**
 * Every list of the dashboard, in a real browser on the real server: its second and third option
 * are chosen by mouse and by keyboard.
 */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { resolve } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import {
  BROWSER_TEST_TIMEOUT_MS,
  enterAsOwner,
  follow,
  openBrowser,
  type Visit,
} from '../support/chromium.ts'
import { controlPlaneCall, createGate, createKey, waitForLogRow } from '../support/control-plane.ts'
import { type PageList, tryList } from '../support/page-lists.ts'
import { pollUntil } from '../support/poll-until.ts'
import { exampleBodies } from '../support/route-examples.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

setDefaultTimeout(BROWSER_TEST_TIMEOUT_MS)

/** The audit log shows so many changes at a time. */
const PAGE_OF_CHANGES = 50

let gatehouse: Gatehouse
let browser: Awaited<ReturnType<typeof openBrowser>>
let visit: Visit
let page: Page
beforeAll(async () => {
  gatehouse = await startGatehouse({
    sandbox: true,
    environment: { GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1' },
  })
  await createGate(gatehouse, 'second', ['sandbox/echo', 'sandbox/slow'])
  await createGate(gatehouse, 'third', 'sandbox/500')
  for (let made = 0; made < PAGE_OF_CHANGES; made += 1) await createKey(gatehouse, `key ${made}`)
  const model = { ...exampleBodies.createOwnedModel?.(''), slug: 'house' }
  expect((await controlPlaneCall(gatehouse, 'POST', '/v1/owned-models', model)).status).toBe(201)
  for (const gate of ['demo', 'second', 'second', 'third']) {
    const response = await controlPlaneCall(gatehouse, 'POST', '/v1/responses', {
      model: gate,
      input: 'x',
    })
    await response.text()
    await waitForLogRow(gatehouse, response.headers.get('x-request-id'))
  }
  browser = await openBrowser()
  visit = await browser.visit(gatehouse.url)
  page = visit.page
  await enterAsOwner(page, gatehouse)
})
afterAll(async () => {
  await browser.close()
  await gatehouse.remove()
})
afterEach(async () => {
  // The page of a page that broke.
  expect(await page.getByText('Something went wrong on this page').count()).toBe(0)
  expect(visit.complaints).toEqual([])
})

interface PageWithLists {
  readonly path: string
  /** Whether it has to be opened anew, because the page before is the same one. */
  readonly isAnew?: boolean
  /** The files of web/ whose lists these are. */
  readonly files: readonly string[]
  /** Goes to where the lists are. */
  readonly prepare?: () => Promise<unknown>
  readonly lists: readonly PageList[]
}

/** The address says it, without the quotes that tell text from numbers there. */
const inAddress =
  (name: string, absentFor = '') =>
  (shown: Page, option: string) =>
    shown.waitForURL(
      ({ searchParams }) =>
        (searchParams.get(name) ?? absentFor).replaceAll('"', '') ===
        option.toLowerCase().replace(' h', 'h'),
    )

const heading = (toName: (option: string) => string | RegExp) => (shown: Page, option: string) =>
  shown
    .getByRole('heading', { name: toName(option) })
    .first()
    .waitFor()

const code = (part: string) => (shown: Page) =>
  shown.getByRole('tabpanel').getByText(part, { exact: false }).first().waitFor()

const PAGES: readonly PageWithLists[] = [
  {
    path: '/',
    files: [
      'app/shell.tsx',
      'features/overview/overview-page.tsx',
      'features/overview/usage-board.tsx',
    ],
    lists: [
      {
        kind: 'tab',
        name: 'Figures',
        fewest: 6,
        shows: (shown) => shown.getByRole('figure').waitFor(),
      },
      { kind: 'button', name: 'Range of time', fewest: 5 },
      { kind: 'link', name: 'Pages', fewest: 10 },
    ],
  },
  {
    path: '/playground?gate=demo&compare=second',
    files: ['features/playground/composer.tsx', 'features/playground/lane-view.tsx'],
    lists: [
      { kind: 'select', name: 'Gate to compare with', shows: inAddress('compare') },
      { kind: 'select', name: 'Gate', shows: inAddress('gate') },
      { kind: 'select', name: 'Reasoning effort' },
    ],
  },
  {
    path: '/playground?gate=demo',
    isAnew: true,
    files: ['features/playground/code-dialog.tsx'],
    prepare: async () => {
      await page.getByRole('textbox', { name: 'Message' }).fill('hello')
      await page.keyboard.press('Enter')
      await page.getByText('in all').waitFor()
      await page.getByRole('button', { name: /^Code/ }).click()
    },
    lists: [{ kind: 'tab', name: 'Language', shows: code('hello') }],
  },
  {
    path: '/gates/new',
    files: [
      'features/gates/gate-form.tsx',
      'features/gates/settings-folds.tsx',
      'features/gates/budget-fold.tsx',
    ],
    prepare: async () => {
      await page.getByText('Instructions, sampling').click()
      await page.getByText('Targets that come first from a share of a budget on').click()
    },
    lists: [
      { kind: 'radio', name: 'Strategy' },
      {
        kind: 'select',
        name: 'Name the budget in headers',
        fewest: 2,
      },
      {
        kind: 'select',
        name: 'Reasoning effort optional',
        shows: (shown, effort) =>
          effort === '' ? Promise.resolve() : shown.getByText(`effort ${effort}`).waitFor(),
      },
      {
        kind: 'select',
        name: 'When a request contradicts the gate',
        shows: (shown, says) =>
          says === 'ignore' ? Promise.resolve() : shown.getByText(`overrides: ${says}`).waitFor(),
      },
    ],
  },
  {
    path: '/gates/demo?tab=snippets',
    files: ['features/gates/gate-page.tsx'],
    lists: [
      {
        kind: 'button',
        name: 'SDK',
        shows: (shown, sdk) => shown.getByRole('tablist', { name: sdk }).waitFor(),
      },
      { kind: 'tab', name: 'Mistral FIM', fewest: 2, shows: code('demo') },
    ],
  },
  {
    path: '/models',
    files: ['features/models/models-page.tsx'],
    lists: [
      { kind: 'select', name: 'Provider', shows: inAddress('provider') },
      { kind: 'select', name: 'Sort by', fewest: 6, shows: inAddress('sort', 'provider') },
    ],
  },
  {
    path: '/owned-models/new',
    files: [
      'features/owned-models/credential-header-field.tsx',
      'features/owned-models/dialect-field.tsx',
    ],
    // The one format whose servers differ in it.
    prepare: async () => await page.getByRole('radio', { name: 'Messages' }).check(),
    lists: [
      { kind: 'select', name: 'Header of the credential' },
      { kind: 'radio', name: 'Format that its server speaks', fewest: 5 },
    ],
  },
  {
    path: '/owned-models/new?',
    isAnew: true,
    files: ['features/owned-models/fim-fields.tsx'],
    prepare: async () => await page.getByRole('radio', { name: 'Fill in the middle' }).check(),
    lists: [
      { kind: 'select', name: 'Filling in the middle', fewest: 5 },
      { kind: 'select', name: 'Tokens of the model', fewest: 8 },
    ],
  },
  {
    path: '/owned-models/house',
    files: ['features/owned-models/use-in-gate.tsx'],
    lists: [{ kind: 'tab', name: 'How to use owned/house', shows: code('owned/house') }],
  },
  {
    path: '/keys',
    files: ['features/keys/create-key-dialog.tsx', 'features/keys/key-fields.tsx'],
    prepare: async () => await page.getByRole('button', { name: 'Create New Key' }).click(),
    lists: [
      { kind: 'radio', name: 'Where the key comes from', fewest: 2 },
      {
        kind: 'select',
        name: 'Expires',
        fewest: 5,
        shows: (shown, end) =>
          (end === 'date'
            ? shown.getByLabel('Last day')
            : shown.getByText(
                end === 'never' ? 'until it is deleted' : /^Refused permanently from /,
              )
          ).waitFor(),
      },
    ],
  },
  {
    path: '/keys?token',
    isAnew: true,
    files: ['features/keys/token-form.tsx'],
    prepare: async () => await page.getByRole('button', { name: 'Create Access Token' }).click(),
    lists: [
      { kind: 'select', name: 'Owner', fewest: 2 },
      {
        kind: 'radio',
        name: 'Gates',
        fewest: 2,
        shows: (shown, choice) =>
          shown
            .getByRole('checkbox', { name: 'third' })
            .waitFor({ state: choice.startsWith('Only') ? 'visible' : 'detached' }),
      },
    ],
  },
  {
    path: '/keys?',
    isAnew: true,
    files: ['features/keys/rotate-key-dialog.tsx'],
    prepare: async () => {
      await page.getByRole('button', { name: 'Actions for key 0', exact: true }).press('Enter')
      await page.getByRole('menuitem', { name: 'Rotate' }).press('Enter')
    },
    lists: [
      {
        kind: 'select',
        name: 'The old key ends',
        fewest: 4,
        shows: (shown, seconds) =>
          shown
            .getByText(seconds === '0' ? 'cut within seconds' : 'Both keys are accepted')
            .waitFor(),
      },
    ],
  },
  {
    path: '/logs',
    files: ['features/logs/log-filters.tsx', 'features/logs/filter-controls.tsx'],
    lists: [
      { kind: 'select', name: 'Outcome', shows: inAddress('outcome') },
      { kind: 'select', name: 'Status', shows: inAddress('status') },
      { kind: 'select', name: 'Gate', shows: inAddress('gate') },
      { kind: 'select', name: 'Key', shows: inAddress('key') },
      { kind: 'select', name: 'Error', shows: inAddress('errorKind') },
      { kind: 'select', name: 'Refused', shows: inAddress('refused') },
      { kind: 'select', name: 'Stream', shows: inAddress('stream') },
      {
        kind: 'select',
        name: 'Time',
        fewest: 7,
        shows: (shown, time) =>
          time === 'custom' ? shown.getByLabel('From').waitFor() : inAddress('range')(shown, time),
      },
    ],
  },
  {
    path: '/analytics',
    files: [
      'features/analytics/analytics-page.tsx',
      'features/analytics/breakdown-card.tsx',
      'features/analytics/latency-card.tsx',
    ],
    lists: [
      { kind: 'button', name: 'Break down by', fewest: 5, shows: inAddress('by', 'gate') },
      { kind: 'button', name: 'Range of time', fewest: 5 },
      {
        kind: 'select',
        name: 'Which figure',
        shows: heading((figure) => new RegExp(`^${figure} by`, 'i')),
      },
      {
        kind: 'select',
        name: 'Which time',
        fewest: 2,
        shows: (shown, time) =>
          shown
            .getByRole('application', {
              name: time === 'durationMs' ? /^Duration/ : /^Time to first token/,
            })
            .or(shown.getByText('Nothing to measure in this range'))
            .waitFor(),
      },
    ],
  },
  {
    path: '/settings',
    files: ['features/settings/settings-layout.tsx'],
    lists: [{ kind: 'link', name: 'Settings', fewest: 7 }],
  },
  {
    path: '/settings/budgets',
    files: ['features/settings/budget-dialog.tsx', 'features/settings/budget-scope-fields.tsx'],
    prepare: async () =>
      await page
        .getByRole('button', { name: /budget/i })
        .first()
        .click(),
    lists: [
      {
        kind: 'select',
        name: 'Limits',
        fewest: 2,
        shows: (shown, scope) =>
          shown.getByLabel(FIELDS_OF_SCOPES.get(scope) ?? 'Limits', { exact: true }).waitFor(),
      },
      {
        kind: 'select',
        name: 'Counted in',
        fewest: 2,
        shows: (shown, unit) =>
          shown.getByLabel(unit === 'usd' ? 'Limit in US dollars' : 'Limit in tokens').waitFor(),
      },
      { kind: 'select', name: 'Period', fewest: 4 },
      { kind: 'select', name: 'When it is used up', fewest: 3 },
      { kind: 'select', name: 'Time zone', fewest: 2 },
    ],
  },
  {
    path: '/settings/audit-log',
    files: ['features/settings/audit-filter.tsx'],
    lists: [
      { kind: 'select', name: 'By', shows: inAddress('actor') },
      { kind: 'select', name: 'Change', shows: inAddress('action') },
      { kind: 'select', name: 'Of', shows: inAddress('resourceType') },
    ],
  },
  {
    path: '/docs',
    files: ['features/docs/docs-layout.tsx', 'features/docs/quick-start-page.tsx'],
    lists: [
      { kind: 'select', name: 'Gate', shows: (shown, gate) => code(`"${gate}"`)(shown) },
      {
        kind: 'radio',
        name: 'SDK',
        fewest: 5,
        shows: (shown, sdk) => shown.getByRole('tablist', { name: `${sdk} variants` }).waitFor(),
      },
      { kind: 'link', name: 'Docs' },
    ],
  },
  {
    path: '/docs/errors',
    files: ['features/docs/errors-page.tsx'],
    lists: [{ kind: 'tab', name: 'Error envelopes', shows: code('message') }],
  },
  {
    path: '/docs/conformance',
    files: ['features/docs/conformance-page.tsx'],
    lists: [{ kind: 'select', name: 'Feature', fewest: 10 }],
  },
]

/** Lists that need more than a choice: where they are tried. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'app/account-menu-items.tsx': 'below',
  'features/analytics/sums-table.tsx': 'below',
  'features/callers/people-page.tsx': 'callers.test.ts',
  'features/callers/person-page.tsx': 'callers.test.ts',
  'features/callers/sessions-page.tsx': 'callers.test.ts',
  'features/connect/connect-page.tsx': 'connect.test.ts',
  'features/keys/attribution-fields.tsx': 'keys.test.ts',
  'features/keys/client-setup.tsx': 'tokens.test.ts: its window is closed only once it was copied',
  'features/keys/key-page.tsx': 'tokens.test.ts',
  'features/keys/key-table.tsx': 'below',
  'features/logs/filter-chips.tsx': 'below',
  'features/logs/log-list.tsx': 'below',
  'features/logs/log-search-field.tsx': 'log-reasons.test.ts',
  'features/models/model-table.tsx': 'models.test.ts',
  'features/settings/attribution-card.tsx': 'callers.test.ts',
  'features/settings/budget-simulation.tsx': 'budget-simulation.test.ts',
  'features/settings/members-field.tsx': 'settings-usage.test.ts',
  'features/settings/webhooks-page.tsx': 'below',
  'features/gates/target-picker.tsx': 'gates.test.ts, and below while nothing matches',
  'features/overview/spend-chart.tsx': 'usage-order.test.ts',
  'features/overview/first-steps.tsx': 'overview.test.ts: it is gone once there was a call',
}

describe.each(PAGES)('$path', ({ path, isAnew = false, prepare, lists }) => {
  beforeAll(async () => {
    if (isAnew) await page.goto(`/dashboard${path}`)
    else await follow(page, path)
    await prepare?.()
  })
  test.each(lists)('$kind: $name', async (list) => {
    await tryList(page, list)
  })
})

test('the colours in the account’s menu', async () => {
  await follow(page, '/keys')
  const trigger = page.getByRole('button', { name: 'Account' })
  const choices = page.getByRole('menuitemradio')
  const isTheme = (theme: string) => page.locator(`html[data-theme=${theme}]`).waitFor()
  await page.emulateMedia({ colorScheme: 'light' })
  await trigger.click()
  await choices.nth(1).click()
  await isTheme('dark')
  await trigger.click()
  await choices.nth(2).click()
  await isTheme('light')
  const isFocused = (item: Locator) => item.and(page.locator(':focus')).waitFor()
  await trigger.press('Enter')
  await isFocused(choices.nth(0))
  for (const [key, item] of [
    ['End', page.getByRole('menuitem', { name: 'Sign out' })],
    ['Home', choices.nth(0)],
    ['ArrowDown', choices.nth(1)],
    ['ArrowDown', choices.nth(2)],
    ['ArrowUp', choices.nth(1)],
  ] as const) {
    await page.keyboard.press(key)
    await isFocused(item)
  }
  await page.keyboard.press('Enter')
  await isTheme('dark')
  await trigger.press('ArrowDown')
  await isFocused(choices.nth(0))
  await page.keyboard.press('a')
  await isFocused(choices.nth(2))
  await page.keyboard.press('Enter')
  await isTheme('light')
  await trigger.press('Enter')
  await page.keyboard.press('Escape')
  await choices.first().waitFor({ state: 'detached' })
  await isTheme('light')
})

test('a figure that arrives while its tile is pressed does not cancel the press', async () => {
  const figures = '**/v1/analytics?*'
  const asked = Promise.withResolvers<void>()
  await page.route(figures, async (route) => {
    await asked.promise
    await route.continue()
  })
  await page.goto('/dashboard/')
  const tile = page.getByRole('tablist', { name: 'Figures' }).getByRole('tab').nth(2)
  await tile.hover()
  await page.mouse.down()
  asked.resolve()
  await tile.getByText(/\d/).first().waitFor()
  await page.mouse.up()
  await tile.and(page.locator('[aria-selected=true]')).waitFor()
  await page.unroute(figures)
})

test('the actions of a key', async () => {
  await follow(page, '/keys')
  const trigger = page.getByRole('button', { name: 'Actions for key 1', exact: true })
  const actions = page.getByRole('menuitem')
  const rotates = page.getByRole('dialog', { name: 'Rotate “key 1”?' })
  const deletes = page.getByRole('alertdialog', { name: 'Delete “key 1”?' })
  const isFocused = (item: Locator) => item.and(page.locator(':focus')).waitFor()
  for (const [index, opened] of [
    [1, rotates],
    [2, deletes],
  ] as const) {
    await trigger.click()
    await actions.nth(index).click()
    await opened.waitFor()
    await page.keyboard.press('Escape')
    await isFocused(trigger)
    await page.keyboard.press('Enter')
    await isFocused(actions.nth(0))
    for (let step = 1; step <= index; step += 1) {
      await page.keyboard.press('ArrowDown')
      await isFocused(actions.nth(step))
    }
    await page.keyboard.press('Enter')
    await opened.waitFor()
    await page.keyboard.press('Escape')
    await isFocused(trigger)
  }
  await trigger.press('ArrowDown')
  await page.keyboard.press('Escape')
  await actions.first().waitFor({ state: 'detached' })
  expect(await rotates.or(deletes).count()).toBe(0)
})

test('the formats of the log’s export', async () => {
  await follow(page, '/logs')
  const trigger = page.getByRole('button', { name: 'Export' })
  const named = async (choose: () => Promise<unknown>) => {
    const [download] = await Promise.all([page.waitForEvent('download'), choose()])
    return download.suggestedFilename()
  }
  await trigger.click()
  expect(await named(() => page.getByRole('menuitem').nth(1).click())).toBe('gatehouse-logs.ndjson')
  await trigger.and(page.locator(':focus')).waitFor()
  await trigger.press('Enter')
  await page.getByRole('menuitem').nth(0).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.getByRole('menuitem').nth(1).and(page.locator(':focus')).waitFor()
  expect(await named(() => page.keyboard.press('Enter'))).toBe('gatehouse-logs.ndjson')
})

test('the calls of the log', async () => {
  await follow(page, '/logs')
  const rows = page.getByRole('grid', { name: 'Calls' }).locator('tbody').getByRole('row')
  await rows.nth(3).waitFor()
  const ids = await rows.evaluateAll((all) => all.map(({ id }) => id.replace('log-', '')))
  for (const index of [1, 2]) {
    await rows.nth(index).getByRole('link').click()
    await page.waitForURL(`**/dashboard/logs/${ids[index]}`)
    await page
      .getByRole('complementary', { name: 'Call' })
      .getByRole('list', { name: 'Attempts' })
      .waitFor()
  }
  await page.keyboard.press('Escape')
  await page.waitForURL('**/dashboard/logs')
  await page.goto('/dashboard/logs')
  await page.getByRole('grid').focus()
  for (const index of [0, 1, 2]) {
    await page.keyboard.press(index % 2 === 0 ? 'ArrowDown' : 'j')
    await rows.nth(index).and(page.locator('[aria-selected=true]')).waitFor()
  }
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/dashboard/logs/${ids[2]}`)
  // Past both ends nothing moves.
  for (const [key, end] of [
    ['k', ids[0]],
    ['j', ids.at(-1)],
  ] as const) {
    // A press counts from the call that the page shows, which comes a moment after the one before.
    await pollUntil('the last call that way', async () => {
      await page.keyboard.press(key)
      return page.url().endsWith(`/dashboard/logs/${end}`)
    })
    for (let step = 0; step < 2; step += 1) await page.keyboard.press(key)
    await page.getByRole('complementary', { name: 'Call' }).getByText(String(end)).first().waitFor()
    expect(page.url()).toEndWith(`/dashboard/logs/${end}`)
  }
})

test('the suggested targets of the log', async () => {
  await follow(page, '/logs')
  const field = page.getByRole('combobox', { name: 'Target', exact: true })
  // They come with the first page of the log.
  await page.locator('datalist option[value="sandbox/slow"]').waitFor({ state: 'attached' })
  const suggested = await page
    .locator(`datalist[id="${await field.getAttribute('list')}"] option`)
    .evaluateAll((all) => all.map((one) => one.getAttribute('value')))
  expect(suggested).toEqual(['sandbox/500', 'sandbox/echo', 'sandbox/echo-lenient', 'sandbox/slow'])
  await field.fill('sandbox/500')
  await page.waitForURL('**target=sandbox%2F500**')
  await field.fill('sandbox/slo')
  await field.press('Enter')
  await page.waitForURL(/target(?:Part)?=sandbox%2Fslo$/)
  await field.fill('')
  await field.press('Enter')
  await page.waitForURL((url) => !url.search.includes('target'))
})

test('the sort columns of the analytics', async () => {
  await follow(page, '/analytics')
  const heads = page.getByRole('region', { name: 'Figures by gate' }).getByRole('columnheader')
  await heads.nth(2).waitFor()
  for (const index of [1, 2]) {
    // The first is sorted by already: pressed again, it is turned round.
    const order = index === 1 ? 'ascending' : 'descending'
    await heads.nth(index).getByRole('button').click()
    await heads
      .nth(index)
      .and(page.locator(`[aria-sort=${order}]`))
      .waitFor()
  }
  await heads.nth(2).getByRole('button').press('Enter')
  await heads.nth(2).and(page.locator('[aria-sort=ascending]')).waitFor()
  await heads.nth(0).getByRole('button').press('Space')
  await heads.nth(0).and(page.locator('[aria-sort=ascending]')).waitFor()
})

test('the events of a webhook', async () => {
  await follow(page, '/settings/webhooks')
  await page.getByRole('button', { name: 'Create a webhook' }).first().click()
  const events = page.getByRole('dialog').getByRole('checkbox')
  await events.nth(2).waitFor()
  const areChecked = async () => [await events.nth(1).isChecked(), await events.nth(2).isChecked()]
  const before = await areChecked()
  await page.getByRole('dialog').locator('fieldset label').nth(1).click()
  await events.nth(2).press('Space')
  expect(await areChecked()).toEqual(before.map((was) => !was))
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

test('the pages of the audit log', async () => {
  await follow(page, '/settings/audit-log')
  const changes = page.getByRole('region', { name: 'Changes' }).locator('tbody tr')
  await changes.nth(PAGE_OF_CHANGES - 1).waitFor()
  const before = await changes.count()
  await page.getByRole('button', { name: 'Older changes' }).press('Enter')
  await changes.nth(before).waitFor()
})

test('a search for models without a result is left by every key without harm', async () => {
  await follow(page, '/gates/new')
  await page.getByLabel('Description').fill('typed before')
  const picker = page.getByRole('combobox', { name: 'Add a target' })
  await picker.fill('no such model')
  await page.getByText('No listed model matches').waitFor()
  for (const key of ['ArrowDown', 'ArrowUp', 'Home', 'End', 'PageDown', 'Enter'])
    await picker.press(key)
  await page.getByText('No listed model matches').waitFor()
  await picker.press('Escape')
  await page.getByText('No listed model matches').waitFor({ state: 'detached' })
  // Closed, Enter neither adds nor sends; an arrow key opens it again.
  await picker.press('Enter')
  await picker.press('ArrowUp')
  await page.getByText('No listed model matches').waitFor()
  expect(await page.getByRole('list', { name: 'Targets' }).count()).toBe(0)
  expect(await page.getByLabel('Description').inputValue()).toBe('typed before')
})

test('empty lists of gates show a note', async () => {
  await controlPlaneCall(gatehouse, 'DELETE', '/v1/gates/second')
  await controlPlaneCall(gatehouse, 'DELETE', '/v1/gates/third')
  await controlPlaneCall(gatehouse, 'DELETE', '/v1/gates/demo')
  await page.goto('/dashboard/docs')
  await page.getByText('There is none yet. Create one under').waitFor()
  await page.goto('/dashboard/playground?gate=demo')
  await page.getByRole('heading', { name: 'No gates' }).waitFor()
  await page.getByRole('link', { name: 'Create a gate' }).click()
  await page.getByRole('combobox', { name: 'Add a target' }).waitFor()
  await follow(page, '/logs')
  const gates = page.getByRole('combobox', { name: 'Gate', exact: true })
  for (const key of ['ArrowDown', 'End', 'Home', 'ArrowUp']) await gates.press(key)
  expect(await gates.inputValue()).toBe('')
  await follow(page, '/settings/budgets')
  await page
    .getByRole('button', { name: /budget/i })
    .first()
    .click()
  await page.getByRole('combobox', { name: 'Limits' }).selectOption('gateId')
  await page.getByText('The account has no gate yet.').waitFor()
  await page.getByRole('combobox', { name: 'Gate', exact: true }).press('ArrowDown')
})

const FIELDS_OF_SCOPES: ReadonlyMap<string, string> = new Map([
  ['keyId', 'Key'],
  ['gateId', 'Gate'],
  ['member', 'Member'],
  ['tag', 'Tag'],
  ['endUser', 'End user'],
])

/**
 * What makes a list, wherever it is written. The parts of web/ui are tried on the pages that use
 * them.
 */
const MAKES_A_LIST =
  /<(?:select|SelectField|Choice|SnippetTabs|SectionTabs|RangePicker|datalist|MenuItem|MenuLink|DropdownMenu\.RadioGroup)\b|type="(?:radio|checkbox)"|role="(?:combobox|listbox|tablist|radiogroup|menu|grid)"|aria-pressed=\{\w+(?:\.\w+)? ===|aria-(?:current|selected)=|aria-sort=|<nav\b/

test('no list of the pages is missing from this test', async () => {
  const web = resolve(import.meta.dir, '../../web')
  const known = new Set([...PAGES.flatMap(({ files }) => files), ...Object.keys(ELSEWHERE)])
  const found: string[] = []
  for (const path of new Bun.Glob('{app,features}/**/*.tsx').scanSync({ cwd: web })) {
    if (MAKES_A_LIST.test(await Bun.file(`${web}/${path}`).text())) found.push(path)
  }
  expect(found.sort()).toEqual([...known].sort())
})
