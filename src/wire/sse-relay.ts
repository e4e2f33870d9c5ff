/**
 * The work that is alike in every tap: cut a stream into whole events, pass them on, hold the last.
 * Knows no dialect's events.
 */
import type { TapOutput, TapVerdict } from './dialect.ts'
import { type SseFrame, SseFramer } from './sse.ts'

const NOTHING = new Uint8Array(0)

/**
 * A dialect's judgement of one event. `bytes` replaces the event's own; empty: the event is not
 * shown.
 */
export interface SeenFrame {
  readonly bytes: Uint8Array
  readonly isTerminal: boolean
}

export abstract class SseRelay {
  readonly #framer = new SseFramer()
  verdict: TapVerdict = 'open'
  unreportedBytes = 0

  /** Looks at one event that is not yet past the end of the answer. */
  protected abstract see(frame: SseFrame): SeenFrame

  push(chunk: Uint8Array): TapOutput {
    return this.#relay(this.#framer.push(chunk))
  }

  /**
   * A last event without its blank line was cut off, and stays back; a client could take it for
   * whole.
   */
  end(): TapOutput {
    const frames = this.#framer.end()
    const { pending } = this.#framer
    // But for the one that says nothing but that this is the end: some servers forget its line end.
    const isBareEnd = Buffer.from(pending).toString('latin1').trim() === 'data: [DONE]'
    return this.#relay(isBareEnd ? [...frames, ...this.#framer.push(TWO_LINE_ENDS)] : frames)
  }

  #relay(frames: readonly SseFrame[]): TapOutput {
    if (frames.length === 0) return { now: NOTHING, held: NOTHING }
    const now: Uint8Array[] = []
    const held: Uint8Array[] = []
    for (const frame of frames) {
      // Bytes that follow the last event belong after it, and so wait with it.
      if (held.length > 0 || this.verdict === 'complete') {
        held.push(frame.raw)
        continue
      }
      const seen = this.see(frame)
      if (seen.isTerminal) held.push(seen.bytes)
      else now.push(seen.bytes)
    }
    return { now: join(now), held: join(held) }
  }

  /**
   * True if bytes of an unfinished event are waiting: a stream that closes now has lost something.
   */
  protected hasHalfEvent(): boolean {
    return this.#framer.pending.some((byte) => byte !== NEWLINE && byte !== CARRIAGE_RETURN)
  }
}

const TWO_LINE_ENDS = Buffer.from('\n\n')
const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d

function join(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 0) return NOTHING
  const [only] = parts
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts)
}
