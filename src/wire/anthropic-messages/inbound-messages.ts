import type {
  AssistantPart,
  ChatMessage,
  FilePart,
  ImagePart,
  JsonRecord,
  MediaSource,
  Seal,
  TextPart,
  UserPart,
} from '../chat-request.ts'
import { decodeCacheHint } from '../codec-parts.ts'
import {
  type At,
  asList,
  asRecord,
  asText,
  invalidAt,
  member,
  optionalFlag,
  optionalText,
  present,
} from '../read-json.ts'
import { readSeal, readSealedReasoning, readToolId } from '../seal-carrier.ts'
import type { NameList } from '../unread.ts'

export function decodeTurns(messages: At, ignored: NameList): ChatMessage[] {
  return asList(messages).flatMap((entry): ChatMessage[] => {
    const message = asRecord(entry)
    const role = member(message, 'role')
    const content = member(message, 'content')
    switch (asText(role)) {
      case 'user':
        return decodeUserTurn(content, ignored)
      case 'assistant':
        return [
          {
            role: 'assistant',
            content: toOwnOrder(
              blocksOf(content).flatMap((block) => decodeAssistantBlock(block, ignored)),
            ),
          },
        ]
      case 'system':
        return [{ role: 'system', content: blocksOf(content).map(decodeText) }]
      default:
        throw invalidAt(role, "must be 'user' or 'assistant'.")
    }
  })
}

export function blocksOf(content: At): At<JsonRecord>[] {
  if (typeof content.value === 'string') {
    return [{ value: { type: 'text', text: content.value }, path: content.path }]
  }
  return asList(content).map(asRecord)
}

/** Tool results become separate messages, before the user's own text. */
function decodeUserTurn(content: At, ignored: NameList): ChatMessage[] {
  const results: ChatMessage[] = []
  const parts: UserPart[] = []
  for (const block of blocksOf(content)) {
    if (member(block, 'type').value === 'tool_result') results.push(decodeResult(block, ignored))
    else parts.push(...decodeUserBlock(block, ignored))
  }
  return parts.length === 0 ? results : [...results, { role: 'user', content: parts }]
}

function decodeResult(block: At<JsonRecord>, ignored: NameList): ChatMessage {
  const content = member(block, 'content')
  const blocks = content.value === undefined ? [] : blocksOf(content)
  const isError = optionalFlag(member(block, 'is_error'))
  return {
    role: 'tool',
    callId: readToolId(asText(member(block, 'tool_use_id'))).id,
    content: decodeResultParts(blocks, ignored),
    ...present({ isError }),
    ...decodeCacheHint(block),
  }
}

/** A result whose parts are all lost would read as an empty result, so it is refused. */
function decodeResultParts(
  blocks: readonly At<JsonRecord>[],
  ignored: NameList,
): (TextPart | ImagePart | FilePart)[] {
  const parts = blocks.flatMap((block) => decodeUserBlock(block, ignored))
  const lost = parts.length > 0 ? undefined : blocks.find((block) => !isKnown(block))
  if (lost === undefined) return parts
  throw invalidAt(
    member(lost, 'type'),
    'is not supported by the target of this gate, and the tool result contains nothing else.',
  )
}

const KINDS = new Set([
  ...['text', 'image', 'document', 'search_result', 'tool_reference', 'browser_state'],
])

function isKnown(block: At<JsonRecord>): boolean {
  const { value } = member(block, 'type')
  return typeof value === 'string' && KINDS.has(value)
}

export function decodeText(block: At<JsonRecord>): TextPart {
  return { type: 'text', text: asText(member(block, 'text')), ...decodeCacheHint(block) }
}

function decodeUserBlock(
  block: At<JsonRecord>,
  ignored: NameList,
): (TextPart | ImagePart | FilePart)[] {
  const type = asText(member(block, 'type'))
  switch (type) {
    case 'text':
      return [decodeText(block)]
    case 'image':
      return [
        { type: 'image', source: decodeSource(member(block, 'source')), ...decodeCacheHint(block) },
      ]
    case 'document':
      return decodeDocument(block, ignored)
    case 'search_result':
      return [decodeSearchResult(block)]
    // Translations defer no tools, so the request lists the tool.
    case 'tool_reference':
      return [{ type: 'text', text: asText(member(block, 'tool_name')), ...decodeCacheHint(block) }]
    case 'browser_state':
      return [{ type: 'text', text: writeBrowserState(block), ...decodeCacheHint(block) }]
    default:
      ignored.addKind(block.path, type)
      return []
  }
}

function decodeDocument(
  block: At<JsonRecord>,
  ignored: NameList,
): (TextPart | ImagePart | FilePart)[] {
  const source = asRecord(member(block, 'source'))
  const type = member(source, 'type').value
  const filename = optionalText(member(block, 'title'))
  if (type === 'text' || type === 'content') {
    if (filename !== undefined && filename !== '') ignored.add(`${block.path}.title`)
    if (type === 'content')
      return blocksOf(member(source, 'content')).flatMap((part) => decodeUserBlock(part, ignored))
    return [{ type: 'text', text: asText(member(source, 'data')), ...decodeCacheHint(block) }]
  }
  return [
    {
      type: 'file',
      source: decodeSource(member(block, 'source')),
      ...present({ filename }),
      ...decodeCacheHint(block),
    },
  ]
}

function decodeSearchResult(block: At<JsonRecord>): TextPart {
  const texts = blocksOf(member(block, 'content')).map((part) => decodeText(part).text)
  const lines = [asText(member(block, 'title')), asText(member(block, 'source')), ...texts]
  return { type: 'text', text: lines.join('\n'), ...decodeCacheHint(block) }
}

/** Anthropic writes a browser's state as text for the model; other providers get JSON. */
function writeBrowserState(block: At<JsonRecord>): string {
  const { tabs, state_changes: changes } = block.value
  return JSON.stringify(present({ tabs, state_changes: changes ?? undefined }))
}

function decodeSource(at: At): MediaSource {
  const source = asRecord(at)
  const type = member(source, 'type')
  switch (asText(type)) {
    case 'base64':
      return {
        type: 'data',
        mediaType: asText(member(source, 'media_type')),
        base64: asText(member(source, 'data')),
      }
    case 'url':
      return { type: 'url', url: asHttpAddress(member(source, 'url')) }
    default:
      throw invalidAt(
        type,
        "must be 'base64' or 'url': files stored at a provider cannot be used through a gate.",
      )
  }
}

/**
 * A provider gives other addresses a meaning: it reads a bucket, for example, with the rights of
 * the paying account
 * (https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference#filedata).
 */
function asHttpAddress(at: At): string {
  const text = asText(at)
  if (!/^https?:\/\//i.test(text)) throw invalidAt(at, 'must be an http(s) address.')
  return text
}

/** Reasoning that was moved before a text goes back behind the text. */
function toOwnOrder(parts: readonly AssistantPart[]): AssistantPart[] {
  const ordered: AssistantPart[] = []
  let moved: AssistantPart[] = []
  for (const part of parts) {
    if (part.type === 'reasoning' && part.textBefore !== undefined) {
      const { textBefore: _, ...rest } = part
      moved.push(rest)
      continue
    }
    ordered.push(part)
    if (part.type !== 'text') continue
    ordered.push(...moved)
    moved = []
  }
  return [...ordered, ...moved]
}

function decodeAssistantBlock(block: At<JsonRecord>, ignored: NameList): AssistantPart[] {
  const type = asText(member(block, 'type'))
  switch (type) {
    case 'text':
      return [decodeText(block)]
    case 'thinking': {
      const seal = toSeal(optionalText(member(block, 'signature')), 'signature')
      return [{ type: 'reasoning', text: asText(member(block, 'thinking')), ...present({ seal }) }]
    }
    case 'redacted_thinking': {
      const data = asText(member(block, 'data'))
      const sealed = readSealedReasoning(data) ?? present({ seal: toSeal(data, 'encrypted') })
      return [{ type: 'reasoning', text: '', ...sealed }]
    }
    case 'tool_use': {
      const { id, sealed } = readToolId(asText(member(block, 'id')))
      const call = {
        type: 'tool-call' as const,
        id,
        name: asText(member(block, 'name')),
        arguments: JSON.stringify(asRecord(member(block, 'input')).value),
      }
      return [{ ...call, ...present({ seal: sealed.seal }), ...decodeCacheHint(block) }]
    }
    default:
      ignored.addKind(block.path, type)
      return []
  }
}

/**
 * The gateway's own seal names its origin; any other seal came unchanged from an upstream of this
 * dialect.
 */
function toSeal(text: string | undefined, type: Seal['type']): Seal | undefined {
  if (text === undefined || text === '') return undefined
  return readSeal(text) ?? { type, value: text, origin: 'anthropic-messages' }
}
