/**
 * Work that many wait for at once, of which none is content with a run that began before it asked.
 * Knows no work.
 */

export class SingleFlight {
  readonly #work: () => Promise<void>
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(work: () => Promise<void>) {
    this.#work = work
  }

  /**
   * Resolves, or rejects, with a run that begins after this is called: one for all who call before
   * it begins.
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
