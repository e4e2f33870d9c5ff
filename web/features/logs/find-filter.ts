/** The filter that a word stands for: a gate, a key, or a part of a target's name. Pure. */
import { canBeName, type LogSearch } from './log-filter.ts'

export type FoundFilter = Pick<LogSearch, 'gate' | 'key' | 'targetPart'>

interface Known {
  readonly gates: readonly { readonly id: string }[]
  readonly keys: readonly { readonly id: string; readonly name: string }[]
}

/** Whole names of gates and keys come first. @returns undefined where nothing can have the name */
export function findFilter(word: string, { gates, keys }: Known): FoundFilter | undefined {
  const isIt = (name: string) => name.toLowerCase() === word.toLowerCase()
  const gate = gates.find(({ id }) => id === word) ?? gates.find(({ id }) => isIt(id))
  if (gate !== undefined) return { gate: gate.id }
  const key = keys.find(({ id }) => id === word) ?? keys.find(({ name }) => isIt(name))
  if (key !== undefined) return { key: key.id }
  return canBeName(word) ? { targetPart: word } : undefined
}
