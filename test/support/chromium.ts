/** Drives Debian's Chromium against a running gateway, as a person at the dashboard would. */
import { existsSync } from 'node:fs'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { createTemporaryFolder } from './temporary-folder.ts'

/**
 * The engine without a window, whose drawing takes a third of all processor time; otherwise the
 * whole browser.
 */
const CHROMIUM = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(existsSync)
const OPTIONS = [
  // Chromium refuses to run as root, which CI may be, with its sandbox on.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  // The optimising compilers help pages that stay open, but tests load pages anew: without them a
  // test file took 45.6 s of processor time instead of 48.4 s.
  '--js-flags=--no-maglev --no-turbofan',
]
/** The time limit of a step: longer than a step takes on a busy machine. */
const TIMEOUT_MS = 60_000
export const BROWSER_TEST_TIMEOUT_MS = 180_000

/** The default width of a page; `make browser-widths` sets other widths. */
const WIDTH = Number(process.env.GATEHOUSE_TEST_WIDTH ?? 1280)

export const OWNER = {
  name: 'Ada Owner',
  email: 'ada@example.com',
  password: 'correct horse battery 7',
}

export interface Visit {
  readonly page: Page
  readonly context: BrowserContext
  /**
   * What the page complained of so far: errors on the console, exceptions, requests to other hosts.
   */
  readonly complaints: readonly string[]
  close(): Promise<void>
}

export interface VisitOptions {
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly colorScheme?: 'light' | 'dark'
  /** Animations of the pages. Off by default, because each animation draws the page many times. */
  readonly hasMotion?: boolean
}

export async function openBrowser(): Promise<{
  readonly visit: (baseUrl: string, options?: VisitOptions) => Promise<Visit>
  readonly close: () => Promise<void>
}> {
  if (CHROMIUM === undefined)
    throw new Error("Chromium is not here: install Debian's package chromium-headless-shell.")
  const folder = await createTemporaryFolder()
  const browser: Browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: OPTIONS,
    timeout: TIMEOUT_MS,
    env: { ...process.env, HOME: folder.path },
  })
  return {
    visit: async (baseUrl, options = {}) => {
      const context = await browser.newContext({
        baseURL: baseUrl,
        viewport: options.viewport ?? { width: WIDTH, height: 900 },
        colorScheme: options.colorScheme ?? 'light',
        reducedMotion: options.hasMotion === true ? 'no-preference' : 'reduce',
        locale: 'en-GB',
        timezoneId: 'Europe/Zurich',
      })
      context.setDefaultTimeout(TIMEOUT_MS)
      const page = await context.newPage()
      return {
        page,
        context,
        complaints: collectComplaints(page, baseUrl),
        close: () => context.close(),
      }
    },
    close: async () => {
      await browser.close()
      await folder.remove()
    },
  }
}

function collectComplaints(page: Page, baseUrl: string): readonly string[] {
  const complaints: string[] = []
  page.on('console', (message) => {
    // Chromium reports every refused request; tests of refusals check the page instead.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      complaints.push(message.text())
    }
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(baseUrl) && !/^(?:data|blob):/.test(url))
      complaints.push(`asked another host: ${url}`)
  })
  return complaints
}

/** Creates the owner without the pages, for tests of later steps; ends on a small page. */
export async function enterAsOwner(
  page: Page,
  { url, key }: { readonly url: string; readonly key: string },
  firstPath = '/settings/limits',
): Promise<void> {
  const answer = await page.request.post('/v1/auth/sign-up', {
    headers: { authorization: `Bearer ${key}`, origin: url, 'x-gatehouse-csrf': '1' },
    data: OWNER,
  })
  if (answer.status() !== 201)
    throw new Error(`no owner: ${answer.status()} ${await answer.text()}`)
  await page.goto(`/dashboard${firstPath}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
}

export async function follow(page: Page, path: string): Promise<void> {
  // The router's own name for itself, by which its tools find it.
  await page.evaluate(`new Promise((resolve) => {
    const before = location.href
    const stop = __TSR_ROUTER__.subscribe('onResolved', () => { stop(); resolve() })
    history.pushState(null, '', ${JSON.stringify(`/dashboard${path}`)})
    if (location.href === before) { stop(); resolve() }
  })`)
}

/**
 * Copies a secret that is shown once, and waits until the page knows, because the dialog otherwise
 * asks before closing.
 */
export async function copyShownOnce(page: Page, name: string): Promise<void> {
  const shown = page.getByRole('dialog')
  await shown.getByRole('button', { name: `Copy the ${name}`, exact: true }).click()
  await shown.getByText('Copied.').waitFor()
}

export async function signUpOwner(page: Page, apiKey: string): Promise<void> {
  await page.goto(`/dashboard/welcome#key=${apiKey}`)
  await page.getByLabel('Your name').fill(OWNER.name)
  await page.getByLabel('Email').fill(OWNER.email)
  await page.getByLabel('Password').fill(OWNER.password)
  await page.getByRole('button', { name: 'Create the owner' }).click()
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
}

const SERIOUS = ['serious', 'critical']

async function readAxe(): Promise<string> {
  return await Bun.file(Bun.resolveSync('axe-core/axe.min.js', import.meta.dir)).text()
}

const EVERY_RULE = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']
/** Rules about colours. All other rules give the same results in both palettes. */
export const RULES_OF_COLOURS: readonly string[] = ['color-contrast', 'link-in-text-block']

/** An ended animation may begin another, for example when a colour is inherited. */
const FINISH_ANIMATIONS = `for (let round = 0; round < 20; round += 1) {
  const running = document.getAnimations().filter((animation) => animation.effect?.getComputedTiming().endTime !== Infinity)
  if (running.length === 0) break
  for (const animation of running) animation.finish()
}`

/** The serious faults that axe finds on the page, a line each. */
export async function findAccessibilityFaults(
  page: Page,
  rules: readonly string[] = EVERY_RULE,
): Promise<string[]> {
  // By evaluation, because the pages' own policy allows no foreign script.
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(await readAxe())
  await page.evaluate(FINISH_ANIMATIONS)
  const violations = (await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(rules)}, resultTypes: ['violations'] }).then((found) => found.violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map((node) => node.html.slice(0, 160) + ' :: ' + node.failureSummary) })))`,
  )) as readonly {
    readonly id: string
    readonly impact: string
    readonly nodes: readonly string[]
  }[]
  return violations
    .filter(({ impact }) => SERIOUS.includes(impact))
    .map(({ id, impact, nodes }) => `${id} (${impact}): ${nodes.join(' | ')}`)
}
