/** People, sessions and tags in a real browser: in the logs, the analytics and their own pages. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'playwright-core'
import {
  BROWSER_TEST_TIMEOUT_MS,
  enterAsOwner,
  follow,
  openBrowser,
  type Visit,
} from '../support/chromium.ts'
import { controlPlaneCall, createGate, createKey, waitForLogRow } from '../support/control-plane.ts'
import { findPageFaults } from '../support/page-checks.ts'
import { type PlannedCall, seedCallerNames, seedPlannedCalls } from '../support/seed-calls.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { untilItHolds } from '../support/until-it-holds.ts'

setDefaultTimeout(BROWSER_TEST_TIMEOUT_MS)

const DAY_MS = 86_400_000
const ANN = 'end:aaaaaaaaaaaaaaaa'
const BOB = 'end:bbbbbbbbbbbbbbbb'
const SESSION = '1'.repeat(16)
const EXPLORE = '2'.repeat(16)
const REVIEW = '3'.repeat(16)
const TEAM = '4'.repeat(16)
const startedAt = Date.now() - 2 * DAY_MS
const ofAnn = { user: ANN, session: SESSION, tags: TEAM }

const PLAN: readonly PlannedCall[] = [
  { startedAt, gate: 'coding', costFactor: 9, caller: ofAnn, inputTokens: 1_200 },
  {
    ...{ startedAt: startedAt + 1_000, gate: 'coding', target: 'owned/small', inputTokens: 40_000 },
    caller: { ...ofAnn, agent: EXPLORE },
  },
  {
    ...{ startedAt: startedAt + 2_000, gate: 'coding', hasFailed: true },
    caller: { ...ofAnn, agent: REVIEW, parentAgent: EXPLORE },
  },
  { startedAt, gate: 'chat', caller: { user: BOB } },
  { startedAt, gate: 'chat' },
]

const MANY = 1_150
const longAgo = Date.now() - 20 * DAY_MS
/** More people than one answer has, and earlier than the range that pages begin with. */
const CROWD: readonly PlannedCall[] = Array.from({ length: MANY }, (_, number) => ({
  ...{ startedAt: longAgo, gate: 'chat', costFactor: 20 + number },
  caller: { user: idOfOne(number) },
}))
function idOfOne(number: number): string {
  return `end:c${number.toString(16).padStart(15, '0')}`
}
const NAMES: ReadonlyMap<string, string> = new Map(
  CROWD.map((_, number) => [idOfOne(number), `Customer ${number}`]),
)

let folder: TemporaryFolder
let gatehouse: Gatehouse
let browser: Awaited<ReturnType<typeof openBrowser>>
let visit: Visit
let page: Page
let unusedKeyId: string
beforeAll(async () => {
  folder = await createTemporaryFolder()
  await seedCallerNames(folder.path, 'user', new Map([[ANN, 'ann@example.com'], ...NAMES]))
  await seedCallerNames(folder.path, 'tag', new Map([[TEAM, 'team-a']]))
  await seedPlannedCalls(folder.path, [...PLAN, ...CROWD])
  gatehouse = await startGatehouse({ dataFolder: folder.path, sandbox: true })
  await createGate(gatehouse, 'coding', 'sandbox/echo')
  unusedKeyId = (await createKey(gatehouse, 'not used')).id
  browser = await openBrowser()
  visit = await browser.visit(gatehouse.url)
  page = visit.page
  await enterAsOwner(page, gatehouse)
})
afterAll(async () => {
  await browser.close()
  await gatehouse.remove()
  await folder.remove()
})

const rowsOf = async (group: string) =>
  await page
    .getByRole('region', { name: `Figures by ${group}` })
    .locator('tbody th')
    .allTextContents()

test('figures of other people are hidden until the owner shows them in the settings', async () => {
  const note = page.getByText('You see only your own figures')
  await follow(page, '/people')
  await note.waitFor()
  await page.getByText('No call in this range is yours').waitFor()
  await follow(page, `/people/${ANN}`)
  await note.waitFor()
  expect(await findPageFaults(page)).toEqual([])
  await follow(page, '/analytics?range=7d&by=user')
  await note.waitFor()
  await follow(page, `/sessions/${SESSION}`)
  await page.getByRole('region', { name: 'Main agent' }).waitFor()
  expect(await page.getByRole('link', { name: 'ann@example.com' }).count()).toBe(0)
  await page.getByRole('link', { name: 'Overview' }).first().click()
  await page.getByRole('list', { name: 'Top gates' }).waitFor()
  expect(await page.getByRole('list', { name: 'Top people' }).count()).toBe(0)
  const body = { endUser: 'ann', limitUsd: 7, period: 'month' }
  const switches = '/v1/account/attribution'
  for (const [method, path, sent, status] of [
    ['POST', '/v1/budgets', body, 400],
    ['PATCH', switches, { endUsers: true }, 200],
    ['POST', '/v1/budgets', body, 201],
    ['PATCH', switches, { endUsers: false }, 200],
  ] as const)
    expect((await controlPlaneCall(gatehouse, method, path, sent)).status).toBe(status)
  await follow(page, '/settings/budgets')
  await page.getByText(': use is hidden').waitFor()
  expect(await page.getByRole('button', { name: 'Show use of ann' }).count()).toBe(0)
  await follow(page, '/people')
  await page.getByRole('link', { name: 'Account settings' }).click()
  const who = page.getByRole('combobox', { name: 'Who sees figures of other people' })
  await who.selectOption('The owner of the account')
  await page.getByText('Account saved').waitFor()
  expect(await who.inputValue()).toBe('owner')
  expect(await findPageFaults(page)).toEqual([])
  await page.getByRole('navigation').getByRole('link', { name: 'People' }).click()
  await page.getByRole('link', { name: 'ann@example.com' }).waitFor()
  expect(await note.count()).toBe(0)
  await follow(page, '/settings/budgets')
  await page.getByRole('meter', { name: 'Used of ann' }).waitFor()
})

test('the switches of attribution are changed in the settings', async () => {
  await follow(page, '/settings')
  const endUsers = page.getByRole('switch', { name: 'End users' })
  expect(await endUsers.getAttribute('aria-checked')).toBe('false')
  for (const state of ['true', 'false']) {
    await endUsers.click()
    await untilItHolds(async () => expect(await endUsers.getAttribute('aria-checked')).toBe(state))
  }
})

test('analytics are split by person, session, tag, model and provider', async () => {
  await follow(page, '/analytics?range=7d&show=cost')
  for (const [choice, first] of [
    ['Person', 'ann@example.com'],
    ['Tag', 'team-a'],
    ['Model', 'large'],
    ['Provider', 'owned'],
    ['Session', SESSION],
  ] as const) {
    await page.getByRole('button', { name: choice, exact: true }).click()
    await untilItHolds(async () => expect(await rowsOf(choice.toLowerCase())).toContain(first))
  }
  const ofTags = page.getByText('A call with several tags counts for each of them')
  expect(await ofTags.count()).toBe(0)
  await page.getByRole('button', { name: 'Tag', exact: true }).click()
  await ofTags.waitFor()
  const find = page.getByRole('searchbox', { name: 'Find a tag' })
  await find.fill('nowhere')
  await find.press('Enter')
  await page.getByText('No name matches').waitFor()
  await find.fill('TEAM')
  await find.press('Enter')
  await untilItHolds(async () => expect(await rowsOf('tag')).toEqual(['team-a']))
  expect(new URL(page.url()).searchParams.get('find')).toBe('TEAM')
  expect(await findPageFaults(page)).toEqual([])
  await find.fill('')
  await untilItHolds(async () => expect(await rowsOf('tag')).toContain('No tag'))
  await page.getByRole('button', { name: 'Person', exact: true }).click()
  await page.getByRole('combobox', { name: 'Then by' }).selectOption('model')
  await untilItHolds(async () => {
    expect(await rowsOf('person and model')).toContain('ann@example.com · large')
    expect(await rowsOf('person and model')).toContain('ann@example.com · small')
  })
  await page.getByRole('combobox', { name: 'Then by' }).selectOption('')
  // Only the API knows which questions about agents have an answer.
  await page.getByRole('button', { name: 'Agent', exact: true }).click()
  await page.getByText('needs session or user for agents').waitFor()
  await page.getByRole('button', { name: 'Person', exact: true }).click()
  await page.getByRole('link', { name: 'ann@example.com' }).click()
  await page.getByRole('link', { name: 'Remove the filter user ann@example.com' }).waitFor()
  await page.getByRole('row', { name: /^coding 3 / }).waitFor()
  await page.getByText('Latencies and refused calls are not summed by person').waitFor()
})

test('the log is filtered by person and tag, and a call names its caller', async () => {
  await page.getByRole('link', { name: 'Single calls in the logs' }).click()
  await page.getByRole('button', { name: 'Remove the filter user ann@example.com' }).waitFor()
  await follow(page, `/logs/req_${(0xffff_ffff).toString(16).padStart(32, '0')}`)
  const call = page.getByRole('complementary', { name: 'Call' })
  await call.getByRole('link', { name: 'ann@example.com' }).waitFor()
  await call.getByRole('link', { name: SESSION }).waitFor()
  await call.getByRole('link', { name: 'team-a' }).click()
  await page.getByRole('button', { name: 'Remove the filter tag team-a' }).waitFor()
})

test('the overview shows spend by person and the people who spent most', async () => {
  const asked: string[] = []
  const note = (request: { url(): string }) => {
    const { pathname, searchParams: query } = new URL(request.url())
    const isOfPeople = query.get('group_by') === 'user' && query.get('interval') === 'all'
    if (isOfPeople || query.has('user')) asked.push(pathname)
  }
  page.on('request', note)
  await follow(page, '/?range=7d')
  await page.getByRole('list', { name: 'Top people' }).getByText('ann@example.com').waitFor()
  page.off('request', note)
  expect(asked).toEqual(['/v1/analytics'])
  await page.getByRole('combobox', { name: 'Spend by' }).selectOption('By person')
  const legend = page
    .getByRole('figure', { name: 'Spend over time' })
    .getByRole('list', { name: 'Legend' })
  await legend.getByText('ann@example.com', { exact: true }).waitFor()
  await legend.getByText('No person is known', { exact: true }).waitFor()
  const people = page.getByRole('list', { name: 'Top people' })
  expect(await people.locator('a.truncate').allTextContents()).toEqual([
    'ann@example.com',
    'End user bbbbbbbbbbbbbbbb',
  ])
  await people.getByRole('link', { name: 'ann@example.com', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'ann@example.com' }).waitFor()
})

test('people are listed by cost, with a file of all; a page shows what a person spent', async () => {
  await page.getByRole('navigation').getByRole('link', { name: 'People' }).click()
  const rows = page.getByRole('region', { name: 'People' }).locator('tbody tr')
  await untilItHolds(async () =>
    expect(await rows.locator('a').allTextContents()).toEqual([
      'ann@example.com',
      'End user bbbbbbbbbbbbbbbb',
    ]),
  )
  await page.getByText('1 call for $0.0042 has no known person').waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV' }).click(),
  ])
  const file = await Bun.file((await download.path()) ?? '').text()
  const [head, row] = file.split('\r\n')
  expect(head).toStartWith('user,user_id,calls')
  expect(row).toStartWith(`ann@example.com,${ANN},3,1,`)
  expect(file).toContain('\r\nNo person is known,,1,0,')
  await page.getByRole('link', { name: 'ann@example.com' }).click()
  await page.getByRole('region', { name: 'Models used' }).getByText('owned/small').waitFor()
  await page
    .getByRole('region', { name: 'Gates used' })
    .getByRole('row', { name: /^coding 3 1 / })
    .waitFor()
  await page.getByRole('list', { name: 'Errors by kind' }).getByText('504').waitFor()
  await page
    .getByRole('region', { name: 'Sessions' })
    .getByRole('row', { name: new RegExp(`^${SESSION} .* 3 1 `) })
    .waitFor()
  expect(await findPageFaults(page)).toEqual([])
})

test('each page of many people is one request, and so are another order and a search', async () => {
  const asked: string[] = []
  const note = (request: { url(): string }) => {
    const { pathname, searchParams } = new URL(request.url())
    if (pathname === '/v1/analytics') asked.push(searchParams.get('group_by') ?? '')
    else if (pathname.startsWith('/v1/members')) asked.push(pathname)
  }
  page.on('request', note)
  await follow(page, '/people?range=30d')
  const links = page.getByRole('region', { name: 'People' }).locator('tbody a')
  const begins = async (first: string, count: number, requests: number) => {
    await untilItHolds(async () =>
      expect([await links.first().textContent(), await links.count()]).toEqual([first, count]),
    )
    expect(asked).toEqual(Array.from({ length: requests }, () => 'user'))
  }
  await begins(`Customer ${MANY - 1}`, 100, 1)
  await page.getByRole('button', { name: 'Show more' }).click()
  await begins(`Customer ${MANY - 1}`, 200, 2)
  await untilItHolds(async () =>
    expect(await page.locator(':focus').textContent()).toBe(`Customer ${MANY - 101}`),
  )
  await page.getByRole('searchbox', { name: 'Find a person' }).fill('customer 77')
  await begins('Customer 1077', 20, 3)
  await page.getByRole('combobox', { name: 'Order' }).selectOption('Most calls first')
  await begins('Customer 77', 20, 4)
  await page.getByRole('searchbox', { name: 'Find a person' }).fill('nobody')
  await page.getByText('No person matches').waitFor()
  page.off('request', note)
  expect(await findPageFaults(page)).toEqual([])
})

test('a session shows its calls with subagents nested, and the growth of its input', async () => {
  await page.getByRole('navigation').getByRole('link', { name: 'Sessions' }).click()
  await page.getByRole('combobox', { name: 'Order' }).selectOption('Highest cost first')
  await page.waitForURL('**order=cost**')
  await page.getByRole('link', { name: SESSION }).click()
  await page
    .getByRole('img', { name: /^Input tokens of 2 calls: 1,200 .* 40,000 at most/ })
    .waitFor()
  const main = page.getByRole('region', { name: 'Main agent' })
  const explore = main.getByRole('region', { name: 'Subagent 222222' })
  const review = explore.getByRole('region', { name: 'Subagent 333333' })
  await review.getByText('504 upstream timeout').waitFor()
  expect(await findPageFaults(page)).toEqual([])
  await review.getByRole('link').click()
  await page.getByRole('button', { name: `Remove the filter session ${SESSION}` }).waitFor()
})

test('sessions are filtered by user and key', async () => {
  await follow(page, '/sessions')
  const sessions = page.getByRole('region', { name: 'Sessions' }).locator('tbody tr')
  await untilItHolds(async () => expect(await sessions.count()).toBe(1))
  await page.getByRole('searchbox', { name: /^User: / }).fill('end:nobody')
  await page.keyboard.press('Enter')
  await page.getByText('No sessions in this range').waitFor()
  await page.getByRole('searchbox', { name: /^User: / }).fill(ANN)
  await page.keyboard.press('Enter')
  await untilItHolds(async () => expect(await sessions.count()).toBe(1))
  await page.getByRole('button', { name: 'Remove the filter user ann@example.com' }).click()
  await page.waitForURL((url) => !url.searchParams.has('user'))
  await page.getByRole('combobox', { name: 'Token or key' }).selectOption('not used')
  await page.waitForURL(`**key=${unusedKeyId}**`)
  await page.getByText('No sessions in this range').waitFor()
  expect(await findPageFaults(page)).toEqual([])
})

test('the page of a gate shows its traffic, callers and errors before its form', async () => {
  await follow(page, '/gates/coding')
  await page.getByRole('figure', { name: 'Calls over time' }).waitFor()
  await page.getByRole('region', { name: 'People' }).getByText('ann@example.com').waitFor()
  await page.getByRole('list', { name: 'Errors by kind' }).getByText('504').waitFor()
  expect(await findPageFaults(page)).toEqual([])
  await page.getByRole('link', { name: 'Test', exact: true }).click()
  await page.getByRole('figure', { name: 'Calls over time' }).waitFor({ state: 'detached' })
})

test('an end user is exported and erased, and the totals stay', async () => {
  await follow(page, `/people/${BOB}`)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export', exact: true }).click(),
  ])
  const exported = (await Bun.file((await download.path()) ?? '').json()) as { user: string }
  expect(exported).toMatchObject({ user: BOB, calls: [{ user: BOB }] })
  expect(await findPageFaults(page)).toEqual([])
  await page.getByRole('button', { name: 'Erase', exact: true }).click()
  await page.getByText('This cannot be undone').waitFor()
  expect(await findPageFaults(page)).toEqual([])
  await page.getByRole('button', { name: 'Erase the end user' }).click()
  const people = page.getByRole('region', { name: 'People' })
  await people.getByRole('row', { name: /^Erased end users \$\S+ 1 0 / }).waitFor()
  expect(await people.getByText('End user bbbbbbbbbbbbbbbb').count()).toBe(0)
})

test('a member is listed and shown with the e-mail address, since people share names', async () => {
  const me = await page.evaluate(async () => (await fetch('/v1/session')).json())
  const { id, email } = (me as { user: { id: string; email: string } }).user
  const owned = { name: 'laptop', owner: { type: 'member', id } }
  const made = await controlPlaneCall(gatehouse, 'POST', '/v1/access-tokens', owned)
  const { token } = (await made.json()) as { token: string }
  const call = { model: 'coding', messages: [{ role: 'user', content: 'Hello' }] }
  const answer = await fetch(`${gatehouse.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(call),
  })
  await waitForLogRow(gatehouse, answer.headers.get('x-request-id') ?? '')
  await page.goto('/dashboard/people')
  await page.getByRole('searchbox', { name: 'Find a person' }).fill(email)
  await page.getByRole('row', { name: email }).getByRole('link').click()
  await page.getByText(`${email} · ${id}`).waitFor()
  expect(await findPageFaults(page)).toEqual([])
})

test('these pages log no error and request nothing from another host', () => {
  expect(visit.complaints).toEqual([])
})
