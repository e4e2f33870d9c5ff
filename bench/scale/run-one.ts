/** Runs one scenario at the given sizes: `bun bench/scale/run-one.ts NAME SIZE…`, NAME a file of this folder. */
import type { Held } from './longest-hold.ts'

interface Scenario {
  readonly name: string
  run(size: number): Promise<Held>
}

const [file, ...sizes] = process.argv.slice(2)
const { scenario } = (await import(`./${file}.ts`)) as { readonly scenario: Scenario }
for (const size of sizes.map(Number)) {
  const { ms, loopMs, loopCpuMs } = await scenario.run(size)
  const [took, held, cpu] = [ms, loopMs, loopCpuMs].map((value) => value.toFixed(1))
  console.log(`${scenario.name}, ${size}: ${took} ms, one turn ${held} ms at most, ${cpu} ms of processor`)
}
