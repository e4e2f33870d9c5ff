/**
 * Measures again what missed its bar while the machine belonged to others: such a figure says
 * nothing of the code. Must not know what is measured.
 */
import { readFileSync } from 'node:fs'
import {
  isQuiet,
  isSteady,
  lookAround,
  measurePace,
  readTimes,
  shareBetween,
} from '../quietness.ts'

/** How the machine was while something was measured. */
export interface Weather {
  /** The share of all cores' time that other guests of the host took, from 0 to 1. */
  readonly stolen: number
  /** What one piece of work took before it and after it, in milliseconds. */
  readonly paces: readonly [before: number, after: number]
}

export interface Measured<Result> {
  readonly result: Result
  readonly weather: Weather
}

interface Judge<Result> {
  readonly isMet: (result: Result) => boolean
  /** Told why it is measured once more, and of what was measured in vain. */
  readonly say: (text: string) => void
  readonly describe: (result: Result) => string
}

const MOST_STOLEN = 0.01
const TRIES = 3
/** Looks of two seconds each: then it is measured as it is. */
const MOST_LOOKS = 60

/** The fastest that this process has seen the machine. */
let fastestMs = Number.POSITIVE_INFINITY

/**
 * @returns the first of at most three that met its bars or was calm, or else the last
 * @throws what the last of them threw
 */
export async function measureCalmly<Result>(
  measure: () => Promise<Result>,
  { isMet, say, describe }: Judge<Result>,
): Promise<Measured<Result>> {
  for (let tries = 1; ; tries += 1) {
    const before = { pace: look(), times: readTimes(readFileSync('/proc/stat', 'utf8')) }
    const [outcome] = await Promise.allSettled([measure()])
    const times = readTimes(readFileSync('/proc/stat', 'utf8'))
    const { stolen } = shareBetween(before.times, times)
    const weather: Weather = { stolen, paces: [before.pace, look()] }
    const isGood = outcome.status === 'fulfilled' && isMet(outcome.value)
    if (isGood || isCalm(weather) || tries === TRIES) {
      if (outcome.status === 'rejected') throw outcome.reason
      return { result: outcome.value, weather }
    }
    if (outcome.status === 'fulfilled') say(describe(outcome.value))
    say(`no bar is judged by this, for ${tellWeather(weather)}: it is measured once more`)
    await untilCalm()
  }
}

async function untilCalm(): Promise<void> {
  for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
    const pace = look()
    if (isQuiet([await lookAround()]) && isCalm({ stolen: 0, paces: [pace, look()] })) return
  }
}

function look(): number {
  const pace = measurePace()
  fastestMs = Math.min(fastestMs, pace)
  return pace
}

/** Nobody else had the cores, and they were as fast as they have been. */
export function isCalm({ stolen, paces }: Weather, best = fastestMs): boolean {
  return stolen <= MOST_STOLEN && paces.every((pace) => isSteady([best, pace]))
}

export function tellWeather({ stolen, paces }: Weather): string {
  const [before, after] = paces.map((ms) => ms.toFixed(1))
  return `other guests took ${(100 * stolen).toFixed(1)} % and one piece of work ${before} and ${after} ms`
}
