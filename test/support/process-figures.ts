/** What a process holds, from Linux, and whether a series of figures grows. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

export async function privateBytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
  let kilobytes = 0
  for (const [, found] of text.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+) kB$/gm))
    kilobytes += Number(found)
  return kilobytes * 1024
}

export async function countHandles(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length
}

export async function journalBytes(dataFolder: string): Promise<number> {
  const folder = join(dataFolder, 'journal')
  const names = await readdir(folder).catch(() => [])
  // A segment that is shipped meanwhile disappears.
  const sizes = await Promise.all(
    names.map((name) => stat(join(folder, name)).catch(() => undefined)),
  )
  return sizes.reduce((sum, found) => sum + (found?.size ?? 0), 0)
}

export function growthPerHour(points: readonly (readonly [number, number])[]): number {
  const mean = (numbers: readonly number[]) =>
    numbers.reduce((sum, each) => sum + each, 0) / Math.max(1, numbers.length)
  const atMean = mean(points.map(([at]) => at))
  const amountMean = mean(points.map(([, amount]) => amount))
  let product = 0
  let square = 0
  for (const [at, amount] of points) {
    product += (at - atMean) * (amount - amountMean)
    square += (at - atMean) ** 2
  }
  return square === 0 ? 0 : (product / square) * 60
}
