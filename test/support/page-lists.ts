/**
 * Chooses from a list of a page by mouse and by keyboard, and waits until the page has accepted the
 * choice.
 */
import { expect } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { IS_LONG } from './chaos-form.ts'
import { pollUntil } from './poll-until.ts'

export interface PageList {
  readonly name: string
  /**
   * `select`: the browser's own list · `radio`: one of a group · `tab`: a tab of a list of tabs ·
   * `button`: one that stays pressed · `link`: to a part of the section that one is in.
   */
  readonly kind: keyof typeof TRIALS
  /**
   * How many options there are at least. Of a list of two the second is chosen where others have a
   * third.
   */
  readonly fewest?: number
  /**
   * Waits for what the page shows of the choice besides the list itself. `option`: its value, or
   * else its text.
   */
  readonly shows?: (page: Page, option: string) => Promise<unknown>
}

const TRIALS = {
  select: trySelect,
  radio: tryRadio,
  tab: tryTabs,
  button: tryButtons,
  link: tryLinks,
} as const

/**
 * Chooses the second and the third option by mouse and by keyboard, then goes to both ends and past
 * them. The ends and the first letters of the browser's own lists, which are the browser's work, are
 * tried in the long form.
 */
export async function tryList(page: Page, list: PageList): Promise<void> {
  const trial: Trial = {
    page,
    list,
    fewest: list.fewest ?? 3,
    shows: async (option) => {
      if (option !== undefined) await list.shows?.(page, option)
    },
  }
  await TRIALS[list.kind](trial)
}

interface Trial {
  readonly page: Page
  readonly list: PageList
  readonly fewest: number
  readonly shows: (option: string | undefined) => Promise<void>
}

function chosenOf<Option>(options: readonly Option[]): readonly [Option, Option] {
  const [, second, third = second] = options
  if (second === undefined || third === undefined) throw new Error('the list has no second option')
  return [second, third]
}

async function trySelect({ page, list, fewest, shows }: Trial): Promise<void> {
  const control = page.getByRole('combobox', { name: list.name, exact: true })
  const open = control.locator('option:not([disabled])')
  await open.nth(fewest - 1).waitFor({ state: 'attached' })
  const options = await open.evaluateAll((all) =>
    all.map((one) => ({
      value: one.getAttribute('value') ?? one.textContent ?? '',
      text: one.textContent ?? '',
    })),
  )
  const [second, third] = chosenOf(options)
  const isChosen = async (how: string, { value }: { readonly value: string }) => {
    await pollUntil(
      `“${value}” in the list ${list.name}, ${how}`,
      async () => {
        return (await control.inputValue()) === value
      },
      { timeoutMs: 60_000 },
    )
    await shows(value)
  }
  for (const option of [second, third]) {
    await control.selectOption(option.value)
    await isChosen('chosen by mouse', option)
  }
  const [first, last] = [options[0] ?? second, options.at(-1) ?? third]
  await control.press('Home')
  await isChosen('by Home', first)
  // As fast as a person presses keys: the page may still be busy with the first key.
  await control.press('ArrowDown')
  if (third !== second) await control.press('ArrowDown')
  await isChosen('by arrow keys', third)
  if (!IS_LONG) return
  await control.press('End')
  await isChosen('by End', last)
  await control.press('ArrowDown')
  await isChosen('past its end', last)
  // Browsers forget letters after a second, so all letters are sent at once, and again if that was
  // too slow.
  await pollUntil(
    `“${third.value}” in the list ${list.name}, by its first letters`,
    async () => {
      await control.focus()
      await Promise.all([...third.text].map((letter) => page.keyboard.type(letter)))
      return (await control.inputValue()) === third.value
    },
    { intervalMs: 1_500, timeoutMs: 60_000 },
  )
  await isChosen('by its first letters', third)
}

async function tryRadio({ page, list, fewest, shows }: Trial): Promise<void> {
  const group = groupOf(page, list.name)
  const options = await allOf(group.getByRole('radio'), fewest)
  const labels = group.locator('label')
  const isChosen = async (index: number) => {
    await options.at(index)?.and(page.locator(':checked')).waitFor({ state: 'attached' })
    await shows((await labels.nth(index < 0 ? options.length + index : index).textContent()) ?? '')
  }
  const third = Math.min(2, options.length - 1)
  for (const index of [1, third]) {
    await labels.nth(index).click()
    await isChosen(index)
  }
  await labels.nth(0).click()
  await page.keyboard.press('ArrowDown')
  await isChosen(1)
  if (third > 1) {
    await page.keyboard.press('ArrowRight')
    await isChosen(third)
  }
  for (let step = 0; step < third; step += 1) await page.keyboard.press('ArrowUp')
  await isChosen(0)
  await page.keyboard.press('ArrowLeft')
  await isChosen(-1)
}

async function tryTabs({ page, list, fewest, shows }: Trial): Promise<void> {
  const tabs = await allOf(
    page.getByRole('tablist', { name: list.name, exact: true }).getByRole('tab'),
    fewest,
  )
  const isChosen = async (index: number) => {
    const tab = tabs.at(index)
    await tab?.and(page.locator('[aria-selected=true]')).waitFor()
    await shows((await tab?.textContent()) ?? '')
  }
  const third = Math.min(2, tabs.length - 1)
  for (const index of [1, third]) {
    await tabs[index]?.click()
    await isChosen(index)
  }
  await tabs[0]?.click()
  for (const [key, index] of [
    ['ArrowRight', 1],
    ['ArrowRight', 2 % tabs.length],
    ['Home', 0],
    ['ArrowLeft', -1],
    ['ArrowRight', 0],
    ['End', -1],
    ['Home', 0],
  ] as const) {
    await page.keyboard.press(key)
    await isChosen(index)
    await tabs.at(index)?.and(page.locator(':focus')).waitFor()
  }
}

async function tryButtons({ page, list, fewest, shows }: Trial): Promise<void> {
  const buttons = await allOf(groupOf(page, list.name).getByRole('button'), fewest)
  const [second, third] = chosenOf(buttons)
  const isChosen = async (button: Locator) => {
    await button.and(page.locator('[aria-pressed=true]')).waitFor()
    await shows((await button.textContent()) ?? '')
  }
  for (const button of [second, third]) {
    await button.click()
    await isChosen(button)
  }
  await second.press('Enter')
  await isChosen(second)
  await third.press('Space')
  await isChosen(third)
}

async function tryLinks({ page, list, fewest, shows }: Trial): Promise<void> {
  const links = await allOf(
    page.getByRole('navigation', { name: list.name, exact: true }).getByRole('link'),
    fewest,
  )
  const [second, third] = chosenOf(links)
  const isChosen = async (link: Locator) => {
    await link.and(page.locator('[aria-current=page]')).waitFor()
    await shows((await link.textContent()) ?? '')
  }
  for (const link of [second, third]) {
    await link.click()
    await isChosen(link)
  }
  for (const link of [second, third]) {
    await link.press('Enter')
    await isChosen(link)
  }
}

function groupOf(page: Page, name: string): Locator {
  return page
    .getByRole('group', { name, exact: true })
    .or(page.getByRole('radiogroup', { name, exact: true }))
}

async function allOf(options: Locator, fewest: number): Promise<Locator[]> {
  await options.nth(fewest - 1).waitFor({ state: 'attached' })
  const all = await options.all()
  expect(all.length).toBeGreaterThanOrEqual(fewest)
  return all
}
