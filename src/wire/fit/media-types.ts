/**
 * Spells media types as registered, because vendors compare them with a list. The bytes are the
 * same, so every model gets the registered spelling.
 */
import type {
  AssistantPart,
  ChatMessage,
  MediaSource,
  ToolResultPart,
  UserPart,
} from '../chat-request.ts'
import type { Changes } from './changes.ts'

/** https://www.iana.org/assignments/media-types (2026-11). */
const REGISTERED: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/jfif': 'image/jpeg',
  'image/x-png': 'image/png',
  'image/x-webp': 'image/webp',
  'application/x-pdf': 'application/pdf',
  'application/acrobat': 'application/pdf',
  'application/csv': 'text/csv',
  'text/x-csv': 'text/csv',
  'text/x-markdown': 'text/markdown',
  'text/xml': 'application/xml',
  'text/json': 'application/json',
}

/** @returns the given messages when every spelling is registered */
export function fitMediaTypes(
  messages: readonly ChatMessage[],
  { adapted }: Pick<Changes, 'adapted'>,
): readonly ChatMessage[] {
  if (!messages.some(({ content }) => content.some(isMisspelled))) return messages
  return messages.map((message) => {
    if (message.role !== 'user' && message.role !== 'tool') return message
    for (const part of message.content)
      if (isMisspelled(part)) adapted.add(part.type === 'image' ? 'images' : 'files')
    return { ...message, content: message.content.map(withRegistered) } as ChatMessage
  })
}

function registeredType(mediaType: string): string {
  const [type = ''] = mediaType.split(';', 1)
  const plain = type.trim().toLowerCase()
  const registered = REGISTERED[plain] ?? plain
  // Parameters of a text, such as its charset, stay.
  return plain === registered && !plain.startsWith('image/') && type === plain
    ? mediaType
    : registered
}

type Part = UserPart | AssistantPart | ToolResultPart

function isMisspelled(part: Part): boolean {
  if (part.type !== 'image' && part.type !== 'file') return false
  const { source } = part
  return source.type === 'data' && registeredType(source.mediaType) !== source.mediaType
}

function withRegistered<Given extends Part>(part: Given): Given {
  if (part.type !== 'image' && part.type !== 'file') return part
  const source: MediaSource = part.source
  if (source.type !== 'data') return part
  return { ...part, source: { ...source, mediaType: registeredType(source.mediaType) } }
}
