/**
 * The palettes differ in colours alone: the browser tests ask axe for the second one about colours
 * alone. Reads the sources of the pages; knows no page.
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'

const WEB = join(import.meta.dir, '..')
const styles = await Bun.file(join(WEB, 'styles.css')).text()

const PAINTS =
  'bg|text|border|divide|outline|ring|shadow|fill|stroke|accent|caret|decoration|placeholder'
const NAMES = [...styles.matchAll(/--color-([\w-]+):/g)].map(([, name]) => name)
const COLOUR = new RegExp(
  `^(?:${PAINTS})-(?:${[...NAMES, 'black', 'white', 'transparent'].join('|')})(?:/\\d+)?$`,
)

/**
 * What classes of the dark palette do, without what they wait for: `dark:hover:bg-ink/60` is
 * `bg-ink/60`.
 */
function darkClassesIn(text: string): string[] {
  return [...text.matchAll(/(?<=[\s'"`])((?:[^\s'"`:]+:)*dark:[^\s'"`]+)/g)].map(
    ([, name = '']) => name.split(':').at(-1) ?? '',
  )
}

/** Every rule for one palette alone: its selector or condition, and its declarations. */
function rulesOfPalettes(
  text: string,
): { readonly selector: string; readonly properties: readonly string[] }[] {
  return [
    ...text.matchAll(
      /([^{};]*(?:data-theme|prefers-color-scheme)[^{};]*)\{((?:[^{}]*\{)?)([^}]*)\}/g,
    ),
  ].map(([, selector = '', , body = '']) => ({
    selector: selector.trim(),
    properties: [...body.matchAll(/^\s*([\w-]+):/gm)].map(([, name = '']) => name),
  }))
}

test('a class of the dark palette changes a colour', async () => {
  const found: string[] = []
  for await (const path of new Bun.Glob('**/*.{ts,tsx}').scan({ cwd: WEB })) {
    if (path.endsWith('.test.ts')) continue
    found.push(...darkClassesIn(await Bun.file(join(WEB, path)).text()))
  }
  expect(found.length).toBeGreaterThan(0)
  expect(found.filter((name) => !COLOUR.test(name))).toEqual([])
})

test('the search finds a class that changes more than a colour', () => {
  const text = '"dark:hidden hover:dark:p-2 dark:hover:bg-ink/60", `dark:bg-black/60` isdark: x'
  const found = darkClassesIn(text)
  expect(found).toEqual(['hidden', 'p-2', 'bg-ink/60', 'bg-black/60'])
  expect(found.filter((name) => COLOUR.test(name))).toEqual(['bg-ink/60', 'bg-black/60'])
})

test('the style sheet’s rules for one palette set its colours and shadows', () => {
  const rules = rulesOfPalettes(styles)
  expect(rules.length).toBeGreaterThan(1)
  const root = new Set(/:root \{([^}]*)\}/.exec(styles)?.[1]?.match(/[\w-]+(?=:)/g))
  for (const { selector, properties } of rules)
    for (const property of properties)
      expect({ selector, property, isOfBoth: root.has(property) }).toEqual({
        selector,
        property,
        isOfBoth: true,
      })
})

test('no page asks for the palette, except for the library of the toasts, which has its own colours', async () => {
  const asking: string[] = []
  for await (const path of new Bun.Glob('**/*.{ts,tsx}').scan({ cwd: WEB })) {
    const text = await Bun.file(join(WEB, path)).text()
    if (!path.endsWith('.test.ts') && /data-theme|dataset\.theme|prefers-color-scheme/.test(text))
      asking.push(path)
  }
  expect(asking.sort()).toEqual(['app/theme.ts', 'ui/toaster.tsx'])
})
