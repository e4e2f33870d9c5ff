/** Waiting that ends when the client leaves, so that nothing lingers after it. */

/** @returns false when the client left first. */
export function pause(durationMs: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false)
  return new Promise((resolve) => {
    const leave = () => {
      clearTimeout(timer)
      resolve(false)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', leave)
      resolve(true)
    }, durationMs)
    signal.addEventListener('abort', leave, { once: true })
  })
}

export function untilClientLeaves(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
