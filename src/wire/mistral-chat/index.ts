/**
 * Mistral's chat completion, and what fill-in-the-middle shares with it: a whitelist of request
 * members and chat-shaped answers. Pitfalls are in README.md.
 */
import type { GateDefaults } from '../../core/gate.ts'
import type { UpstreamCodec } from '../codec.ts'
import type { AcceptedRequest, RelayedDialect, RelayRequest, RelayTarget } from '../dialect.ts'
import { type DefaultsEditor, explicitIn } from '../gate-defaults.ts'
import { MISTRAL_HEADERS } from '../header-lists.ts'
import { editJson, type JsonEdit, type JsonObject } from '../json-splice.ts'
import { isChatAnswer } from '../openai-chat/index.ts'
import { CHAT_IDS } from '../openai-chat/settings.ts'
import { ChatTap } from '../openai-chat/tap.ts'
import { decodeUpstreamAnswer, type ReasoningSeals } from '../openai-chat/upstream-answer.ts'
import { UpstreamChatDecoder } from '../openai-chat/upstream-events.ts'
import { readChatCounts } from '../openai-chat/usage.ts'
import { checkFieldTypes, editModel, readFlag, readGate, requireField } from '../request-fields.ts'
import { membersOf, typesOf } from '../settings.ts'
import { readUsage } from '../usage.ts'
import { encodeMistralRequest, TAKEN, UNSIGNED } from './request.ts'
import { editMistralChatDefaults, MISTRAL_SETTINGS } from './settings.ts'

export function mistralShaped(options: {
  /** Other fields of a request are omitted and reported to the caller. */
  readonly forwarded: ReadonlySet<string>
  readonly editDefaults: (
    body: JsonObject,
    defaults: GateDefaults,
    target: RelayTarget,
  ) => Pick<DefaultsEditor, 'edits' | 'ignored'>
}): Omit<RelayedDialect, 'id' | 'envelope'> {
  const { forwarded, editDefaults } = options
  return {
    headers: MISTRAL_HEADERS,
    accept(body: JsonObject): AcceptedRequest {
      const gate = readGate(body)
      const leftOut = body.members
        .map((member) => member.key)
        .filter((key) => key !== 'gate_id' && !forwarded.has(key))
      return {
        body,
        gateId: gate.gateId,
        stream: readFlag(body, 'stream'),
        ignored: [...gate.ignored, ...leftOut],
      }
    },
    rewrite(request: AcceptedRequest, target: RelayTarget): RelayRequest {
      const { body, defaults } = request
      const written = defaults === undefined ? undefined : editDefaults(body, defaults, target)
      const edits: JsonEdit[] = editModel(body, target.model)
      if (written !== undefined) edits.unshift(...written.edits)
      for (const member of body.members) {
        const isLeftOut = member.key !== 'gate_id' && !forwarded.has(member.key)
        // Mistral refuses null as a flag.
        const isNoFlag = member.key === 'stream' && body.type(member) === 'null'
        if (isLeftOut || isNoFlag) edits.push({ type: 'remove', member })
      }
      return {
        body: editJson(body, edits),
        hidesUsage: false,
        ignored: written?.ignored,
      }
    },
    readExplicit: explicitIn(MISTRAL_SETTINGS),
    isAnswer: isChatAnswer,
    readUsage: ({ usage, service_tier }) => readUsage(readChatCounts, usage, service_tier),
    createTap: () => new ChatTap(SHOWN),
    encodeFailedStream: (error) => new ChatTap(SHOWN).encodeFailure(error),
  }
}

const SHOWN = { hidesUsage: false, envelope: 'flat' } as const

const FORWARDED = new Set([
  ...['model', 'messages', 'stream', ...membersOf(MISTRAL_SETTINGS)],
  ...['n', 'prediction', 'prompt_mode', 'guardrails', 'service_tier', 'safe_prompt'],
])

const shape = mistralShaped({ forwarded: FORWARDED, editDefaults: editMistralChatDefaults })

export const mistralChat: RelayedDialect = {
  id: 'mistral-chat',
  envelope: 'alt',
  vendorIds: CHAT_IDS,
  ...shape,
  accept,
}

function accept(body: JsonObject): AcceptedRequest {
  checkFieldTypes(body, {
    messages: ['array'],
    stream: ['boolean'],
    ...typesOf(MISTRAL_SETTINGS, ['tools', 'maxOutputTokens']),
  })
  requireField(body, 'messages')
  return shape.accept(body)
}

export const mistralChatUpstreamCodec: UpstreamCodec = {
  form: 'chat',
  takes: { 'openai-chat': TAKEN },
  encodeRequest: encodeMistralRequest,
  decodeAnswer: (body) => decodeUpstreamAnswer(body, SEALS),
  createEventDecoder: () => new UpstreamChatDecoder(SEALS),
}

/** Most thinking is unsigned, but the model still needs its thinking back. */
const SEALS: ReasoningSeals = {
  sealThinking: (signature = UNSIGNED) => ({ type: 'signature', value: signature }),
}
