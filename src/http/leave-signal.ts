/**
 * Tells that nobody waits for an answer any more: the part of the web's `AbortSignal` that waiting
 * needs. One of the web's own costs as much as reading a small request. Knows no connection.
 */

export interface LeaveSignal {
  readonly aborted: boolean
  addEventListener(type: 'abort', run: () => void, options?: { readonly once: true }): void
  removeEventListener(type: 'abort', run: () => void): void
}

export class Leaving implements LeaveSignal {
  aborted = false
  #listeners: (() => void)[] | undefined

  addEventListener(_type: 'abort', run: () => void): void {
    this.#listeners ??= []
    this.#listeners.push(run)
  }

  removeEventListener(_type: 'abort', run: () => void): void {
    this.#listeners = this.#listeners?.filter((listener) => listener !== run)
  }

  /** Safe to call again. */
  abort(): void {
    if (this.aborted) return
    this.aborted = true
    for (const run of this.#listeners ?? []) run()
    this.#listeners = undefined
  }
}
