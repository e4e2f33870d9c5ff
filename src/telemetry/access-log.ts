/**
 * Writes a line for each completed call and control-plane request to standard output, without
 * bodies and keys.
 */
import pino from 'pino'
import type { CallRecord } from '../core/call.ts'
import { systemClock } from '../core/clock.ts'
import type { CallObserver, CallTrace, Refusal } from '../gateway/call-observer.ts'

const FLUSH_MS = 250
const WRITE_BYTES = 8 * 1024
/**
 * A write to a pipe of at most this size (PIPE_BUF) is atomic, even when workers share the pipe.
 */
const SHARED_WRITE_BYTES = 4096
/** The maximum buffer for a reader that does not read; further lines are lost. */
const MAX_BUFFERED_BYTES = 8 * 1024 * 1024

/** After this time without a write, the reader counts as blocked. */
const STUCK_MS = 2 * FLUSH_MS

/** How long a shutdown waits for a slow reader. */
const CLOSE_MS = 2_000

export interface ControlRequest {
  readonly requestId: string
  readonly method: string
  /**
   * The route's template (`/v1/gates/:id`); null when no route matched, because the path may be
   * anything.
   */
  readonly path: string | null
  readonly status: number
  readonly actor: string | null
  readonly durationMs: number
}

export class AccessLog implements CallObserver {
  readonly #destination: ReturnType<typeof pino.destination>
  readonly #log: pino.Logger
  /**
   * Time of the last write or first line, in milliseconds of `elapsed`; undefined when no line
   * waits.
   */
  #unwrittenSince: number | undefined

  constructor(destination: number | string = 1, worker?: number) {
    this.#destination = pino.destination({
      dest: destination,
      sync: false,
      ...(worker === undefined
        ? { minLength: WRITE_BYTES }
        : { minLength: SHARED_WRITE_BYTES / 2, maxWrite: SHARED_WRITE_BYTES }),
      maxLength: MAX_BUFFERED_BYTES,
      periodicFlush: FLUSH_MS,
    })
    // A missing reader does not end the process: calls continue without their lines.
    this.#destination.on('error', () => {
      this.#unwrittenSince = Number.NEGATIVE_INFINITY
    })
    this.#destination.on('write', () => {
      this.#unwrittenSince = systemClock.elapsed()
    })
    this.#destination.on('drain', () => {
      this.#unwrittenSince = undefined
    })
    // For a process that ends without `close`: the library would retry until all is written, so a
    // full disk or a stopped reader would block the exit forever.
    const flush = this.#destination.flushSync.bind(this.#destination)
    this.#destination.flushSync = () => {
      if (!this.#isStuck()) flush()
    }
    this.#log = pino(
      { base: worker === undefined ? null : { worker }, timestamp: pino.stdTimeFunctions.isoTime },
      this.#destination,
    )
  }

  begin(): undefined {}

  finish(record: CallRecord, _attempts: unknown, trace: CallTrace | undefined): void {
    this.#write(
      {
        requestId: record.id,
        gate: record.gateId,
        target: record.target,
        dialect: record.dialect,
        stream: record.stream,
        status: record.status,
        outcome: record.outcome,
        errorKind: record.errorKind,
        attempts: record.attempts,
        durationMs: record.durationMs,
        firstByteMs: record.firstByteMs,
        usage: record.usage,
        keyId: record.keyId,
        traceId: trace?.traceId,
      },
      'call',
    )
  }

  refuse(refusal: Refusal, trace: CallTrace | undefined): void {
    this.#write(
      {
        requestId: refusal.id,
        dialect: refusal.dialect,
        status: refusal.status,
        outcome: 'refused',
        errorKind: refusal.kind,
        attempts: 0,
        durationMs: refusal.durationMs,
        keyId: refusal.keyId,
        traceId: trace?.traceId,
      },
      'call',
    )
  }

  noteControlRequest(request: ControlRequest): void {
    this.#write(request, 'control request')
  }

  #write(fields: object, message: string): void {
    this.#unwrittenSince ??= systemClock.elapsed()
    this.#log.info(fields, message)
  }

  #isStuck(): boolean {
    const since = this.#unwrittenSince
    return since !== undefined && systemClock.elapsed() - since > STUCK_MS
  }

  /**
   * Resolves when every line is written, the reader is gone, or the reader did not read for
   * `CLOSE_MS`.
   */
  async close(): Promise<void> {
    const destination = this.#destination
    const written = new Promise<void>((resolve) => {
      destination.once('close', resolve)
      destination.once('error', () => resolve())
    })
    destination.end()
    const patience = Promise.withResolvers<void>()
    const timer = setTimeout(patience.resolve, CLOSE_MS)
    await Promise.race([written, patience.promise])
    clearTimeout(timer)
    // Without this, the process would retry at exit until the reader reads.
    destination.destroy()
  }
}
