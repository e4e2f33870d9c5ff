/**
 * That the session has ended while a page was open: known once, for all of the page. Asks nothing.
 */
import { holdQueries, releaseQueries } from './hold-queries.ts'
import { createSignal, useSignal } from './signal.ts'

/** This browser had a session the last time: a user who has none now learns why. */
const STORED_AS = 'gatehouse-had-session'

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
