/**
 * Converts messages to Converse's turns of blocks: user and assistant alternate, results come
 * first.
 */
import { createHash } from 'node:crypto'
import { isSendable } from '../anthropic-messages/upstream-messages.ts'
import type {
  AssistantPart,
  AudioPart,
  CacheHint,
  ChatMessage,
  FilePart,
  ImagePart,
  JsonRecord,
  MediaSource,
  ReasoningPart,
  ToolResult,
  UserPart,
} from '../chat-request.ts'
import type { EncodeTarget, Feature } from '../codec.ts'
import { AlternatingTurns, leadWith, parseArguments, takesOnly } from '../codec-parts.ts'

export interface MessageRules {
  readonly target: EncodeTarget
  readonly sendsReasoning: boolean
  readonly ignored: Set<Feature>
}

interface Writing extends MessageRules {
  readonly names: DocumentNames
}

/** The format accepts instructions only at the front, so later instructions are moved there. */
export function encodeMessages(
  messages: readonly ChatMessage[],
  rules: MessageRules,
): { readonly system: JsonRecord[]; readonly messages: JsonRecord[] } {
  const writing: Writing = { ...rules, names: new DocumentNames() }
  const system: JsonRecord[] = []
  const turns = new AlternatingTurns()
  for (const message of messages) {
    if ('name' in message && message.name !== undefined) rules.ignored.add('message.name')
    switch (message.role) {
      case 'system':
        system.push(...message.content.flatMap((part) => encodeUserPart(part, writing)))
        break
      case 'user':
        turns
          .of('user')
          .blocks.push(
            ...withText(message.content.flatMap((part) => encodeUserPart(part, writing))),
          )
        break
      case 'assistant':
        turns.of('assistant').blocks.push(...encodeAssistantParts(message.content, writing))
        break
      case 'tool':
        turns.of('user').results.push(...encodeResult(message, writing))
    }
  }
  return { system, messages: turns.encode() }
}

/** The API refuses a document without text, and blank text. */
function withText(blocks: JsonRecord[]): JsonRecord[] {
  const hasDocument = blocks.some((block) => 'document' in block)
  return hasDocument && !blocks.some((block) => 'text' in block)
    ? [{ text: '.' }, ...blocks]
    : blocks
}

/** A cache point is a separate block after the cached content. */
export function encodeCachePoint(
  cache: CacheHint | undefined,
  { target, ignored }: MessageRules,
): JsonRecord[] {
  if (cache === undefined) return []
  if (target.traits.refuses?.includes('cachePoint') !== true)
    return [{ cachePoint: { type: 'default', ...cache } }]
  ignored.add('cache')
  return []
}

function encodeUserPart(part: UserPart, writing: Writing): JsonRecord[] {
  if (part.type === 'audio') return [encodeAudio(part)]
  return [...encodeContent(part, writing), ...encodeCachePoint(part.cache, writing)]
}

function encodeContent(
  part: Exclude<UserPart, { type: 'audio' }>,
  { names, ignored }: Writing,
): JsonRecord[] {
  switch (part.type) {
    case 'text':
      return encodeText(part.text)
    case 'image':
      if (part.detail !== undefined && part.detail !== 'auto') ignored.add('image.detail')
      return [encodeImage(part)]
    case 'file':
      return [encodeDocument(part, names)]
  }
}

/** The API refuses blank text. */
function encodeText(text: string): JsonRecord[] {
  return /\S/.test(text) ? [{ text }] : []
}

function encodeAssistantParts(parts: readonly AssistantPart[], writing: Writing): JsonRecord[] {
  const { target, sendsReasoning, ignored } = writing
  const blocks: JsonRecord[] = []
  for (const part of parts) {
    switch (part.type) {
      case 'reasoning':
        if (sendsReasoning && isSendable(part, target.sealOrigin))
          blocks.push(encodeReasoning(part))
        else if (part.seal !== undefined) ignored.add('seals')
        else if (part.text !== '') ignored.add('reasoningParts')
        break
      case 'text':
        blocks.push(...encodeText(part.text), ...encodeCachePoint(part.cache, writing))
        break
      case 'refusal':
        blocks.push(...encodeText(part.text))
        break
      case 'tool-call': {
        if (part.seal !== undefined) ignored.add('seals')
        const toolUseId = encodeToolId(part.id, target)
        blocks.push({
          toolUse: { toolUseId, name: part.name, input: parseArguments(part.arguments) },
        })
        blocks.push(...encodeCachePoint(part.cache, writing))
      }
    }
  }
  return target.traits.reasoning === 'budget' ? leadWith(blocks, 'reasoningContent') : blocks
}

function encodeReasoning({ text, seal }: ReasoningPart): JsonRecord {
  const value = seal?.value ?? ''
  return {
    reasoningContent:
      seal?.type === 'encrypted'
        ? { redactedContent: value }
        : { reasoningText: { text, signature: value } },
  }
}

function encodeResult(result: ToolResult, writing: Writing): JsonRecord[] {
  // A cache point cannot be inside a result.
  const hint = result.cache ?? result.content.findLast((part) => part.cache !== undefined)?.cache
  const toolResult = {
    toolUseId: encodeToolId(result.callId, writing.target),
    content: result.content.flatMap((part) => encodeContent(part, writing)),
    ...(result.isError === true ? { status: 'error' } : {}),
  }
  return [{ toolResult }, ...encodeCachePoint(hint, writing)]
}

const MAX_TOOL_ID_LENGTH = 64

/**
 * The API accepts letters, digits, `_` and `-`, at most 64; some models accept nine letters and
 * digits. Call and result are changed in the same way.
 */
function encodeToolId(id: string, { traits }: EncodeTarget): string {
  if (traits.shortToolIds === true) return /^[a-zA-Z0-9]{9}$/.test(id) ? id : digest(id).slice(0, 9)
  const cleaned = id.replace(/[^a-zA-Z0-9_-]/g, '_')
  return cleaned.length <= MAX_TOOL_ID_LENGTH ? cleaned : digest(id)
}

function digest(id: string): string {
  return createHash('sha256').update(id).digest('hex')
}

const IMAGE_FORMATS: Readonly<Record<string, string>> = {
  'image/gif': 'gif',
  'image/jpeg': 'jpeg',
  'image/jpg': 'jpeg',
  'image/png': 'png',
  'image/webp': 'webp',
}
const DOCUMENT_FORMATS: Readonly<Record<string, string>> = {
  'application/msword': 'doc',
  'application/pdf': 'pdf',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/markdown': 'md',
  'text/plain': 'txt',
}
const AUDIO_FORMATS = new Set([
  'aac',
  'flac',
  'm4a',
  'mp3',
  'mp4',
  'ogg',
  'opus',
  'pcm',
  'wav',
  'webm',
])

function encodeImage({ source }: ImagePart): JsonRecord {
  return { image: encodeSource(source, IMAGE_FORMATS, 'jpeg, png, gif or webp') }
}

function encodeDocument({ source, filename }: FilePart, names: DocumentNames): JsonRecord {
  const name = names.take(filename)
  return {
    document: {
      name,
      ...encodeSource(source, DOCUMENT_FORMATS, 'pdf, text or an office document'),
    },
  }
}

function encodeAudio({ base64, format }: AudioPart): JsonRecord {
  if (!AUDIO_FORMATS.has(format)) throw takesOnly(`no audio of the format ${format.slice(0, 40)}`)
  return { audio: { format, source: { bytes: base64 } } }
}

function encodeSource(
  source: MediaSource,
  formats: Readonly<Record<string, string>>,
  wanted: string,
): JsonRecord {
  if (source.type === 'url')
    throw takesOnly('no images or files by address: send their bytes as a data URL')
  const mediaType = source.mediaType.split(';')[0]?.trim().toLowerCase() ?? ''
  const format = formats[mediaType]
  if (format === undefined) throw takesOnly(`no ${mediaType.slice(0, 40)}: send ${wanted}`)
  return { format, source: { bytes: source.base64 } }
}

const MAX_NAME_LENGTH = 200

/** Names documents in the API's alphabet. The API refuses duplicate names. */
class DocumentNames {
  readonly #taken = new Set<string>()

  take(filename: string | undefined): string {
    const cleaned = (filename ?? '')
      .slice(0, MAX_NAME_LENGTH)
      .replace(/[^a-zA-Z0-9\s\-()[\]]/g, '-')
      .replace(/\s+/g, ' ')
      .trim()
    const base = cleaned === '' ? 'document' : cleaned
    let name = base
    for (let count = 2; this.#taken.has(name); count += 1)
      name = `${base.slice(0, MAX_NAME_LENGTH - 10)} (${count})`
    this.#taken.add(name)
    return name
  }
}
