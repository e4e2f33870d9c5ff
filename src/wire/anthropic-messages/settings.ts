/** The settings of a Messages request, and how a gate's defaults are written into a request. */

import type { GateDefaults } from '../../core/gate.ts'
import type { RelayTarget } from '../dialect.ts'
import { DefaultsEditor, explicitIn, type ReadExplicit } from '../gate-defaults.ts'
import type { JsonObject } from '../json-splice.ts'
import { isRecord } from '../read-json.ts'
import { presentMember } from '../request-fields.ts'
import { list, number, own, type Settings, shapesOf, text } from '../settings.ts'
import { choice, listOf, object, type Shape } from '../unread.ts'
import { VendorIds } from '../vendor-ids.ts'

export const EFFORTS: Readonly<Record<string, string>> = {
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
  max: 'max',
}

const CACHED = { cache_control: object(['type', 'ttl']) }
const TEXT = object(['type', 'text'], CACHED)

const SOURCES = {
  base64: object(['type', 'media_type', 'data']),
  url: object(['type', 'url']),
}
const SOURCE = choice('type', SOURCES)

const IMAGE = object(['type'], { source: SOURCE, ...CACHED })

const DOCUMENT_SOURCE = choice('type', {
  ...SOURCES,
  text: object(['type', 'media_type', 'data']),
  content: object(['type'], { content: listOf(choice('type', { text: TEXT, image: IMAGE })) }),
})

const USER_BLOCKS = {
  text: TEXT,
  image: IMAGE,
  // The decoder reports the title of a document that becomes text.
  document: object(['type', 'title'], { source: DOCUMENT_SOURCE, ...CACHED }),
  search_result: object(['type', 'title', 'source'], { content: listOf(TEXT), ...CACHED }),
  tool_reference: object(['type', 'tool_name'], CACHED),
  browser_state: object(['type', 'tabs', 'state_changes'], CACHED),
}

const TOOL = object(['type', 'name', 'description', 'input_schema', 'strict'], CACHED)

export const MESSAGES_SETTINGS = {
  maxOutputTokens: number('max_tokens'),
  temperature: number('temperature', { most: 1 }),
  topP: number('top_p'),
  topK: number('top_k'),
  stop: list('stop_sequences'),
  tools: own('tools', {
    json: ['array'],
    // The decoder reports a tool of another type.
    shape: listOf(choice('type', { custom: TOOL }, TOOL)),
  }),
  toolChoice: own('tool_choice', {
    json: ['object'],
    shape: object(['type', 'name', 'disable_parallel_tool_use']),
  }),
  parallelToolCalls: own('tool_choice.disable_parallel_tool_use'),
  responseFormat: own('output_config.format', {
    shape: object(['effort'], { format: object(['type', 'schema']) }),
  }),
  reasoning: own('output_config.effort'),
  user: text('metadata.user_id', { shape: object(['user_id']) }),
  serviceTier: text('service_tier'),
} satisfies Settings

export const MESSAGES_SHAPES: Readonly<Record<string, Shape>> = {
  system: listOf(TEXT),
  messages: listOf(
    choice('role', {
      system: object(['role'], { content: listOf(TEXT) }),
      user: object(['role'], {
        content: listOf(
          choice('type', {
            ...USER_BLOCKS,
            tool_result: object(['type', 'tool_use_id', 'is_error'], {
              content: listOf(choice('type', USER_BLOCKS)),
              ...CACHED,
            }),
          }),
        ),
      }),
      assistant: object(['role'], {
        content: listOf(
          choice('type', {
            text: TEXT,
            thinking: object(['type', 'thinking', 'signature']),
            redacted_thinking: object(['type', 'data']),
            tool_use: object(['type', 'id', 'name', 'input'], CACHED),
          }),
        ),
      }),
    }),
  ),
  thinking: object(['type', 'budget_tokens', 'display']),
  ...shapesOf(MESSAGES_SETTINGS),
}

const readMembers = explicitIn(MESSAGES_SETTINGS)

/**
 * A thinking rule with a budget also counts as an effort; adaptive thinking leaves the effort open.
 */
export const readExplicitInMessages: ReadExplicit = (body, setting, decided) => {
  const explicit = readMembers(body, setting, decided)
  if (setting !== 'reasoningEffort') return explicit
  const value = thinkingOf(body)
  const agreeing = decided === 'none' ? 'disabled' : 'adaptive'
  return isRecord(value) && value.type !== agreeing
    ? [...explicit, { field: 'thinking', value }]
    : explicit
}

export function editMessagesDefaults(
  body: JsonObject,
  defaults: GateDefaults,
  target: RelayTarget,
): DefaultsEditor {
  const editor = new DefaultsEditor(body)
  const { instructions, temperature, topP, maxOutputTokens, reasoningEffort } = defaults
  const isThinking = reasoningEffort === undefined && isOn(thinkingOf(body))
  // A thinking model accepts no sampling settings either.
  const isRefused = target.traits.refusesSampling === true || isThinking
  editor.write(MESSAGES_SETTINGS.temperature, temperature, isRefused)
  if (!isRefused && clashes(body, defaults, target)) editor.leaveOut('top_p', true)
  else editor.write(MESSAGES_SETTINGS.topP, topP, isRefused)
  editor.set('max_tokens', maxOutputTokens)
  if (reasoningEffort !== undefined) editEffort(editor, body, { word: reasoningEffort, target })
  editor.prepend('system', instructions, () => ({ type: 'text', text: instructions }))
  return editor
}

/**
 * True when the model refuses the gate's member together with an existing member; `temperature`
 * stays.
 */
function clashes(
  body: JsonObject,
  { temperature, topP }: Pick<GateDefaults, 'temperature' | 'topP'>,
  { traits }: RelayTarget,
): boolean {
  if (traits.takesOneSampling !== true || (temperature === undefined && topP === undefined))
    return false
  const isSet = (value: number | undefined, key: string) =>
    value !== undefined || presentMember(body, key) !== undefined
  return isSet(temperature, 'temperature') && isSet(topP, 'top_p')
}

/** Only adaptive models take the effort as a word; `none` is expressed by omitting the effort. */
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

/** A document contains a file, or content with pictures that contain files. */
const OF_DOCUMENTS = ['source.file_id', 'source.content.source.file_id']

export const MESSAGES_IDS = new VendorIds({
  vendor: [
    'container',
    'container.id',
    // provider-name-ok: a value of the dialect
    { path: 'container.skills.skill_id', exceptType: 'anthropic' },
    'messages.content.file_id',
    ...OF_DOCUMENTS.map((path) => `messages.content.${path}`),
    // Results of tools, and of a web fetch.
    ...OF_DOCUMENTS.map((path) => `messages.content.content.${path}`),
    ...OF_DOCUMENTS.map((path) => `messages.content.content.content.${path}`),
    'diagnostics.previous_message_id',
  ],
  free: [
    'messages.content.id',
    'messages.content.tool_use_id',
    'messages.content.caller.tool_id',
    // Code output: the provider's own words, which clients send back.
    'messages.content.content.content.file_id',
    'messages.content.content.tool_references',
    // From the caller's own browser.
    'messages.content.content.state_changes.download_id',
    'messages.content.content.state_changes.tab_id',
    'messages.content.content.tabs.tab_id',
    'metadata.user_id',
    // SDKs send these as headers, which no list forwards (header-lists.ts).
    'user_profile_id',
    'workspace_id',
  ],
  // State in the account (`HostedMembers`).
  refused: ['thread.previous_message_id'],
})
