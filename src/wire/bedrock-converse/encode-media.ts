/**
 * Images, documents and sound as Converse's blocks: bytes only, each with a format from the
 * interface's own list. Pure.
 */
import type { AudioPart, FilePart, ImagePart, JsonRecord, MediaSource } from '../chat-request.ts'
import { takesOnly } from '../encoder-parts.ts'

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

/** @throws GatewayError `invalid_request`, as do all of the below */
export function encodeImage({ source }: ImagePart): JsonRecord {
  return { image: encodeSource(source, IMAGE_FORMATS, 'jpeg, png, gif or webp') }
}

export function encodeDocument({ source, filename }: FilePart, names: DocumentNames): JsonRecord {
  const name = names.take(filename)
  return {
    document: {
      name,
      ...encodeSource(source, DOCUMENT_FORMATS, 'pdf, text or an office document'),
    },
  }
}

export function encodeAudio({ base64, format }: AudioPart): JsonRecord {
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

/** Names documents in the interface's alphabet, each once: two of the same name are refused. */
export class DocumentNames {
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
