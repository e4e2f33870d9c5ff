/**
 * Orders changes of gates so that a gate loses an id, an alias or the role of the catch-all before
 * another gate gets the same.
 */
import type { JsonObject } from '../client.ts'
import type { Change } from './change.ts'

/** No gate can have this name, because names contain no spaces. */
const CATCH_ALL = 'the catch-all'

export function namesOfGate(gate: JsonObject): readonly string[] {
  const aliases = (gate.aliases ?? []) as readonly { readonly name: string }[]
  return [
    String(gate.id),
    ...aliases.map(({ name }) => name),
    ...(gate.isCatchAll === true ? [CATCH_ALL] : []),
  ]
}

/**
 * Two gates that swap names keep their order, and the server then refuses the first of them.
 * @param deleted moved forward when one of `kept` needs their names
 */
export function orderByNames(kept: readonly Change[], deleted: readonly Change[]) {
  const isGate = ({ kind }: Change) => kind.section === 'gates'
  const taken = new Set(kept.filter(isGate).flatMap(namesTaken))
  const isNeeded = (change: Change) =>
    isGate(change) && namesReleased(change).some((name) => taken.has(name))
  const needed = deleted.filter(isNeeded)
  const waiting = [...kept.filter(isGate), ...needed]
  const releasedBy = new Map(
    waiting.flatMap((change) => namesReleased(change).map((name) => [name, change] as const)),
  )
  const ordered: Change[] = []
  const isFree = (change: Change) =>
    namesTaken(change).every((name) => {
      const holder = releasedBy.get(name)
      return holder === undefined || holder === change || !waiting.includes(holder)
    })
  while (waiting.length > 0)
    ordered.push(...waiting.splice(Math.max(waiting.findIndex(isFree), 0), 1))
  const first = kept.findIndex(isGate)
  return {
    kept: [
      ...kept.slice(0, Math.max(first, 0)),
      ...ordered,
      ...kept.slice(Math.max(first, 0)).filter((change) => !isGate(change)),
    ],
    deleted: deleted.filter((change) => !needed.includes(change)),
  }
}

function namesTaken({ action, body, before = {} }: Change): readonly string[] {
  if (action === 'delete') return []
  const had = action === 'update' ? namesOfGate(before) : []
  return namesOfGate({ ...before, ...body }).filter((name) => !had.includes(name))
}

function namesReleased({ action, body, before = {} }: Change): readonly string[] {
  if (action === 'create') return []
  const kept = action === 'update' ? namesOfGate({ ...before, ...body }) : []
  return namesOfGate(before).filter((name) => !kept.includes(name))
}
