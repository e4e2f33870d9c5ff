export class Backlog {
  #batches: Uint8Array[] = []
  #lines = 0
  #dropped = 0
  readonly #maxLines: number

  constructor(maxLines: number) {
    this.#maxLines = maxLines
  }

  get lines(): number {
    return this.#lines
  }

  get dropped(): number {
    return this.#dropped
  }

  keep(bytes: Uint8Array, lines: number): boolean {
    if (this.#lines + lines > this.#maxLines) return false
    // `slice` on a Buffer returns a view, which the next turn overwrites, so the bytes are copied.
    this.#batches.push(new Uint8Array(bytes))
    this.#lines += lines
    return true
  }

  drop(lines: number): void {
    this.#dropped += lines
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#batches)
  }

  clear(): void {
    this.#batches = []
    this.#lines = 0
  }
}
