/**
 * The time zone of all pages: the reader's choice, stored in this browser and followed by its other
 * tabs.
 */
import { useSyncExternalStore } from 'react'
import type { TimeZone } from '../format/time-zone.ts'

const STORED_AS = 'gatehouse-time-zone'
const readers = new Set<() => void>()

export function useTimeZone(): TimeZone {
  return useSyncExternalStore(follow, readTimeZone)
}

export function chooseTimeZone(zone: TimeZone): void {
  if (zone === 'local') localStorage.removeItem(STORED_AS)
  else localStorage.setItem(STORED_AS, zone)
  for (const tell of readers) tell()
}

function readTimeZone(): TimeZone {
  return localStorage.getItem(STORED_AS) === 'utc' ? 'utc' : 'local'
}

function follow(tell: () => void): () => void {
  readers.add(tell)
  addEventListener('storage', tell)
  return () => {
    readers.delete(tell)
    removeEventListener('storage', tell)
  }
}
