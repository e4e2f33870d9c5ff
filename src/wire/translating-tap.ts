/**
 * A stream that is translated on its way: the upstream's bytes in, events of the caller's dialect
 * out. Owns the order of the end: what ends the answer waits for the ledger. It must not know which
 * two dialects.
 */
import { GatewayError } from '../core/errors.ts'
import type { Usage } from '../core/usage.ts'
import type { ChatEvent } from './chat-answer.ts'
import type { EventEncoder, StreamDecoder } from './codec.ts'
import { sealedTextBytes } from './delta-bytes.ts'
import type { StreamTap, TapOutput, TapVerdict } from './dialect.ts'
import { utf8ToLatin1 } from './latin1.ts'
import { BlockSerialiser } from './serialise-blocks.ts'
import { LostComments } from './unread-parts.ts'

const NOTHING = new Uint8Array(0)

export class TranslatingTap implements StreamTap {
  readonly #decoder: StreamDecoder
  readonly #encoder: EventEncoder
  readonly #blocks = new BlockSerialiser()
  readonly #lost: LostComments
  verdict: TapVerdict = 'open'
  /** Told by an event. */
  #told: Usage | null = null
  #soFar: Usage | null = null
  unreportedBytes = 0
  isEmpty = true
  reportedError: string | null = null
  reportedKind: string | undefined
  model: string | undefined
  #hasShown = false

  /** @param showsImages the caller's dialect has a place for images in answers */
  constructor(decoder: StreamDecoder, encoder: EventEncoder, showsImages = false) {
    this.#decoder = decoder
    this.#encoder = encoder
    this.#lost = new LostComments(showsImages)
  }

  get usage(): Usage | null {
    return this.#told ?? this.#soFar
  }

  push(chunk: Uint8Array, from = 0, to = chunk.length): TapOutput {
    const isAll = from === 0 && to === chunk.length
    return this.#relay(this.#decoder.push(isAll ? chunk : chunk.subarray(from, to)))
  }

  end(): TapOutput {
    return this.#relay(this.#decoder.end())
  }

  /**
   * The end of the answer is held back until the upstream says that it is complete: without that,
   * the answer was cut off.
   */
  isWholeAtEnd(): boolean {
    return false
  }

  encodeFailure(error: GatewayError): Uint8Array {
    return this.verdict === 'failed' ? NOTHING : Buffer.from(this.#encoder.encodeFailure(error))
  }

  #relay(events: readonly ChatEvent[]): TapOutput {
    let comments = ''
    let text = ''
    for (const event of events) {
      if (this.verdict !== 'open') break
      const lost = this.#lost.read(event)
      if (lost !== undefined) {
        // Nothing of a lost part reaches the client, but an image is an answer all the same.
        if (event.type === 'image') this.isEmpty = false
        comments += lost
        continue
      }
      if (event.type !== 'finish') this.isEmpty = false
      if (event.type === 'start') this.model ??= event.model
      if (event.type === 'usage') {
        this.#told = event.usage
        // The report that was seen before says nothing of the text since then.
        if (event.usage !== this.#soFar) this.unreportedBytes = 0
      } else this.unreportedBytes += textBytesOf(event)
      text += event.type === 'error' ? this.#fail(event) : this.#encode(event)
    }
    const { usageSoFar = null } = this.#decoder
    if (usageSoFar !== this.#soFar) {
      this.#soFar = usageSoFar
      this.unreportedBytes = 0
    }
    if (text !== '') this.#hasShown = true
    const now = utf8ToLatin1(comments + text)
    if (this.verdict !== 'open' || !this.#decoder.isComplete()) return { now, held: '' }
    this.verdict = 'complete'
    return { now, held: utf8ToLatin1(this.#encoder.end()) }
  }

  #encode(event: ChatEvent): string {
    let text = ''
    for (const each of this.#blocks.push(event))
      text += each.type === 'error' ? this.#fail(each) : this.#encoder.push(each)
    return text
  }

  /**
   * Before anything was shown an HTTP status can still tell it; after that, the stream itself has
   * to.
   */
  #fail({ message, code }: Extract<ChatEvent, { type: 'error' }>): string {
    this.verdict = 'failed'
    if (!this.#hasShown) {
      this.reportedError = message
      this.reportedKind = code
      return ''
    }
    return this.#encoder.encodeFailure(new GatewayError('upstream_error', message))
  }
}

/** The text that the model wrote in it. */
function textBytesOf(event: ChatEvent): number {
  switch (event.type) {
    case 'text-delta':
    case 'refusal-delta':
    case 'reasoning-delta':
      return Buffer.byteLength(event.text)
    case 'reasoning-end':
      return event.seal?.type === 'encrypted' ? sealedTextBytes(event.seal.value.length) : 0
    case 'tool-call-start':
      return Buffer.byteLength(event.name)
    case 'tool-call-delta':
      return Buffer.byteLength(event.arguments)
    default:
      return 0
  }
}
