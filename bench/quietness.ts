/**
 * Whether the machine had anything else to do while it was measured. Must not know what is
 * measured.
 */
import { readFileSync } from 'node:fs'

/** Shares of all cores' time, from 0 to 1, each over one look. */
export interface Look {
  readonly busy: number
  /** What another guest of the host took. */
  readonly stolen: number
}

/** Two cores of which somebody uses a twentieth are quiet enough for ratios of one run. */
const QUIET_SHARE = 0.05
const LOOK_MS = 2_000

/** To be called while nothing is measured: what is in use then belongs to others. */
export async function lookAround(): Promise<Look> {
  const before = readTimes(readFileSync('/proc/stat', 'utf8'))
  await Bun.sleep(LOOK_MS)
  return shareBetween(before, readTimes(readFileSync('/proc/stat', 'utf8')))
}

export interface Times {
  readonly total: number
  readonly idle: number
  readonly stolen: number
}

/** @param stat the text of /proc/stat; its first line adds up all cores */
export function readTimes(stat: string): Times {
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, stolen = 0] =
    stat.split('\n')[0]?.trim().split(/\s+/).slice(1).map(Number) ?? []
  return {
    total: user + nice + system + idle + iowait + irq + softirq + stolen,
    idle: idle + iowait,
    stolen,
  }
}

export function shareBetween(before: Times, after: Times): Look {
  const total = Math.max(1, after.total - before.total)
  const stolen = (after.stolen - before.stolen) / total
  return { busy: Math.max(0, 1 - (after.idle - before.idle) / total - stolen), stolen }
}

/** @param looks before, between and after what was measured */
export function isQuiet(looks: readonly Look[]): boolean {
  return looks.every(({ busy, stolen }) => busy + stolen <= QUIET_SHARE)
}

/** For the page, as Markdown. */
export function tellQuietness(looks: readonly Look[]): string {
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`
  const busiest = Math.max(0, ...looks.map(({ busy }) => busy))
  const stolen = Math.max(0, ...looks.map((look) => look.stolen))
  const seen = `other programs used at most ${percent(busiest)} of its cores, and other guests of its host took at most ${percent(stolen)}`
  return isQuiet(looks)
    ? `The machine was quiet: at ${looks.length} looks before, between and after the rounds ${seen}.`
    : `**The machine was not quiet**, so these figures are a trial: at ${looks.length} looks before, between and after the rounds ${seen}.`
}
