/** Waits until something becomes true, without guessing the duration. */

export interface PollOptions {
  /** The default is longer than a busy machine needs. The error names what was awaited. */
  readonly timeoutMs?: number
  readonly intervalMs?: number
}

export async function pollUntil<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  options: PollOptions = {},
): Promise<T> {
  const deadlineMs = Date.now() + (options.timeoutMs ?? 30_000)
  for (;;) {
    const value = await probe()
    if (value !== undefined && value !== false) return value
    if (Date.now() > deadlineMs) throw new Error(`waited in vain for ${what}`)
    await Bun.sleep(options.intervalMs ?? 20)
  }
}

/** Fails instead of hanging when `promise` never settles. */
export async function within<T>(timeoutMs: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no ${what} within ${timeoutMs} ms`)), timeoutMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
