import { onlineManager } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'

interface Signal {
  readonly isOn: () => boolean
  readonly set: (next: boolean) => void
  readonly follow: (listener: () => void) => () => void
}

function createSignal(): Signal {
  let value = false
  const listeners = new Set<() => void>()
  return {
    isOn: () => value,
    set: (next) => {
      if (next === value) return
      value = next
      for (const listener of listeners) listener()
    },
    follow: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

function useSignal({ follow, isOn }: Signal): boolean {
  return useSyncExternalStore(follow, isOn)
}

const LOOKS_AGAIN_MS = 2_000
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
 * Loads a part of the dashboard; waits while the gateway does not answer.
 * @throws the browser's error when the gateway answers but the file no longer exists
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

type Reason = 'session' | 'connection'

const reasons = new Set<Reason>()

// The browser's online state is ignored, since the gateway may run on this machine.
onlineManager.setEventListener(() => undefined)

/** Pauses all queries while a reason exists. Queries on the page are refetched afterwards. */
function holdQueries(reason: Reason): void {
  reasons.add(reason)
  onlineManager.setOnline(false)
}

function releaseQueries(reason: Reason): void {
  reasons.delete(reason)
  onlineManager.setOnline(reasons.size === 0)
}

/**
 * Stored while this browser has a session, so that the sign-in page can say that the session ended.
 */
const STORED_AS = 'gatehouse-had-session'

export function rememberSession(): void {
  localStorage.setItem(STORED_AS, '1')
}

export function forgetSession(): boolean {
  const had = localStorage.getItem(STORED_AS) !== null
  localStorage.removeItem(STORED_AS)
  return had
}

const hasEnded = createSignal()

export function holdForSignIn(): void {
  holdQueries('session')
  hasEnded.set(true)
}

export function goOnAfterSignIn(): void {
  hasEnded.set(false)
  releaseQueries('session')
}

export function useHasSessionEnded(): boolean {
  return useSignal(hasEnded)
}
