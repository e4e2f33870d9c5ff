/** Assertions about something that is still changing, such as a page that is being drawn. */

/** Longer than a busy machine needs. */
const TIMEOUT_MS = 60_000
const LOOK_EVERY_MS = 25

/** Repeats `check` until it throws nothing; gives up with the last error. */
export async function untilItHolds(
  check: () => Promise<unknown>,
  { timeoutMs = TIMEOUT_MS }: { readonly timeoutMs?: number } = {},
): Promise<void> {
  const deadlineMs = Date.now() + timeoutMs
  for (;;) {
    try {
      await check()
      return
    } catch (error) {
      if (Date.now() > deadlineMs) throw error
    }
    await Bun.sleep(LOOK_EVERY_MS)
  }
}
