import type { Page } from 'playwright-core'
import { pollUntil } from './poll-until.ts'

const TRIAL = '/is-routed'
const TRIALS = `**${TRIAL}`

/**
 * Like `page.route`, but in force for the next request: Chromium begins to intercept requests only
 * a moment later.
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
  await page.unroute(TRIALS)
}
