/**
 * Determines whether the machine was otherwise idle during a run, and whether its speed was
 * constant.
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'

/** Shares of all cores' time, from 0 to 1, during one look. */
export interface Look {
  readonly busy: number
  /** Taken by other guests of the host. */
  readonly stolen: number
}

/** Ratios of one run are reliable while other work uses at most a twentieth of two cores. */
const QUIET_SHARE = 0.05
const LOOK_MS = 2_000
/**
 * Largest ratio of two paces on a steady machine. A host that is short of power or caches slows its
 * guests without visible load or steal: one run fell to half its pace while every look reported
 * "quiet".
 */
const STEADY_RATIO = 1.25
/**
 * Largest share of steps in which the pace may change. Contenders are measured in turn, so a change
 * between two steps affects all of them equally. Only a change within a step distorts the ratios.
 */
const MOST_CHANGES = 0.2
/**
 * The fastest of this many repetitions counts, because an interrupted repetition is meaningless.
 */
const PIECES = 20

/** Call this only while nothing is measured, so that all use is by other programs. */
export async function lookAround(): Promise<Look> {
  const before = readTimes(readFileSync('/proc/stat', 'utf8'))
  await Bun.sleep(LOOK_MS)
  return shareBetween(before, readTimes(readFileSync('/proc/stat', 'utf8')))
}

/**
 * Call this only while nothing is measured.
 * @returns milliseconds of a fixed piece of work: parsing text, copying memory, system calls
 */
export function measurePace(): number {
  const text = JSON.stringify(Array.from({ length: 2_000 }, (_, id) => ({ id, name: `n${id}` })))
  const [from, to] = [new Uint8Array(8 << 20), new Uint8Array(8 << 20)]
  const sink = openSync('/dev/null', 'w')
  let fastestMs = Number.POSITIVE_INFINITY
  for (let piece = 0; piece < PIECES; piece += 1) {
    const startedAtMs = performance.now()
    for (let reading = 0; reading < 20; reading += 1) JSON.parse(text)
    for (let copy = 0; copy < 8; copy += 1) to.set(from)
    for (let call = 0; call < 20_000; call += 1) writeSync(sink, to, 0, 64)
    fastestMs = Math.min(fastestMs, performance.now() - startedAtMs)
  }
  closeSync(sink)
  return fastestMs
}

/** @param paces of `measurePace` before, between and after the measurements */
export function isSteady(paces: readonly number[]): boolean {
  return countChanges(paces) <= MOST_CHANGES * paces.length
}

/** Number of changes of the pace from one look to the next. */
function countChanges(paces: readonly number[]): number {
  return paces.filter((pace, index) => {
    const before = paces[index - 1] ?? pace
    return Math.max(pace, before) > STEADY_RATIO * Math.min(pace, before)
  }).length
}

/** Markdown for the page. */
export function describePace(paces: readonly number[]): string {
  if (paces.length === 0) return ''
  const [fastest, slowest] = [Math.min(...paces), Math.max(...paces)].map((ms) => ms.toFixed(1))
  const changes = countChanges(paces)
  const seen = `one piece of work took ${fastest} to ${slowest} ms at ${paces.length} checks between the steps, and ${changes === 0 ? 'never' : changes === 1 ? 'once' : `${changes} times`} a quarter more or less than at the check before`
  return isSteady(paces)
    ? `The pace of the machine was steady within the steps: ${seen}.`
    : `**The pace of the machine was not steady**, so these figures are a trial: ${seen}.`
}

export interface Times {
  readonly total: number
  readonly idle: number
  readonly stolen: number
}

/** @param stat the text of /proc/stat; its first line is the sum of all cores */
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

/** @param looks before, between and after the measurements */
export function isQuiet(looks: readonly Look[]): boolean {
  return looks.every(({ busy, stolen }) => busy + stolen <= QUIET_SHARE)
}

/** Markdown for the page. */
export function describeQuietness(looks: readonly Look[]): string {
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`
  const busiest = Math.max(0, ...looks.map(({ busy }) => busy))
  const stolen = Math.max(0, ...looks.map((look) => look.stolen))
  const seen = `other programs used at most ${percent(busiest)} of its cores, and other guests of its host took at most ${percent(stolen)}`
  return isQuiet(looks)
    ? `The machine was quiet: at ${looks.length} checks before, between and after the rounds ${seen}.`
    : `**The machine was not quiet**, so these figures are a trial: at ${looks.length} checks before, between and after the rounds ${seen}.`
}
