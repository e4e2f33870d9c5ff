/**
 * Knows whether the gateway answers. While it does not, nothing is asked but that, every few
 * seconds; then all goes on by itself.
 */
import { onlineManager } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'

interface Signal {
  readonly isOn: () => boolean
  readonly set: (next: boolean) => void
  readonly follow: (listener: () => void) => () => void
}

/** A yes or no that the whole page knows, and that components follow. */
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

type Reason = 'session' | 'connection'

const reasons = new Set<Reason>()

// The browser's own word for being online says nothing: the gateway may be on this machine.
onlineManager.setEventListener(() => undefined)

/** Holds every question to the gateway while there is a reason to, and asks again afterwards for what is shown. Asks nothing. */
function holdQueries(reason: Reason): void {
  reasons.add(reason)
  onlineManager.setOnline(false)
}

function releaseQueries(reason: Reason): void {
  reasons.delete(reason)
  onlineManager.setOnline(reasons.size === 0)
}

/** This browser had a session the last time: a user who has none now learns why. */
const STORED_AS = 'gatehouse-had-session'

/** That the session has ended while a page was open: known once, for all of the page. Asks nothing. */
export function rememberSession(): void {
  localStorage.setItem(STORED_AS, '1')
}

/** @returns whether there was one */
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
