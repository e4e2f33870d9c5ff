/**
 * Writes an answer's body, whole or as a stream, with the fault it was asked for. Every body is an
 * async generator: it is pulled only as fast as the client reads, and ends when the client leaves.
 * Knows no dialect.
 */
import type { Answer, Frame, Framing } from './dialect.ts'
import type { Fault } from './parse-model.ts'
import { pause, untilClientLeaves } from './pause.ts'

export interface BodySettings {
  readonly fault: Fault | null
  /** Between the events of a stream. */
  readonly chunkDelayMs: number
  readonly signal: AbortSignal
}

/**
 * Thrown to close the connection without the end that HTTP asks for; the server says nothing more
 * of it.
 */
class DeliberateCut extends Error {
  override readonly name = 'DeliberateCut'
}

const DEFAULT_STREAM_DELAY_MS = 500
/**
 * For what was written last to leave: a connection that is cut takes what still waits in it along.
 */
const FAREWELL_MS = 50

/** A small JSON body goes out with its length; anything else in chunks. */
export function writeJson(answer: Answer, settings: BodySettings): string | AsyncGenerator<Frame> {
  const { fault } = settings
  if (fault?.name === 'big') return writeParts(answer.json())
  const text = [...answer.json()].join('')
  const half = text.slice(0, Math.ceil(text.length / 2))
  switch (fault?.name) {
    case 'bad-json':
    case 'half-event':
    case 'clean-cut':
      return half
    case 'cut-mid-stream':
    case 'hang-mid-stream':
      return writeCut([half], fault, settings)
    case 'drip':
      return writeBytes([text], settings.signal)
    default:
      return text
  }
}

export function writeStream(
  answer: Answer,
  framing: Framing,
  settings: BodySettings,
): AsyncGenerator<Frame> {
  const { fault } = settings
  switch (fault?.name) {
    case 'bad-json':
    case 'clean-cut':
    case 'error-mid-stream':
    case 'half-event':
      return writeFrames(breakFrames(answer, framing, fault), settings)
    case 'cut-mid-stream':
    case 'hang-mid-stream': {
      const frames = [...answer.frames()]
      return writeCut(frames.slice(0, breakAt(frames.length, fault)), fault, settings)
    }
    case 'drip':
      return writeBytes(answer.frames(), settings.signal)
    case 'slow-stream':
      return writeFrames(answer.frames(), {
        ...settings,
        chunkDelayMs: fault.amount ?? DEFAULT_STREAM_DELAY_MS,
      })
    default:
      return writeFrames(answer.frames(), settings)
  }
}

/** After how many events a fault strikes: as many as its name says, else half of them. */
function breakAt(length: number, fault: Fault): number {
  return Math.min(fault.amount ?? Math.floor(length / 2), Math.max(0, length - 1))
}

function breakFrames(answer: Answer, framing: Framing, fault: Fault): readonly Frame[] {
  const frames = [...answer.frames()]
  const at = breakAt(frames.length, fault)
  const before = frames.slice(0, at)
  const next = frames[at] ?? ''
  switch (fault.name) {
    case 'bad-json':
      return [...before, framing.spoil(next), ...frames.slice(at + 1)]
    case 'half-event':
      return [...before, next.slice(0, Math.floor(next.length / 2))]
    case 'error-mid-stream':
      return [...before, ...answer.failureFrames(at)]
    default:
      return before
  }
}

async function* writeParts(parts: Iterable<string>): AsyncGenerator<Frame> {
  yield* parts
}

async function* writeFrames(
  frames: Iterable<Frame>,
  settings: BodySettings,
): AsyncGenerator<Frame> {
  let isFirst = true
  for (const frame of frames) {
    if (
      !isFirst &&
      settings.chunkDelayMs > 0 &&
      !(await pause(settings.chunkDelayMs, settings.signal))
    )
      return
    isFirst = false
    yield frame
  }
}

async function* writeCut(
  frames: readonly Frame[],
  fault: Fault,
  settings: BodySettings,
): AsyncGenerator<Frame> {
  yield* writeFrames(frames, settings)
  if (fault.name === 'hang-mid-stream') await untilClientLeaves(settings.signal)
  else await pause(FAREWELL_MS, settings.signal)
  throw new DeliberateCut('The sandbox cut the answer, as it was asked to.')
}

/** One byte to a chunk. */
async function* writeBytes(parts: Iterable<Frame>, signal: AbortSignal): AsyncGenerator<Frame> {
  for (const part of parts) {
    for (const byte of typeof part === 'string' ? new TextEncoder().encode(part) : part) {
      if (signal.aborted) return
      yield new Uint8Array([byte])
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}
