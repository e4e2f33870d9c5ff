/**
 * `make bench-scale`: what must not grow with what is stored, at two sizes, and the ratio between them. One scenario is a file
 * of bench/scale/, run in a process of its own. `bun bench/scale.ts [NAME]…`
 */
import { join } from 'node:path'

/** Each with the sizes at which it is measured; `bun bench/scale/run-one.ts NAME SIZE…` takes others. */
const SCENARIOS: Readonly<Record<string, readonly [number, number]>> = {
  'clean-up': [20_000, 200_000],
  'old-calls': [100_000, 1_000_000],
  'total-budgets': [100_000, 1_000_000],
  'key-uses': [10_000, 100_000],
  'followed-changes': [1_000, 10_000],
  'store-copy': [10_000, 40_000],
}

const wanted = process.argv.slice(2)
const names = wanted.length === 0 ? Object.keys(SCENARIOS) : wanted
for (const name of names) {
  const sizes = SCENARIOS[name]
  if (sizes === undefined)
    throw new Error(`There is no scenario ${name}; there are ${Object.keys(SCENARIOS).join(', ')}.`)
  for (const size of sizes) {
    const command = [process.execPath, join(import.meta.dir, 'scale', 'run-one.ts'), name, String(size)]
    const { exitCode } = Bun.spawnSync(command, { stdout: 'inherit', stderr: 'inherit' })
    if (exitCode !== 0) process.exit(exitCode)
  }
}
