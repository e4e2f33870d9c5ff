/**
 * Shares a run of the same work between callers. Each caller needs a run that begins after its
 * call.
 */

export class SingleFlight {
  readonly #work: () => Promise<void>
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(work: () => Promise<void>) {
    this.#work = work
  }

  /**
   * Resolves, or rejects, with a run that begins after this call; callers share a run until it
   * begins.
   */
  run(): Promise<void> {
    if (this.#next === undefined && this.#running === undefined) return this.#start()
    this.#next ??= (this.#running ?? Promise.resolve()).then(
      () => this.#start(),
      () => this.#start(),
    )
    return this.#next
  }

  #start(): Promise<void> {
    this.#next = undefined
    const running = this.#work().finally(() => {
      if (this.#running === running) this.#running = undefined
    })
    this.#running = running
    return running
  }
}
