/**
 * The account, its members and one's own security in the dashboard, in a real browser on the real
 * server.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import {
  BROWSER_TEST_TIMEOUT_MS,
  copyShownOnce,
  enterAsOwner,
  findAccessibilityFaults,
  follow,
  OWNER,
  openBrowser,
  type Visit,
} from '../support/chromium.ts'
import { controlPlaneCall } from '../support/control-plane.ts'
import { findFreePort } from '../support/free-port.ts'
import { type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts'
import { findPageFaults } from '../support/page-checks.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { untilItHolds } from '../support/until-it-holds.ts'

const GUEST = {
  name: 'Grace Guest',
  email: 'grace@example.com',
  password: 'unrelated words compile 7',
}

setDefaultTimeout(BROWSER_TEST_TIMEOUT_MS)

let gatehouse: Gatehouse
let browser: Awaited<ReturnType<typeof openBrowser>>
let visit: Visit
let guest: Visit
/** Has no session when a test begins. */
let stranger: Visit
let token: string
let provider: IdentityProvider
beforeAll(async () => {
  provider = startIdentityProvider()
  // The provider sends browsers back to an address that both were told beforehand.
  const port = await findFreePort()
  const environment = {
    GATEHOUSE_PORT: String(port),
    GATEHOUSE_PUBLIC_URL: `http://127.0.0.1:${port}`,
    GATEHOUSE_OIDC_ISSUER: provider.issuer,
    GATEHOUSE_OIDC_CLIENT_ID: provider.clientId,
    GATEHOUSE_OIDC_CLIENT_SECRET: provider.clientSecret,
  }
  gatehouse = await startGatehouse({ sandbox: true, environment })
  browser = await openBrowser()
  visit = await browser.visit(gatehouse.url)
  await enterAsOwner(visit.page, gatehouse, '/keys')
})
afterAll(async () => {
  await browser.close()
  await gatehouse.remove()
  await provider.stop()
})

test('sections are reached by keyboard', async () => {
  const { page } = visit
  await page
    .getByRole('navigation', { name: 'Pages' })
    .getByRole('link', { name: 'Settings' })
    .focus()
  await page.keyboard.press('Enter')
  const tabs = page.getByRole('navigation', { name: 'Settings' })
  await tabs.getByRole('link', { name: 'Account' }).focus()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Members', level: 2 }).waitFor()
  await untilItHolds(async () => {
    expect(await tabs.locator('[aria-current=page]').allTextContents()).toEqual(['Members'])
    expect(await page.title()).toBe('Members · Settings · Gatehouse')
  })
})

test('the account is renamed, and a refused name is reported at its field until the field is changed', async () => {
  const { page } = visit
  await follow(page, '/settings')
  const name = page.getByRole('textbox', { name: 'Name' })
  await name.fill('a\u0007b')
  await page.getByRole('button', { name: 'Save' }).click()
  await name.and(page.locator('[aria-invalid=true]')).waitFor()
  expect(await page.getByRole('main').getByRole('alert').count()).toBe(0)
  await name.fill('Engines Ltd')
  await name.and(page.locator('[aria-invalid=true]')).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: /Engines Ltd/ }).waitFor()
  await page.getByText('Never stored', { exact: true }).waitFor()
  await page.getByText('30 days').waitFor()
  expect(await findPageFaults(page)).toEqual([])
})

test('an invited user signs up by the link, which is shown once, and appears', async () => {
  const { page } = visit
  await follow(page, '/settings/members')
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByLabel('Email').fill(GUEST.email)
  await page.getByRole('button', { name: 'Create the invitation' }).click()
  const link = (await page.getByRole('region', { name: 'the link' }).textContent()) ?? ''
  token = link.slice(link.indexOf('=') + 1)
  expect(link).toBe(`${gatehouse.url}/dashboard/sign-up#invitation=${token}`)
  await copyShownOnce(page, 'link')
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('cell', { name: GUEST.email, exact: true }).waitFor()
  await page.getByRole('cell', { name: 'in 7 days', exact: true }).waitFor()
  expect(await page.content()).not.toContain(token)

  guest = await browser.visit(gatehouse.url)
  await guest.page.goto(link)
  await guest.page.getByRole('heading', { name: 'Join Engines Ltd', level: 1 }).waitFor()
  await guest.page
    .getByText(`By invitation of ${OWNER.name} (${OWNER.email}), ${GUEST.email} may join`)
    .waitFor()
  expect(await findPageFaults(guest.page)).toEqual([])
  await guest.page.getByLabel('Your name').fill(GUEST.name)
  await guest.page.getByLabel('Email').fill(GUEST.email)
  await guest.page.getByLabel('Password').fill(GUEST.password)
  await guest.page.getByRole('button', { name: 'Sign up and join' }).click()
  await guest.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
})

test('an invitation that was accepted a moment before is not revoked, and its member appears', async () => {
  const { page } = visit
  const revoke = `Revoke the invitation of ${GUEST.email}`
  await page.getByRole('button', { name: revoke }).click()
  const dialog = page.getByRole('alertdialog')
  await dialog.getByRole('button', { name: 'Revoke the invitation' }).click()
  await dialog.getByText(`The invitation of ${GUEST.email} was accepted already`).waitFor()
  expect(await findPageFaults(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page
    .getByRole('region', { name: 'Members' })
    .getByRole('cell', { name: GUEST.name, exact: true })
    .waitFor()
  await page.getByText('No invitation is open at the moment.').waitFor()
  expect(await findPageFaults(page)).toEqual([])
})

test('a used link is reported as closed', async () => {
  stranger = await browser.visit(gatehouse.url)
  await stranger.page.goto(`/dashboard/sign-up#invitation=${token}`)
  await stranger.page
    .getByRole('heading', { name: 'This invitation is not open', level: 1 })
    .waitFor()
  expect(await stranger.page.getByLabel('Password').count()).toBe(0)
  await stranger.page.getByRole('link', { name: 'To the sign-in page' }).click()
  await stranger.page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor()
})

test('a link that cannot be looked up now is not called closed, and can be tried again', async () => {
  const made = await controlPlaneCall(gatehouse, 'POST', '/v1/invitations', {
    email: 'later@example.com',
  })
  const invitation = (await made.json()) as { token: string; id: string }
  await stranger.page.route('**/v1/auth/invitation', (route) =>
    route.fulfill({ status: 429, json: { error: 'rate_limit_exceeded', message: 'Later.' } }),
  )
  await follow(stranger.page, '/welcome')
  await stranger.page.getByText('The first user has signed up at this gateway already.').waitFor()
  await stranger.page.goto(`/dashboard/sign-up#invitation=${invitation.token}`)
  await stranger.page.getByRole('heading', { name: 'could not be looked up' }).waitFor()
  expect(await findPageFaults(stranger.page)).toEqual([])
  await stranger.page.unroute('**/v1/auth/invitation')
  await stranger.page.getByRole('button', { name: 'Try again' }).click()
  await stranger.page.getByRole('heading', { name: /^Join / }).waitFor()
  await controlPlaneCall(gatehouse, 'DELETE', `/v1/invitations/${invitation.id}`)
})

test('single sign-on joins an account after a yes on the page that names it, and never before', async () => {
  const { page } = visit
  const email = 'vic@example.com'
  const made = await page.request.post('/v1/invitations', {
    headers: { origin: gatehouse.url, 'x-gatehouse-csrf': '1' },
    data: { email },
  })
  const { link } = (await made.json()) as { link: string }
  provider.user = { sub: 'sub-vic', email, email_verified: true, name: 'Vic Newcomer' }
  const other = stranger.page
  const isOutside = async () => {
    expect((await other.request.get('/v1/session')).status()).toBe(401)
    const members = await page.request.get('/v1/members')
    expect(await members.text()).not.toContain(email)
  }
  await other.goto('/dashboard/sign-in')
  await other.getByRole('button', { name: 'Sign in with single sign-on' }).click()
  await other.getByRole('alert').getByText('You are not a member of an account yet.').waitFor()
  await isOutside()

  await other.goto(link)
  await other.getByRole('heading', { name: 'Join Engines Ltd', level: 1 }).waitFor()
  await other
    .getByText(
      `By invitation of ${OWNER.name} (${OWNER.email}), ${email} may join the account “Engines Ltd”`,
    )
    .waitFor()
  await other.getByRole('button', { name: 'No, do not join' }).click()
  await other.getByRole('heading', { name: 'You have not joined', level: 1 }).waitFor()
  expect(await findPageFaults(other)).toEqual([])
  await isOutside()

  // Somebody else's yes, with the same link, joins nobody.
  provider.user = { sub: 'sub-eve', email: 'eve@example.com', email_verified: true, name: 'Eve' }
  await other.goto('about:blank')
  await other.goto(link)
  await other.getByRole('button', { name: 'Join with single sign-on' }).click()
  await other.getByRole('alert').getByText('an invitation to your email address').waitFor()
  await isOutside()

  provider.user = { sub: 'sub-vic', email, email_verified: true, name: 'Vic Newcomer' }
  await other.goto('about:blank')
  await other.goto(link)
  await other.getByRole('button', { name: 'Join with single sign-on' }).click()
  await other.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  await page.reload()
  const members = page.getByRole('region', { name: 'Members' })
  await members.getByRole('cell', { name: 'Vic Newcomer', exact: true }).waitFor()
  const elsewhere = stranger.complaints.filter((complaint) => !complaint.includes(provider.issuer))
  expect(elsewhere).toEqual([])
  await stranger.context.clearCookies()
})

test('an invitation is revoked', async () => {
  const { page } = visit
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByLabel('Email').fill('mistaken@example.com')
  await page.getByRole('button', { name: 'Create the invitation' }).click()
  await copyShownOnce(page, 'link')
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Revoke the invitation of mistaken@example.com' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('No invitation is open at the moment.').waitFor()
})

test('a member sees why removing others is not possible', async () => {
  await follow(guest.page, '/settings/members')
  await guest.page
    .getByText(`You cannot remove members: ${OWNER.name} owns this account.`)
    .waitFor()
  expect(await guest.page.getByRole('button', { name: /^Remove/ }).count()).toBe(0)
  expect(await guest.page.getByRole('button', { name: 'Leave' }).count()).toBe(1)
})

test('a member sees, and does not change, who sees figures of people', async () => {
  await follow(guest.page, '/settings')
  const who = guest.page.getByRole('combobox', { name: 'Who sees figures of other people' })
  await guest.page.getByText('Only the owner of the account changes this.').waitFor()
  expect(await who.isDisabled()).toBe(true)
  await follow(guest.page, '/people')
  await guest.page.getByText('Members see only their own figures.').waitFor()
  expect(await findPageFaults(guest.page)).toEqual([])
  await follow(guest.page, '/settings/members')
})

test('the password is changed, which ends other sessions; a wrong one is reported', async () => {
  const { page } = visit
  const other = stranger.page
  await other.goto('/dashboard/sign-in')
  await other.getByLabel('Email').fill(OWNER.email)
  await other.getByLabel('Password').fill(OWNER.password)
  await other.getByRole('button', { name: 'Sign in', exact: true }).click()
  await other.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()

  await follow(page, '/settings/security')
  const sessions = page.getByRole('region', { name: 'Sessions' }).getByRole('row')
  await page.getByText('This session').waitFor()
  expect(await sessions.count()).toBe(3)
  expect(await findPageFaults(page)).toEqual([])
  await page.getByLabel('Current password').fill('not the password at all')
  await page.getByLabel('New password').fill('a rather different one 8')
  await page.getByRole('button', { name: 'Change the password' }).click()
  await page
    .getByLabel('Current password')
    .and(page.locator('[aria-invalid=true]'))
    .or(page.getByRole('alert'))
    .first()
    .waitFor()
  await page.getByLabel('Current password').fill(OWNER.password)
  await page.getByRole('button', { name: 'Change the password' }).click()
  await page.getByText('Your other sessions have ended.').waitFor()
  await sessions.nth(2).waitFor({ state: 'detached' })
  await other.goto('/dashboard/settings')
  await other.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test('a session is ended from another one', async () => {
  const { page } = visit
  const other = stranger.page
  await other.goto('/dashboard/sign-in')
  await other.getByLabel('Email').fill(OWNER.email)
  await other.getByLabel('Password').fill('a rather different one 8')
  await other.getByRole('button', { name: 'Sign in', exact: true }).click()
  await other.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  await page.reload()
  await page.getByRole('button', { name: /^End the session/ }).click()
  await page.getByRole('button', { name: /^End the session/ }).waitFor({ state: 'detached' })
  await other.goto('/dashboard/settings')
  await other.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test('a member is stopped with a reason, and the stop is lifted', async () => {
  const { page } = visit
  await follow(page, '/settings/members')
  const row = page.getByRole('row').filter({ hasText: GUEST.email })
  await row.getByRole('button', { name: `Stop ${GUEST.name}` }).click()
  await page.getByLabel('Reason').fill('Left the company.')
  expect(await findAccessibilityFaults(page)).toEqual([])
  await page.getByRole('dialog').getByRole('button', { name: 'Stop', exact: true }).click()
  await page.getByText('No call was running.').waitFor()
  await row.getByText('Stopped', { exact: true }).waitFor()
  await row.getByRole('button', { name: `Lift the stop of ${GUEST.name}` }).click()
  const asked = page.getByRole('alertdialog')
  await asked.getByText('Left the company.').waitFor()
  await asked.getByRole('button', { name: 'Lift the stop' }).click()
  await row.getByRole('button', { name: `Stop ${GUEST.name}` }).waitFor()
})

test('the ownership is transferred, the owner’s acts are then refused in words, and a member leaves', async () => {
  const { page } = visit
  await follow(page, '/settings/members')
  await page.getByRole('button', { name: `Remove ${GUEST.name}` }).waitFor()
  const elsewhere = await visit.context.newPage()
  await elsewhere.goto('/dashboard/settings/members')
  await elsewhere.getByRole('button', { name: `Hand on the account to ${GUEST.name}` }).click()
  await elsewhere
    .getByRole('alertdialog')
    .getByRole('button', { name: 'Hand the account on' })
    .click()
  await elsewhere.getByText(`You cannot remove members: ${GUEST.name} owns this account.`).waitFor()
  await elsewhere.close()

  // This page does not know yet.
  await page.getByRole('button', { name: `Remove ${GUEST.name}` }).click()
  const asked = page.getByRole('alertdialog')
  await asked.getByRole('button', { name: 'Remove' }).click()
  await asked.getByText('You may not do this', { exact: false }).waitFor()
  await asked.getByRole('button', { name: 'Cancel' }).click()

  await page.getByRole('button', { name: 'Leave' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Leave' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await guest.page.reload()
  await guest.page.getByText('You own this account.', { exact: false }).waitFor()
  expect(await guest.page.getByRole('cell', { name: OWNER.name }).count()).toBe(0)
  await follow(guest.page, '/settings/audit-log?resourceType=member')
  await guest.page.getByRole('button', { name: 'Left the account' }).waitFor()
})

test('these pages log no error and request nothing from another host', () => {
  expect([...visit.complaints, ...guest.complaints]).toEqual([])
})
