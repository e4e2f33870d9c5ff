/**
 * The parts that Mistral's dialects share: a whitelist going up, chat-shaped answers coming down.
 */

import type { GateDefaults } from '../../core/gate.ts'
import type { DefaultsEditor } from '../defaults-editor.ts'
import type { AcceptedRequest, RelayedDialect, RelayRequest, RelayTarget } from '../dialect.ts'
import { spokenIn } from '../gate-defaults.ts'
import { MISTRAL_HEADERS } from '../header-lists.ts'
import { editJson, type JsonEdit, type JsonObject } from '../json-splice.ts'
import { isChatAnswer } from '../openai-chat/index.ts'
import { ChatTap } from '../openai-chat/tap.ts'
import { readChatCounts } from '../openai-chat/usage.ts'
import { editModel, readFlag, readGate } from '../request-fields.ts'
import { readUsage } from '../usage.ts'
import { MISTRAL_SETTINGS } from './settings.ts'

export function mistralShaped(options: {
  /** Names of the fields that go upstream; every other one is left out and named to the caller. */
  readonly forwarded: ReadonlySet<string>
  /** Writes a gate's defaults. */
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
        // Null is no flag, and refused.
        const isNoFlag = member.key === 'stream' && body.type(member) === 'null'
        if (isLeftOut || isNoFlag) edits.push({ type: 'remove', member })
      }
      return {
        body: editJson(body, edits),
        hidesUsage: false,
        ignored: written?.ignored,
      }
    },
    readSpoken: spokenIn(MISTRAL_SETTINGS),
    isAnswer: isChatAnswer,
    readUsage: ({ usage, service_tier }) => readUsage(readChatCounts, usage, service_tier),
    createTap: () => new ChatTap(SHOWN),
    encodeFailedStream: (error) => new ChatTap(SHOWN).encodeFailure(error),
  }
}

const SHOWN = { hidesUsage: false, envelope: 'flat' } as const
