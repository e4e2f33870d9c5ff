/**
 * How often a call used tools that a vendor runs and charges for by the use, in the gateway's own
 * terms. Knows no dialect and no fee.
 */
export const COUNTED_TOOLS = [
  'webSearch',
  'fileSearch',
  'codeInterpreter',
  'imageGeneration',
] as const

/** A kind whose uses an answer shows, in the dialects that show any. */
export type CountedTool = (typeof COUNTED_TOOLS)[number]

/** `otherTool`: no answer shows its uses, so a call that offers such tools has one use of them. */
export const TOOL_KINDS = [...COUNTED_TOOLS, 'otherTool'] as const

export type ToolKind = (typeof TOOL_KINDS)[number]

/** A kind that is absent was not used. */
export type ToolUses = { readonly [Kind in ToolKind]?: number }

/** US dollars for a million uses; a kind that is absent has no known fee. */
export type ToolFees = { readonly [Kind in ToolKind]?: number }

export const NO_USES: ToolUses = {}

/**
 * More uses than any call has. An upstream may report or send what it likes, and the sums of all
 * calls must fit into the store's 63 bits.
 */
export const MAX_USES_OF_CALL = 100_000
