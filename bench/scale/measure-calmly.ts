/**
 * Repeats a measurement that missed its bar while other programs used the machine, because such a
 * figure does not describe the code.
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

/** The state of the machine during a measurement. */
export interface Conditions {
  /** The share of all cores' time used by other guests of the host, from 0 to 1. */
  readonly stolen: number
  /** Milliseconds of a fixed piece of work, before and after the measurement. */
  readonly paces: readonly [before: number, after: number]
}

export interface Measured<Result> {
  readonly result: Result
  readonly conditions: Conditions
}

interface Judge<Result> {
  readonly isMet: (result: Result) => boolean
  /** Receives the reason for each repetition, and the discarded result. */
  readonly report: (text: string) => void
  readonly describe: (result: Result) => string
}

const MOST_STOLEN = 0.01
const TRIES = 3
/** Looks of two seconds each; after that, the measurement begins in any case. */
const MOST_LOOKS = 60

/** The fastest pace that this process has measured. */
let fastestMs = Number.POSITIVE_INFINITY

/**
 * Measures at most three times.
 * @returns the first result that met its bars or was measured on a calm machine, otherwise the last
 * @throws the error of the last measurement
 */
export async function measureCalmly<Result>(
  measure: () => Promise<Result>,
  { isMet, report, describe }: Judge<Result>,
): Promise<Measured<Result>> {
  for (let tries = 1; ; tries += 1) {
    const before = { pace: look(), times: readTimes(readFileSync('/proc/stat', 'utf8')) }
    const [outcome] = await Promise.allSettled([measure()])
    const times = readTimes(readFileSync('/proc/stat', 'utf8'))
    const { stolen } = shareBetween(before.times, times)
    const conditions: Conditions = { stolen, paces: [before.pace, look()] }
    const isGood = outcome.status === 'fulfilled' && isMet(outcome.value)
    if (isGood || isCalm(conditions) || tries === TRIES) {
      if (outcome.status === 'rejected') throw outcome.reason
      return { result: outcome.value, conditions }
    }
    if (outcome.status === 'fulfilled') report(describe(outcome.value))
    report(`The bars do not apply, because ${describeConditions(conditions)}. Measuring again.`)
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

/** True when other programs used no core, and the cores were as fast as before. */
export function isCalm({ stolen, paces }: Conditions, best = fastestMs): boolean {
  return stolen <= MOST_STOLEN && paces.every((pace) => isSteady([best, pace]))
}

export function describeConditions({ stolen, paces }: Conditions): string {
  const [before, after] = paces.map((ms) => ms.toFixed(1))
  return `other guests took ${(100 * stolen).toFixed(1)} % and one piece of work ${before} and ${after} ms`
}
