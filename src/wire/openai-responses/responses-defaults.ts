/**
 * Writes a gate's defaults into a Responses request that is relayed. It must not know which
 * providers speak the dialect.
 */
import type { GateDefaults } from '../../core/gate.ts'
import { DefaultsEditor } from '../defaults-editor.ts'
import type { RelayTarget } from '../dialect.ts'
import type { JsonObject } from '../json-splice.ts'
import { checkFieldTypes } from '../request-fields.ts'

export function editResponsesDefaults(
  body: JsonObject,
  defaults: GateDefaults,
  { traits, takesEffort }: RelayTarget,
): DefaultsEditor {
  const editor = new DefaultsEditor(body)
  const { instructions, temperature, topP, maxOutputTokens, reasoningEffort } = defaults
  const sampling = traits.refusesSampling === true ? 'leaveOut' : 'set'
  editor[sampling]('temperature', temperature)
  editor[sampling]('top_p', topP)
  editor.set('max_output_tokens', maxOutputTokens)
  if (reasoningEffort !== undefined) {
    editor.setInside('reasoning', 'effort', takesEffort ? reasoningEffort : undefined)
    if (!takesEffort) editor.ignored.push('reasoning.effort')
  }
  if (instructions !== undefined) checkFieldTypes(body, { instructions: ['string'] })
  editor.prepend('instructions', instructions, () => ({}))
  return editor
}
