/**
 * What every page of the dashboard has to pass, whatever it shows: accessible in both palettes, and no wider than a phone.
 * It must not import anything from src/ or web/.
 */
import type { Page } from 'playwright-core'
import { findAccessibilityFaults } from './chromium.ts'

const DESKTOP = { width: 1280, height: 900 }
const PHONE = { width: 390, height: 844 }

const FINISH_ANIMATIONS = `for (const animation of document.getAnimations()) {
  if (animation.effect?.getComputedTiming().endTime !== Infinity) animation.finish()
}`

/** A line for each thing that axe finds serious in the page as it is now, in both palettes. Leaves the page light. */
export async function findFaultsOfPalettes(page: Page): Promise<string[]> {
  const faults: string[] = []
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor()
    // Colours on their way from one palette to the other are nobody's fault.
    await page.evaluate(FINISH_ANIMATIONS)
    faults.push(...(await findAccessibilityFaults(page)).map((fault) => `${colorScheme}: ${fault}`))
  }
  await page.emulateMedia({ reducedMotion: null })
  return faults
}

/** A line for each fault of the page as it is now; empty when there is none. Leaves the page light, on a desktop. */
export async function findPageFaults(page: Page): Promise<string[]> {
  const faults = await findFaultsOfPalettes(page)
  await page.setViewportSize(PHONE)
  const widthPx = Number(await page.evaluate('document.documentElement.scrollWidth'))
  if (widthPx > PHONE.width) faults.push(`it is ${widthPx} px wide on a phone of ${PHONE.width} px`)
  await page.setViewportSize(DESKTOP)
  return faults
}
