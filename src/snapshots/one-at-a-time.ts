/**
 * Runs steps one after the other, so that what one has read is still so when it writes. Knows no
 * step.
 */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve()

  /** A step that fails keeps nobody from the next. */
  run<Result>(step: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(step)
    this.#last = turn.catch(() => {})
    return turn
  }
}
