/**
 * Answers some of a page's requests in the gateway's place. Must not know what is asked or
 * answered.
 */
import type { Page } from 'playwright-core'
import { pollUntil } from './poll-until.ts'

const TRIAL = '/is-routed'
const TRIALS = `**${TRIAL}`

/**
 * As `page.route`, and sure to hold for the next request: Chromium agrees to hold up requests a
 * moment before its pages send them that way. For pages of the gateway that are loaded.
 */
export async function routePage(
  page: Page,
  url: string | RegExp,
  answer: Parameters<Page['route']>[1],
): Promise<void> {
  await page.route(url, answer)
  await page.route(TRIALS, (route) => route.fulfill({ body: 'routed' }))
  const ask = `fetch('${TRIAL}', { cache: 'no-store' }).then((answer) => answer.text())`
  await pollUntil('requests to be routed', async () => (await page.evaluate(ask)) === 'routed')
  // While any is left, every request of the page is held up, and nothing comes from its cache.
  await page.unroute(TRIALS)
}
