import { nameOfUser } from './group-name.ts'

const SHOWN_OF_ID = 12

interface Stopped {
  readonly kind: 'session' | 'user'
  readonly id: string
  readonly name: string | null
}

/** The name of a member is null when the reader does not see figures of people. */
export function nameOfStopped({ kind, id, name }: Stopped): string {
  if (name !== null) return name
  if (kind === 'session') return `Session ${id.slice(0, SHOWN_OF_ID)}…`
  return id.startsWith('user_') ? `Member ${id.slice(0, SHOWN_OF_ID)}…` : nameOfUser(id, name)
}
