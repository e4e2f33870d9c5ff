/** Reports the progress of long work on standard error, because standard output has the figures. */

const EVERY_MS = 5_000

/** @returns a function to call often; it writes every few seconds */
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
