/** Reads the past usage of many heads together: heads that ask during a reading share the next one. */
import type { HeadCounter } from './head-counter.ts'
import type { UsageWindow, UsedSoFar } from './usage-counter.ts'

export interface HeadPeriod {
  readonly counter: HeadCounter
  readonly window: UsageWindow
}

export type ReadHeads = (heads: readonly HeadPeriod[]) => Promise<readonly UsedSoFar[]>

const HEADS_PER_READING = 200

export class HeadReadings {
  readonly #read: ReadHeads
  #waiting: { readonly head: HeadPeriod; readonly answer: PromiseWithResolvers<UsedSoFar> }[] = []
  #isReading = false

  constructor(read: ReadHeads) {
    this.#read = read
  }

  read(head: HeadPeriod): Promise<UsedSoFar> {
    const answer = Promise.withResolvers<UsedSoFar>()
    this.#waiting.push({ head, answer })
    if (!this.#isReading) void this.#run()
    return answer.promise
  }

  async #run(): Promise<void> {
    this.#isReading = true
    while (this.#waiting.length > 0) {
      const some = this.#waiting.splice(0, HEADS_PER_READING)
      try {
        const used = await this.#read(some.map(({ head: asked }) => asked))
        for (const [index, { answer }] of some.entries()) answer.resolve(used[index] ?? NOTHING)
      } catch (error) {
        for (const { answer } of some) answer.reject(error)
      }
    }
    this.#isReading = false
  }
}

const NOTHING: UsedSoFar = { tokens: 0, nanoUsd: 0, unpricedCalls: 0 }
