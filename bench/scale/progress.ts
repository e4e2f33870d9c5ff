/** Says on standard error how far long work has come; standard output is for figures. */

const EVERY_MS = 5_000

/** @returns to be called often; it speaks every few seconds */
export function createProgress(what: string, total: number): (done: number) => void {
  let lastAt = performance.now()
  return (done) => {
    const now = performance.now()
    if (now - lastAt < EVERY_MS) return
    lastAt = now
    process.stderr.write(
      `  … ${what}: ${done.toLocaleString('en-US')} of ${total.toLocaleString('en-US')}\n`,
    )
  }
}
