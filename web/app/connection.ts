/**
 * Knows whether the gateway answers. While it does not, nothing is asked but that, every few
 * seconds; then all goes on by itself.
 */
import { holdQueries, releaseQueries } from './hold-queries.ts'
import { createSignal, useSignal } from './signal.ts'

const LOOKS_AGAIN_MS = 2_000
/** The dashboard's own page: it needs no session. */
const LOOKED_AT = '/dashboard/'

const isLost = createSignal()

export function useIsConnectionLost(): boolean {
  return useSignal(isLost)
}

export function loseConnection(): void {
  if (isLost.isOn()) return
  isLost.set(true)
  holdQueries('connection')
  setTimeout(lookAgain, LOOKS_AGAIN_MS)
}

function lookAgain(): void {
  void isServed().then((answers) => {
    if (!answers) {
      setTimeout(lookAgain, LOOKS_AGAIN_MS)
      return
    }
    isLost.set(false)
    releaseQueries('connection')
  })
}

async function isServed(): Promise<boolean> {
  return await fetch(LOOKED_AT, { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )
}

function connected(): Promise<void> {
  return new Promise((resolve) => {
    const stop = isLost.follow(() => {
      stop()
      resolve()
    })
  })
}

/**
 * A part of the dashboard that is fetched later: waits for the gateway where it does not answer.
 * @throws what the browser throws where it answers and has no such file any more
 */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  for (;;) {
    try {
      return await load()
    } catch (error) {
      if (await isServed()) throw error
      loseConnection()
      await connected()
    }
  }
}
