/** What a process holds, as Linux tells it, and whether a row of such figures grows. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Memory that is this process's alone, in bytes.
 * @throws when the process is gone or there is no /proc
 */
export async function privateBytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
  let kilobytes = 0
  for (const [, found] of text.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+) kB$/gm))
    kilobytes += Number(found)
  return kilobytes * 1024
}

/** Open files, sockets and pipes. */
export async function countHandles(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length
}

/** What is in the journal of a data folder. */
export async function journalBytes(dataFolder: string): Promise<number> {
  const folder = join(dataFolder, 'journal')
  const names = await readdir(folder).catch(() => [])
  // One that is shipped meanwhile is gone.
  const sizes = await Promise.all(
    names.map((name) => stat(join(folder, name)).catch(() => undefined)),
  )
  return sizes.reduce((sum, found) => sum + (found?.size ?? 0), 0)
}

/** The slope of the straight line nearest to points of (minute, amount), as an amount per hour. */
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
