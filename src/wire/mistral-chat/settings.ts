/**
 * The settings of Mistral's chat and fill-in-the-middle (https://docs.mistral.ai/api/), and how a
 * gate's defaults are written into relayed requests.
 */
import type { GateDefaults } from '../../core/gate.ts'
import type { RelayTarget } from '../dialect.ts'
import { DefaultsEditor } from '../gate-defaults.ts'
import type { JsonObject } from '../json-splice.ts'
import { number, own, record, type Settings, text, texts } from '../settings.ts'

const TEMPERATURE = number('temperature', { most: 1.5 })

export const MISTRAL_SETTINGS = {
  maxOutputTokens: number('max_tokens'),
  temperature: TEMPERATURE,
  topP: number('top_p'),
  stop: texts('stop'),
  seed: own('random_seed'),
  presencePenalty: number('presence_penalty'),
  frequencyPenalty: number('frequency_penalty'),
  tools: own('tools', { json: ['array'] }),
  toolChoice: own('tool_choice'),
  parallelToolCalls: own('parallel_tool_calls'),
  responseFormat: own('response_format'),
  reasoning: own('reasoning_effort'),
  metadata: record('metadata'),
  promptCacheKey: text('prompt_cache_key'),
} satisfies Settings

export const EFFORTS: Readonly<Record<string, string>> = {
  none: 'none',
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
  max: 'xhigh',
}

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

/** Completions have no instructions, and code completion models take no effort. */
export function editMistralFimDefaults(body: JsonObject, defaults: GateDefaults): DefaultsEditor {
  const editor = editMistralSampling(body, defaults)
  if (defaults.instructions !== undefined) editor.ignored.push('instructions')
  // The caller's own effort is not forwarded either, and is reported already.
  if (defaults.reasoningEffort !== undefined && !editor.has('reasoning_effort'))
    editor.ignored.push('reasoning_effort')
  return editor
}

function editMistralSampling(
  body: JsonObject,
  { temperature, topP, maxOutputTokens }: GateDefaults,
) {
  const editor = new DefaultsEditor(body)
  editor.write(TEMPERATURE, temperature)
  editor.write(MISTRAL_SETTINGS.topP, topP)
  editor.set('max_tokens', maxOutputTokens)
  return editor
}

export const FIM_SETTINGS = {
  maxOutputTokens: number('max_tokens'),
  temperature: TEMPERATURE,
  topP: number('top_p'),
  seed: number('random_seed'),
  stop: texts('stop'),
  metadata: own('metadata', { json: ['object'] }),
  promptCacheKey: own('prompt_cache_key'),
} satisfies Settings
