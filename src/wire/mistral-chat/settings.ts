/** Writes a gate's defaults into requests of Mistral's dialects that are relayed. */
import type { GateDefaults } from '../../core/gate.ts'
import { DefaultsEditor } from '../defaults-editor.ts'
import type { RelayTarget } from '../dialect.ts'
import type { JsonObject } from '../json-splice.ts'
import { EFFORTS, MAX_TEMPERATURE } from './request.ts'

export function editMistralChatDefaults(
  body: JsonObject,
  defaults: GateDefaults,
  { traits }: RelayTarget,
): DefaultsEditor {
  const editor = editMistralSampling(body, defaults)
  const { instructions, reasoningEffort } = defaults
  if (traits.reasoning === 'effort') editor.set('reasoning_effort', EFFORTS[reasoningEffort ?? ''])
  else editor.leaveOut('reasoning_effort', reasoningEffort)
  editor.prepend('messages', instructions, () => ({ role: 'system', content: instructions }))
  return editor
}

/**
 * A completion has no place for instructions, and nothing that completes code is asked how much to
 * think.
 */
export function editMistralFimDefaults(body: JsonObject, defaults: GateDefaults): DefaultsEditor {
  const editor = editMistralSampling(body, defaults)
  if (defaults.instructions !== undefined) editor.ignored.push('instructions')
  // The caller's own is not forwarded either, and named already.
  if (defaults.reasoningEffort !== undefined && !editor.has('reasoning_effort'))
    editor.ignored.push('reasoning_effort')
  return editor
}

function editMistralSampling(
  body: JsonObject,
  { temperature, topP, maxOutputTokens }: GateDefaults,
) {
  const editor = new DefaultsEditor(body)
  if (temperature !== undefined) editor.set('temperature', Math.min(MAX_TEMPERATURE, temperature))
  if (temperature !== undefined && temperature > MAX_TEMPERATURE) editor.ignored.push('temperature')
  editor.set('top_p', topP)
  editor.set('max_tokens', maxOutputTokens)
  return editor
}
