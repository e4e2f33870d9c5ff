/**
 * Checks that every page of the dashboard has to pass: accessible in both palettes, and no wider
 * than a phone.
 */
import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { findAccessibilityFaults, RULES_OF_COLOURS } from './chromium.ts'
import { untilItHolds } from './until-it-holds.ts'

const DESKTOP = { width: 1280, height: 900 }
const PHONE = { width: 390, height: 844 }

/**
 * A line for each thing that axe finds serious in the page as it is now, in both palettes. Leaves
 * the page light, and with the movements that it had. The palettes differ in nothing but colours
 * (web/ui/palettes.test.ts), so the second one is asked about these alone.
 */
export async function findFaultsOfPalettes(page: Page): Promise<string[]> {
  const faults: string[] = []
  const hasMotion = await page.evaluate(`!matchMedia('(prefers-reduced-motion: reduce)').matches`)
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor()
    const found = await findAccessibilityFaults(
      page,
      colorScheme === 'dark' ? RULES_OF_COLOURS : undefined,
    )
    faults.push(...found.map((fault) => `${colorScheme}: ${fault}`))
  }
  if (hasMotion === true) await page.emulateMedia({ reducedMotion: 'no-preference' })
  return faults
}

export async function findPageFaults(page: Page): Promise<string[]> {
  const faults = await findFaultsOfPalettes(page)
  await page.setViewportSize(PHONE)
  const fits = async () =>
    expect(Number(await page.evaluate('document.documentElement.scrollWidth'))).toBeLessThanOrEqual(
      PHONE.width,
    )
  // Charts take their new width a moment later.
  await untilItHolds(fits).catch((error: unknown) =>
    faults.push(`it is too wide for a phone: ${error}`),
  )
  await page.setViewportSize(DESKTOP)
  return faults
}
