/**
 * The place of a piece of reasoning in a Cohere message. Nothing in the format signs it, and the
 * model wants it back in a tool loop: a seal that says the place lets it travel through clients
 * that keep no reasoning. Pure.
 */
import type { ReasoningPart, Seal } from '../chat-request.ts'
import type { Feature } from '../codec.ts'

/**
 * `thinking`: an item of the content; `tool_plan`: what the model means to do with the calls beside
 * it.
 */
export type ReasoningPlace = 'thinking' | 'tool_plan'

export function sealPlace(place: ReasoningPlace): Seal {
  return { type: 'signature', value: place }
}

export interface ReturnRules {
  /** Only reasoning of this origin is known to be the provider's own. */
  readonly sealOrigin: string
  readonly ignored: Set<Feature>
}

/** @returns undefined, and notes so, for reasoning that has no place in this turn */
export function placeOf(
  { seal }: ReasoningPart,
  hasCalls: boolean,
  { sealOrigin, ignored }: ReturnRules,
): ReasoningPlace | undefined {
  const isForeign = seal !== undefined && (seal.origin ?? sealOrigin) !== sealOrigin
  if (isForeign || seal?.type === 'encrypted') {
    ignored.add('seals')
    return undefined
  }
  if (seal?.value === 'thinking') return 'thinking'
  if (hasCalls) return 'tool_plan'
  ignored.add('reasoningParts')
  return undefined
}
