/** How long a page took to react to keys and clicks, as measured by the browser (Event Timing). */
import type { Page } from 'playwright-core'

interface InteractionWatch {
  /**
   * One line for people: `keydown 24 ms (30), click 32 ms (2)`: the longest, and how many took 16
   * ms or more.
   */
  describe(): Promise<string>
}

export async function watchInteractions(page: Page): Promise<InteractionWatch> {
  await page.evaluate(`
    window.interactions = []
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (entry.interactionId > 0) window.interactions.push([entry.name, entry.duration])
    }).observe({ type: 'event', durationThreshold: 16 })
    window.longTasks = []
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.longTasks.push(entry.duration)
    }).observe({ type: 'longtask' })
  `)
  return {
    describe: async () => {
      const { interactions, longTasks } = (await page.evaluate(
        '({ interactions: window.interactions, longTasks: window.longTasks })',
      )) as {
        readonly interactions: readonly (readonly [name: string, durationMs: number])[]
        readonly longTasks: readonly number[]
      }
      const names = [...new Set(interactions.map(([name]) => name))]
      const parts = names.map((name) => {
        const durations = interactions
          .filter(([other]) => other === name)
          .map(([, duration]) => duration)
        return `${name} ${Math.max(...durations)} ms (${durations.length})`
      })
      const longest = Math.round(Math.max(0, ...longTasks))
      return `${parts.join(', ') || 'none took 16 ms'}; longest task ${longest} ms (${longTasks.length} over 50 ms)`
    },
  }
}
