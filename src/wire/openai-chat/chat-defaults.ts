/**
 * Writes a gate's defaults into a chat request that is relayed. It must not know which providers
 * speak the dialect.
 */
import type { GateDefaults } from '../../core/gate.ts'
import { DefaultsEditor } from '../defaults-editor.ts'
import type { RelayTarget } from '../dialect.ts'
import type { JsonObject } from '../json-splice.ts'

/** Newest first. */
const LIMITS = ['max_completion_tokens', 'max_tokens'] as const

export function editChatDefaults(
  body: JsonObject,
  defaults: GateDefaults,
  { traits, takesEffort }: RelayTarget,
): DefaultsEditor {
  const editor = new DefaultsEditor(body)
  const { instructions, temperature, topP, maxOutputTokens, reasoningEffort } = defaults
  const sampling = traits.refusesSampling === true ? 'leaveOut' : 'set'
  editor[sampling]('temperature', temperature)
  editor[sampling]('top_p', topP)
  if (maxOutputTokens !== undefined) {
    // The caller's own name for it, but where only the newer one works.
    const spoken = LIMITS.find((name) => editor.has(name)) ?? 'max_tokens'
    const name = traits.maxCompletionTokens === true ? 'max_completion_tokens' : spoken
    editor.set(name, maxOutputTokens)
    for (const other of LIMITS) if (other !== name && editor.has(other)) editor.remove(other)
  }
  editor[takesEffort ? 'set' : 'leaveOut']('reasoning_effort', reasoningEffort)
  editor.prepend('messages', instructions, (first) => ({
    role: roleBefore(first),
    content: instructions,
  }))
  return editor
}

/**
 * OpenAI does not take both names of the role in one request
 * (https://platform.openai.com/docs/guides/reasoning).
 */
function roleBefore(first: JsonObject | undefined): string {
  const role = first?.get('role')
  return first !== undefined && role !== undefined && first.value(role) === 'developer'
    ? 'developer'
    : 'system'
}
