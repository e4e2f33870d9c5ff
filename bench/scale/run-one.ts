/**
 * Runs one scenario at one size on one store, and prints its figures as JSON:
 * `bun bench/scale/run-one.ts NAME SIZE STORE`.
 */
import { loadScenario } from './scenarios.ts'

const [name = '', size, store] = process.argv.slice(2)
if (store !== 'SQLite' && store !== 'Postgres') throw new Error('The store is SQLite or Postgres.')
const scenario = await loadScenario(name)
process.stdout.write(`${JSON.stringify(await scenario.run(Number(size), store))}\n`)
process.exit()
