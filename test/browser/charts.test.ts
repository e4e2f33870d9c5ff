/**
 * Charts in a real browser on the real server: whose hours they show, what is still running, and
 * what stands behind a bar.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'playwright-core'
import {
  BROWSER_TEST_TIMEOUT_MS,
  enterAsOwner,
  follow,
  openBrowser,
  type Visit,
} from '../support/chromium.ts'
import { findPageFaults } from '../support/page-checks.ts'
import { deleteSeededHours, type PlannedCall, seedPlannedCalls } from '../support/seed-calls.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { untilItHolds } from '../support/until-it-holds.ts'

setDefaultTimeout(BROWSER_TEST_TIMEOUT_MS)

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MINUTE_MS = 60_000
/** Two days ago: the pages believe that it is twenty past twelve there, whenever this runs. */
const TODAY_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS - 2 * DAY_MS
const NOW_MS = TODAY_MS + 12 * HOUR_MS + 20 * MINUTE_MS
/** The zone of the browser. */
const HOME = 'Europe/Zurich'

const at = (daysAgo: number, hour: number, minute = 10) =>
  TODAY_MS - daysAgo * DAY_MS + hour * HOUR_MS + minute * MINUTE_MS

/**
 * Three calls today and one in the running hour; yesterday two up to this hour, and five in and
 * after it.
 */
const NEAR: readonly PlannedCall[] = [
  ...[at(0, 9), at(0, 10), at(0, 11), NOW_MS - 5 * MINUTE_MS],
  ...[at(1, 3), at(1, 11)],
  ...[at(1, 12), at(1, 12, 40), at(1, 15), at(1, 20), at(1, 23)],
].map((startedAt) => ({ startedAt, gate: 'alpha', target: 'owned/large' }))

/** Of each day: a call of gamma, and one of beta or gamma that took long. */
const FAILED = 5
const SLOW = 1
const UNPRICED = 2

/** Another gate is the largest on each of these days. */
const RANKS: Readonly<Record<number, readonly string[]>> = {
  4: ['beta', 'beta', 'beta', 'beta', 'gamma', 'gamma', 'alpha'],
  6: ['gamma', 'gamma', 'gamma', 'alpha', 'alpha', 'beta'],
}
const FAR = Object.entries(RANKS).flatMap(([daysAgo, gates]) =>
  gates.map(
    (gate, index): PlannedCall => ({
      startedAt: at(Number(daysAgo), 6, index),
      gate,
      target: 'owned/small',
      durationMs: index === SLOW ? 40_000 : 900,
      hasFailed: index === FAILED,
      isUnpriced: index === UNPRICED,
    }),
  ),
)

/** Figures and names as wide as they come. */
const WIDE: readonly PlannedCall[] = [false, false, true].map((hasFailed, index) => ({
  startedAt: at(8, 6, index),
  gate: 'wide',
  target: `anthropic/claude-sonnet-with-a-long-name-4-5-20250929-${index}`,
  durationMs: 754_000,
  hasFailed,
  isUnpriced: index === 0,
}))

/** Of a day whose hours are gone. */
const OLD: readonly PlannedCall[] = [3, 9].map((hour) => ({
  startedAt: at(90, hour),
  gate: 'old',
  target: 'owned/large',
}))

let folder: TemporaryFolder
let gatehouse: Gatehouse
let browser: Awaited<ReturnType<typeof openBrowser>>
let visit: Visit
let page: Page
beforeAll(async () => {
  folder = await createTemporaryFolder()
  await seedPlannedCalls(folder.path, [...NEAR, ...FAR, ...WIDE, ...OLD])
  await deleteSeededHours(folder.path, at(80, 0))
  gatehouse = await startGatehouse({ dataFolder: folder.path })
  browser = await openBrowser()
  visit = await browser.visit(gatehouse.url)
  page = visit.page
  await page.clock.install({ time: NOW_MS })
  await enterAsOwner(page, gatehouse)
})
afterAll(async () => {
  await browser.close()
  await gatehouse.remove()
  await folder.remove()
})

const hourIn = (zone: string, timeMs: number) =>
  new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: zone }).format(
    timeMs,
  )
const THIS_HOUR_MS = NOW_MS - 20 * MINUTE_MS

const dayText = (daysAgo: number) => new Date(at(daysAgo, 0)).toISOString().slice(0, 10)
/** Whole days of UTC. */
const onDays = (path: string, from: number, to = from) =>
  `${path}?range=custom&from=${dayText(from)}&to=${dayText(to)}`

/** Answers that tell of steps wait until the function that comes back is called. */
async function holdSteps(): Promise<() => Promise<void>> {
  const held = Promise.withResolvers<void>()
  const isOfSteps = (url: URL) =>
    url.pathname === '/v1/analytics' && url.searchParams.get('interval') === 'hour'
  const passed: Promise<void>[] = []
  await page.route(isOfSteps, (route) => {
    passed.push(held.promise.then(() => route.continue()))
  })
  return async () => {
    held.resolve()
    await Promise.all(passed)
    await page.unroute(isOfSteps)
  }
}

async function chooseZone(name: string): Promise<void> {
  await page.getByRole('button', { name: /Account/ }).click()
  await page.getByRole('menuitemradio', { name }).click()
  await page.getByRole('menu').waitFor({ state: 'detached' })
}

describe('the zone of all times', () => {
  const note = () => page.getByRole('note').filter({ visible: true })
  const lastStep = () => page.getByRole('figure').getByRole('row').last().getByRole('cell').first()

  test('is shown once in the frame at every width, and is the reader’s own by default', async () => {
    await follow(page, '/?range=24h')
    for (const width of [1440, 1024, 390]) {
      await page.setViewportSize({ width, height: 900 })
      await untilItHolds(async () => expect(await note().count()).toBe(1))
      expect(await note().textContent()).toContain(`Times in ${HOME}`)
      const frame = await note().boundingBox()
      expect((frame?.x ?? -1) >= 0 && (frame?.x ?? 0) + (frame?.width ?? 0) <= width).toBe(true)
    }
    await page.setViewportSize({ width: 1440, height: 900 })
  })

  test('is switched in the account’s menu, for charts, tables, the log and fields alike, and stays', async () => {
    await page.getByRole('button', { name: 'as a table' }).click()
    await untilItHolds(async () =>
      expect(await lastStep().textContent()).toContain(hourIn(HOME, THIS_HOUR_MS)),
    )
    await chooseZone('Times in UTC')
    await untilItHolds(async () =>
      expect(await lastStep().textContent()).toContain(hourIn('UTC', THIS_HOUR_MS)),
    )
    expect(await note().textContent()).toContain('Times in UTC')
    await follow(page, '/logs')
    const call = page.getByRole('grid', { name: 'Calls' }).getByRole('row').nth(1)
    await untilItHolds(async () =>
      expect(await call.textContent()).toContain(hourIn('UTC', NOW_MS - 5 * MINUTE_MS)),
    )
    await page.getByRole('combobox', { name: 'Time' }).selectOption('custom')
    await page
      .getByLabel('From', { exact: true })
      .fill(`${new Date(TODAY_MS).toISOString().slice(0, 10)}T12:00`)
    await page.waitForURL(`**from=${encodeURIComponent(new Date(THIS_HOUR_MS).toISOString())}**`)
    await chooseZone(`Times in ${HOME}`)
    await untilItHolds(async () =>
      expect(await page.getByLabel('From', { exact: true }).inputValue()).toEndWith(
        `T${hourIn(HOME, THIS_HOUR_MS)}`,
      ),
    )
    await untilItHolds(async () =>
      expect(await call.textContent()).toContain(hourIn(HOME, NOW_MS - 5 * MINUTE_MS)),
    )
  })

  test('is that of chosen days, up to a week; longer ranges show that their days are those of UTC', async () => {
    const day = (daysAgo: number) =>
      new Date(TODAY_MS - daysAgo * DAY_MS).toISOString().slice(0, 10)
    const choose = async (from: string, to: string) => {
      await page.getByRole('button', { name: 'Custom' }).click()
      await page.getByLabel('From', { exact: true }).fill(from)
      await page.getByLabel('To', { exact: true }).fill(to)
    }
    await follow(page, '/analytics')
    await choose(day(3), day(2))
    await page.getByText(`Whole days of ${HOME}`, { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.waitForURL('**range=custom**')
    const from = Date.parse(new URL(page.url()).searchParams.get('from') ?? '')
    expect(hourIn(HOME, from)).toBe('00:00')
    await choose(day(9), day(0))
    await page.getByText('Whole days of UTC, as sums are kept').waitFor()
    expect(await findPageFaults(page)).toEqual([])
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.waitForURL(`**from=${day(9)}**`)
    await page.getByText('Each step is a day in UTC, like the stored sums.').first().waitFor()
    await chooseZone('Times in UTC')
    await page.getByText('Each step is a day of UTC').first().waitFor({ state: 'detached' })
    await chooseZone(`Times in ${HOME}`)
  })

  test('is followed by the other tabs of the browser', async () => {
    const other = await visit.context.newPage()
    await other.goto('/dashboard/settings/limits')
    await other.getByRole('note').filter({ hasText: HOME, visible: true }).waitFor()
    await chooseZone('Times in UTC')
    await other.getByRole('note').filter({ hasText: 'Times in UTC', visible: true }).waitFor()
    await chooseZone(`Times in ${HOME}`)
    await other.close()
  })
})

describe('an unfinished period', () => {
  const figure = () => page.getByRole('figure')
  /**
   * Of each broken mark: its dashes, and from where to where it is seen, as shares of the drawing's
   * width.
   */
  const RUNNING = `[...document.querySelectorAll('figure .running path[stroke-dasharray], figure rect.running')].map((mark) => {
    const clip = getComputedStyle(mark).clipPath.match(/#[^")]+/)
    const rect = clip === null ? mark : document.getElementById(clip[0].slice(1)).firstElementChild
    const box = mark.ownerSVGElement.getBoundingClientRect()
    return {
      dashes: mark.getAttribute('stroke-dasharray'),
      from: (Number(rect.getAttribute('x'))) / box.width,
    }
  })`
  const running = async () =>
    (await page.evaluate(RUNNING)) as readonly { readonly dashes: string; readonly from: number }[]

  test('is compared with the same part of the day before, without the running hour', async () => {
    await follow(page, `/?range=custom&from=${dayText(0)}&to=${dayText(0)}`)
    await page.getByRole('tab', { name: /^Calls\s*4\s*\+50%/ }).click()
    await figure().getByText('Changes are up to').waitFor()
    await page.getByRole('button', { name: 'as a table' }).click()
    // The future is not drawn as if there had been no calls.
    await untilItHolds(async () => expect(await figure().getByRole('row').count()).toBe(13 + 1))
    await figure()
      .getByRole('row', { name: /, so far/ })
      .waitFor()
    // Yesterday's calls after this hour are in no comparison.
    const earlier = await figure().locator('tbody td:nth-child(2)').allTextContents()
    expect(earlier.reduce((sum, text) => sum + (Number(text) || 0), 0)).toBe(2)
  })

  /** The narrowest first: what a page draws only once it is seen, a phone has to ask for itself. */
  async function atEachWidth(path: string, look: () => Promise<void>): Promise<void> {
    await page.setViewportSize({ width: 390, height: 900 })
    await page.goto(path)
    for (const width of [390, 1024, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      await figure().scrollIntoViewIfNeeded()
      await figure().getByRole('application').waitFor()
      await look()
    }
  }
  const heatMap = () => page.getByRole('application', { name: /^Duration of calls/ })

  test('is broken in the lines of a page at every width', async () => {
    await atEachWidth('/dashboard/?range=24h', async () => {
      await figure().getByText('Current period (incomplete)').waitFor()
      expect(await figure().getByRole('application').getAttribute('aria-label')).toContain(
        'is not over yet',
      )
      await untilItHolds(async () => {
        const marks = await running()
        expect(marks.length).toBeGreaterThan(0)
        for (const { dashes, from } of marks) {
          expect(dashes).toBe('2 3')
          expect(from).toBeGreaterThan(0.85)
        }
      })
    })
  })

  test('is broken in the bars and cells of a page at every width', async () => {
    await atEachWidth('/dashboard/analytics?range=24h', async () => {
      await untilItHolds(async () => {
        const marks = await running()
        expect(marks.map(({ dashes }) => dashes)).toEqual(['2 3'])
        expect(marks[0]?.from).toBeGreaterThan(0.85)
      })
      expect(await heatMap().locator('.running').getAttribute('x')).toBe('23')
    })
  })

  test('is seen among the bars of a week on a phone, where an hour has a pixel', async () => {
    await page.setViewportSize({ width: 390, height: 900 })
    await page.goto('/dashboard/analytics?range=7d')
    const bar = figure().locator('rect.running').first()
    await bar.waitFor({ state: 'attached' })
    expect(Number(await bar.getAttribute('width'))).toBeGreaterThan(0)
    await page.setViewportSize({ width: 1440, height: 900 })
  })

  test('is not shown in finished days', async () => {
    const path = `/dashboard/analytics?range=custom&from=${dayText(1)}&to=${dayText(1)}`
    await atEachWidth(path, async () => {
      await heatMap().waitFor()
      expect(await page.locator('.running').count()).toBe(0)
    })
  })
})

describe('a series on a chart', () => {
  /** By name: colour and pattern of the sample beside it, in their order. */
  const samplesIn = (
    items: string,
  ) => `[...document.querySelectorAll('${items}')].flatMap((item) => {
    const pattern = item.querySelector('pattern')
    const name = (item.querySelector('a') ?? item).textContent.trim()
    return pattern === null ? [] : [[name, pattern.firstElementChild.getAttribute('fill') + ' ' + pattern.dataset.pattern]]
  })`
  const legend = async () =>
    (await page.evaluate(samplesIn('figure [aria-label=Legend] li'))) as readonly (readonly [
      string,
      string,
    ])[]

  async function legendOf(path: string, first: string): Promise<Record<string, string>> {
    await follow(page, path)
    await page.getByRole('figure').getByRole('application').waitFor()
    await untilItHolds(async () => expect((await legend())[0]?.[0]).toBe(first))
    return Object.fromEntries(await legend())
  }

  test('has one colour and one pattern in every range, on every page, and after a reload', async () => {
    const seen = await legendOf(onDays('/analytics', 4), 'beta')
    expect(Object.keys(seen)).toEqual(['beta', 'gamma', 'alpha'])
    expect(await legendOf(onDays('/analytics', 6), 'gamma')).toEqual(seen)
    expect(await legendOf('/analytics?range=24h', 'alpha')).toEqual({
      alpha: seen.alpha ?? '',
    })
    await follow(page, onDays('/', 6))
    await page.getByRole('tab', { name: /^Calls/ }).click()
    await page.getByRole('link', { name: 'gamma', exact: true }).waitFor()
    const top = (await page.evaluate(samplesIn('main ol li'))) as readonly (readonly [
      string,
      string,
    ])[]
    const gates = top.filter(([name]) => name in seen)
    expect(gates.map(([name]) => name)).toEqual(['gamma', 'alpha', 'beta'])
    expect(Object.fromEntries(gates)).toEqual(seen)
  })

  test('stays with its range until all of the next one has come', async () => {
    const seen = await legendOf(onDays('/analytics', 4), 'beta')
    const letStepsPass = await holdSteps()
    const sums = page.waitForResponse(/\/v1\/analytics\?.*interval=all&group_by=gate/)
    // A table in another order than the chart has a request of its own.
    await follow(page, `${onDays('/analytics', 0)}&sort=errors`)
    await (await sums).finished()
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 200))')
    expect(Object.fromEntries(await legend())).toEqual(seen)
    await letStepsPass()
    await untilItHolds(async () =>
      expect((await legend()).map(([name]) => name)).toEqual(['alpha']),
    )
  })

  test('of the overview stays with its range and its figures until then, too', async () => {
    const drawing = page.getByLabel(/^Calls over time\. /)
    const calls = page.getByRole('tab', { name: /^Calls/ })
    const look = async () => [await drawing.getAttribute('aria-label'), await calls.textContent()]
    await follow(page, onDays('/', 4))
    await calls.filter({ hasText: /^Calls7/ }).click()
    await drawing.waitFor()
    const seen = await look()
    const letStepsPass = await holdSteps()
    const sums = page.waitForResponse(/\/v1\/analytics\?.*interval=all&percentiles=true$/)
    await follow(page, onDays('/', 0))
    await (await sums).finished()
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 200))')
    expect(await look()).toEqual(seen)
    await letStepsPass()
    await calls.filter({ hasText: /^Calls4/ }).waitFor()
    expect(await drawing.getAttribute('aria-label')).toContain('The last step is not over yet.')
  })

  test('differs from the others in colour and in pattern, and its bars match the legend', async () => {
    const seen = Object.values(await legendOf(onDays('/analytics', 4), 'beta'))
    for (const part of [0, 1])
      expect(new Set(seen.map((sample) => sample.split(' ')[part])).size).toBe(3)
    const bars =
      (await page.evaluate(`[...document.querySelectorAll('figure .recharts-bar-rectangle rect')].map((bar) => {
      const pattern = document.getElementById(bar.getAttribute('fill').slice(5, -1))
      return pattern.firstElementChild.getAttribute('fill') + ' ' + pattern.dataset.pattern
    })`)) as readonly string[]
    expect(new Set(bars)).toEqual(new Set(seen))
    await page.getByRole('button', { name: 'Status' }).click()
    await page.getByRole('figure', { name: 'Calls by status' }).getByRole('application').waitFor()
    expect(await findPageFaults(page)).toEqual([])
    await page.setViewportSize({ width: 1440, height: 900 })
  })

  test('drawn as a line beside another has a different dash', async () => {
    await follow(page, onDays('/', 4))
    await page.getByRole('tab', { name: /^Latency/ }).click()
    const figure = page.getByRole('figure', { name: 'Latency p50 over time' })
    await figure.getByRole('application').waitFor()
    const dashes = (await page.evaluate(
      `[...document.querySelectorAll('figure [aria-label=Legend] line')].map((line) => line.getAttribute('stroke-dasharray'))`,
    )) as readonly (string | null)[]
    expect(dashes.length).toBeGreaterThan(1)
    expect(new Set(dashes).size).toBe(dashes.length)
  })
})

describe('the calls behind a bar, a step and a cell', () => {
  const rows = () => page.getByRole('grid', { name: 'Calls' }).getByRole('row')
  const chart = () => page.getByRole('figure').getByRole('application')
  const bars = () => page.locator('figure .recharts-bar-rectangle rect')
  /** Of the day on which the seven calls began at six: head and rows. */
  const [HOUR_FROM, HOUR_TO] = [at(4, 6, 0), at(4, 7, 0)].map((timeMs) =>
    new Date(timeMs).toISOString(),
  )

  async function expectLog(search: Readonly<Record<string, string>>, calls: number): Promise<void> {
    await page.waitForURL('**/dashboard/logs?**')
    await untilItHolds(async () => expect(await rows().count()).toBe(1 + calls))
    const shown = Object.fromEntries(new URL(page.url()).searchParams)
    expect(shown).toEqual({ from: HOUR_FROM ?? '', to: HOUR_TO ?? '', ...search })
  }
  async function openChart(path: string): Promise<void> {
    await follow(page, path)
    await page.getByRole('figure').scrollIntoViewIfNeeded()
    await chart().waitFor()
  }
  /** To the seventh hour of the day, where the calls are. */
  async function walkToCalls(): Promise<void> {
    await chart().focus()
    const tooltip = page.locator('.recharts-tooltip-wrapper').getByText('its calls in the logs')
    await untilItHolds(async () => {
      await page.keyboard.press('ArrowRight')
      expect(await tooltip.isVisible()).toBe(true)
    })
  }

  test('open in the log by a click, with the filters of the page and the group of the bar', async () => {
    await openChart(onDays('/analytics', 4))
    // The largest is drawn first.
    await bars().first().click()
    await expectLog({ gate: 'beta' }, 4)
    await page.goBack()
    await bars().nth(2).click()
    await expectLog({ gate: 'alpha' }, 1)
    await openChart(`${onDays('/analytics', 4)}&gate=gamma&by=target`)
    await bars().click()
    await expectLog({ gate: 'gamma', target: 'owned/small' }, 2)
  })

  test('open by Enter too, of all series or of the one chosen by up and down', async () => {
    await openChart(onDays('/analytics', 4))
    await walkToCalls()
    await page.keyboard.press('Enter')
    await expectLog({}, 7)
    await openChart(onDays('/analytics', 4))
    await walkToCalls()
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await expectLog({ gate: 'gamma' }, 2)
  })

  test('open from the overview’s lines and their table, and for errors only the failed ones', async () => {
    const openCalls = async () => {
      await follow(page, onDays('/', 4))
      await page.getByRole('tab', { name: /^Calls/ }).click()
      await page.getByRole('figure', { name: 'Calls over time' }).scrollIntoViewIfNeeded()
      await chart().waitFor()
    }
    await openCalls()
    await walkToCalls()
    await page.keyboard.press('Enter')
    await expectLog({}, 7)
    await openCalls()
    await page.getByRole('button', { name: 'as a table' }).click()
    const links = page.getByRole('figure').getByRole('link')
    await links.waitFor()
    await links.press('Enter')
    await expectLog({}, 7)
    await openChart(onDays('/', 4))
    await page.getByRole('tab', { name: /^Errors/ }).click()
    const plot = await page.locator('figure .recharts-cartesian-grid').boundingBox()
    const { x = 0, y = 0, width = 0, height = 0 } = plot ?? {}
    // Of 24 points the seventh; beside it nothing failed, and nothing leads on.
    const tooltip = page.locator('.recharts-tooltip-wrapper')
    const pointAt = async (step: number) => {
      await page.mouse.move(x + (width * step) / 23, y + height / 2)
      await tooltip.getByText(hourIn(HOME, at(4, step, 0))).waitFor()
    }
    await pointAt(9)
    expect(await tooltip.getByText('in the logs').count()).toBe(0)
    await page.mouse.down()
    await page.mouse.up()
    await pointAt(6)
    expect(page.url()).toContain('/dashboard/?')
    await tooltip.getByText('in the logs').waitFor()
    await page.mouse.down()
    await page.mouse.up()
    await expectLog({ outcome: 'failed' }, 1)
  })

  test('open from a cell of the heat map, with its range of times; an empty one leads nowhere', async () => {
    const map = page.getByRole('application', { name: /^Duration of calls/ })
    const readout = page.getByText(/ 1 call, 14\.3% of this step/)
    await follow(page, onDays('/analytics', 4))
    await map.focus()
    // From the last step's lowest range; the slow call is in the uppermost.
    await map.press('ArrowRight')
    await page.getByText(/: 0 calls/).waitFor()
    await map.press('Enter')
    for (let press = 0; press < 12; press += 1) await map.press('ArrowUp')
    await untilItHolds(async () => {
      await map.press('ArrowLeft')
      expect(await readout.count()).toBe(1)
    })
    expect(page.url()).toContain('/dashboard/analytics')
    await map.press('Enter')
    await expectLog({ durationFromMs: '30000', durationToMs: '50000' }, 1)
    await page.getByRole('button', { name: 'Remove the filter duration 30.0 s – 50.0 s' }).click()
    await expectLog({}, 7)
    await follow(page, `${onDays('/analytics', 4)}&gate=alpha`)
    await map.locator('rect').first().click()
    await expectLog({ gate: 'alpha', durationFromMs: '700', durationToMs: '1000' }, 1)
  })

  test('open at a finger’s second tap: the first one shows the figures', async () => {
    await openChart(onDays('/analytics', 4))
    const tap = async () => {
      await bars().first().waitFor()
      await page.evaluate(`document.querySelector('figure .recharts-bar-rectangle rect').dispatchEvent(
        new PointerEvent('click', { bubbles: true, pointerType: 'touch' }))`)
    }
    await tap()
    await page.getByRole('button', { name: 'Status' }).click()
    await page.waitForURL('**/analytics?**by=status**')
    await page.goto(`/dashboard${onDays('/analytics', 4)}`)
    await tap()
    await tap()
    await expectLog({ gate: 'beta' }, 4)
  })
})

test('the notes below the overview’s figures take one line', async () => {
  await page.setViewportSize({ width: 1280, height: 900 })
  await follow(page, onDays('/', 6, 4))
  const tabs = page.getByRole('tablist', { name: 'Figures' }).getByRole('tab')
  await tabs.getByText(/^\d+ unpriced$/).waitFor()
  const heights = await tabs.evaluateAll((all) =>
    all.map((tab) => tab.lastElementChild?.getBoundingClientRect().height),
  )
  expect(new Set(heights).size).toBe(1)
  await page.setViewportSize({ width: 1440, height: 900 })
})

describe('the table of the analytics', () => {
  const table = () => page.getByRole('region', { name: 'Figures by target' })
  const roomOf = () =>
    table().evaluate((element) => ({ has: element.clientWidth, wants: element.scrollWidth }))

  beforeAll(async () => {
    await follow(page, `${onDays('/analytics', 8)}&by=target`)
  })

  test.each([1440, 1280, 1024])('shows its last column on a page of %i px', async (width) => {
    await page.setViewportSize({ width, height: 900 })
    await table().getByRole('row').nth(3).waitFor()
    const room = await roomOf()
    expect(room.wants).toBeLessThanOrEqual(room.has)
    const last = table().getByRole('columnheader', { name: 'First token p95' })
    const [column, card] = [await last.boundingBox(), await table().boundingBox()]
    expect((column?.x ?? 0) + (column?.width ?? 0)).toBeLessThanOrEqual(
      (card?.x ?? 0) + (card?.width ?? 0),
    )
    // No name is cut to nothing.
    const name = await table().getByRole('rowheader').first().boundingBox()
    expect(name?.width).toBeGreaterThanOrEqual(120)
    // A mark beneath a cost has a line for two words, not one for each.
    const marks = await table()
      .getByTitle(/Their cost is not part of the sum/)
      .evaluateAll((all) => all.map((mark) => mark.getClientRects()[0]?.height ?? 0))
    expect(marks.length).toBeGreaterThan(0)
    expect(Math.max(...marks)).toBeLessThanOrEqual(3 * 16)
    // Figures are not cut, nor written over each other.
    const overflowing = await table()
      .locator('td')
      .evaluateAll((cells) =>
        cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent),
      )
    expect(overflowing).toEqual([])
  })

  test('scrolls inside its card on a phone, with the names fixed', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await table().getByRole('row').nth(3).waitFor()
    const room = await roomOf()
    expect(room.wants).toBeGreaterThan(room.has)
    const name = table().getByRole('rowheader').first()
    const before = await name.boundingBox()
    await table().evaluate((element) => element.scrollTo({ left: 10_000 }))
    const last = table().getByRole('columnheader', { name: 'First token p95' })
    await untilItHolds(async () => {
      const column = await last.boundingBox()
      expect((column?.x ?? 390) + (column?.width ?? 0)).toBeLessThanOrEqual(390)
    })
    expect(await name.boundingBox()).toEqual(before)
    expect(await findPageFaults(page)).toEqual([])
    await page.setViewportSize({ width: 1440, height: 900 })
  })
})

test('these pages log no error and request nothing from another host', () => {
  expect(visit.complaints).toEqual([])
})

// Last: a browser writes refused requests into the log that is looked at above.
test('a range whose hours are gone says what to choose, and by days it is drawn', async () => {
  const rangeOf = (from: number, to: number) =>
    `range=custom&from=${dayText(from)}&to=${dayText(to)}`
  const gone = page.getByText('The hours of this range are not kept any more')
  for (const [path, cards] of [
    ['/analytics', 2],
    ['/', 1],
  ] as const) {
    await follow(page, `${path}?${rangeOf(91, 89)}`)
    await untilItHolds(async () => expect(await gone.count()).toBe(cards))
    expect(await page.getByRole('alert').count()).toBe(0)
  }
  await follow(page, `/analytics?${rangeOf(95, 85)}`)
  await page.getByRole('row', { name: /^old 2 / }).waitFor()
  await page.getByRole('figure', { name: 'Calls by gate over time' }).waitFor()
  expect(await gone.count()).toBe(0)
})
