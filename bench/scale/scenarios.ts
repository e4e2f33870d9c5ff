/**
 * Every scenario of `make bench-scale`, by the name of its file. A scenario is loaded when it runs,
 * because each runs in its own process.
 */
import type { Scenario } from './scenario.ts'

export const SCENARIO_NAMES = [
  'shipping',
  'clean-up',
  'old-calls',
  'total-budgets',
  'after-outage',
  'analytics',
  'log-search',
  'caller-pages',
  'store-copy',
  'key-uses',
  'followed-changes',
  'keys-list',
  'start',
  'tokens',
] as const

/** @throws Error when no scenario has the name */
export async function loadScenario(name: string): Promise<Scenario> {
  if (!SCENARIO_NAMES.some((known) => known === name))
    throw new Error(`Unknown scenario: ${name}. Known: ${SCENARIO_NAMES.join(', ')}.`)
  const { scenario } = (await import(`./${name}.ts`)) as { readonly scenario: Scenario }
  return scenario
}
