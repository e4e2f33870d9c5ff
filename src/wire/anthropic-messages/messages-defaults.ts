/**
 * A gate's defaults in Messages requests: where callers speak of them, and how they are written
 * into relayed bodies.
 */
import type { GateDefaults } from '../../core/gate.ts'
import { DefaultsEditor } from '../defaults-editor.ts'
import type { RelayTarget } from '../dialect.ts'
import { type ReadSpoken, spokenAt } from '../gate-defaults.ts'
import type { JsonObject } from '../json-splice.ts'
import { isRecord } from '../read-json.ts'
import { presentMember } from '../request-fields.ts'
import { EFFORTS } from './plan-thinking.ts'

/** The scale ends there. */
const MAX_TEMPERATURE = 1

const readMembers = spokenAt({
  temperature: ['temperature'],
  topP: ['top_p'],
  maxOutputTokens: ['max_tokens'],
  reasoningEffort: ['output_config.effort'],
})

/**
 * A rule for thinking and its budget speaks of the effort too; adaptive thinking leaves open
 * how much.
 */
export const readMessagesSpoken: ReadSpoken = (body, setting, decided) => {
  const spoken = readMembers(body, setting, decided)
  if (setting !== 'reasoningEffort') return spoken
  const value = thinkingOf(body)
  const agreeing = decided === 'none' ? 'disabled' : 'adaptive'
  return isRecord(value) && value.type !== agreeing
    ? [...spoken, { field: 'thinking', value }]
    : spoken
}

export function editMessagesDefaults(
  body: JsonObject,
  defaults: GateDefaults,
  target: RelayTarget,
): DefaultsEditor {
  const editor = new DefaultsEditor(body)
  const { instructions, temperature, topP, maxOutputTokens, reasoningEffort } = defaults
  const isThinking = reasoningEffort === undefined && isOn(thinkingOf(body))
  // A model that thinks takes no sampling settings either.
  const sampling = target.traits.refusesSampling === true || isThinking ? 'leaveOut' : 'set'
  editor[sampling](
    'temperature',
    temperature === undefined ? undefined : Math.min(MAX_TEMPERATURE, temperature),
  )
  if (sampling === 'set' && temperature !== undefined && temperature > MAX_TEMPERATURE)
    editor.ignored.push('temperature')
  if (sampling === 'set' && clashes(body, defaults, target)) editor.leaveOut('top_p', true)
  else editor[sampling]('top_p', topP)
  editor.set('max_tokens', maxOutputTokens)
  if (reasoningEffort !== undefined) editEffort(editor, body, { word: reasoningEffort, target })
  editor.prepend('system', instructions, () => ({ type: 'text', text: instructions }))
  return editor
}

/**
 * True where the gate would write something beside a member with which the model refuses it;
 * `temperature` stays.
 */
function clashes(
  body: JsonObject,
  { temperature, topP }: Pick<GateDefaults, 'temperature' | 'topP'>,
  { traits }: RelayTarget,
): boolean {
  if (traits.takesOneSampling !== true || (temperature === undefined && topP === undefined))
    return false
  const isSaid = (value: number | undefined, key: string) =>
    value !== undefined || presentMember(body, key) !== undefined
  return isSaid(temperature, 'temperature') && isSaid(topP, 'top_p')
}

/**
 * Only a model that decides itself how much to think is asked by a word; `none` is to say nothing.
 */
function editEffort(
  editor: DefaultsEditor,
  body: JsonObject,
  { word, target }: { readonly word: string; readonly target: RelayTarget },
): void {
  const takesWord = target.traits.reasoning === 'adaptive'
  const effort = takesWord ? EFFORTS[word] : undefined
  editor.setInside('output_config', 'effort', effort)
  if (!takesWord && word !== 'none') editor.ignored.push('output_config.effort')
  const thinking = thinkingOf(body)
  if (!isRecord(thinking) || thinking.type === (word === 'none' ? 'disabled' : 'adaptive')) return
  if (effort === undefined) editor.remove('thinking')
  else editor.set('thinking', { type: 'adaptive' })
}

function thinkingOf(body: JsonObject): unknown {
  const member = presentMember(body, 'thinking')
  return member === undefined ? undefined : body.value(member)
}

function isOn(thinking: unknown): boolean {
  return isRecord(thinking) && thinking.type !== 'disabled'
}
