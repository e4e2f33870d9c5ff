/**
 * One line for each finished call and control-plane request, on standard output. Never anything of
 * a body, and no key.
 */
import pino from 'pino'
import type { CallRecord } from '../core/call.ts'
import { systemClock } from '../core/clock.ts'
import type { CallObserver, CallTrace, Refusal } from '../gateway/call-observer.ts'

/** Lines are written together, and at the latest after so many milliseconds. */
const FLUSH_MS = 250
const WRITE_BYTES = 8 * 1024
/**
 * A piece of this size that is written to a pipe at once stays in one piece (PIPE_BUF), whoever
 * else writes to it: workers share one.
 */
const SHARED_WRITE_BYTES = 4096
/** The process holds this much for a reader that does not read; beyond, lines are lost. */
const MAX_BUFFERED_BYTES = 8 * 1024 * 1024

/** With lines that wait for so long, nothing is written: they would be written by now. */
const STUCK_MS = 2 * FLUSH_MS

/** How long the end of the process waits for a reader that is behind. */
const CLOSE_MS = 2_000

/** A finished request to the control plane. */
export interface ControlRequest {
  readonly requestId: string
  readonly method: string
  /**
   * The route's own template (`/v1/gates/:id`); null where no route took it: what was asked for may
   * be anything.
   */
  readonly path: string | null
  readonly status: number
  /** The caller: a key's id. Null when that is not known. */
  readonly actor: string | null
  readonly durationMs: number
}

export class AccessLog implements CallObserver {
  readonly #destination: ReturnType<typeof pino.destination>
  readonly #log: pino.Logger
  /** In milliseconds of `elapsed`, of the last write or the first line; undefined: none waits. */
  #unwrittenSince: number | undefined

  /**
   * @param destination a file's path, or a file descriptor
   * @param worker which of the workers that share it
   */
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
    // A reader that has gone is no reason to end: calls go on without their lines.
    this.#destination.on('error', () => {
      this.#unwrittenSince = Number.NEGATIVE_INFINITY
    })
    this.#destination.on('write', () => {
      this.#unwrittenSince = systemClock.elapsed()
    })
    this.#destination.on('drain', () => {
      this.#unwrittenSince = undefined
    })
    // For a process that ends without `close`: the library would try until all is written, so that
    // a disk without room, or a reader that does not read, keeps it from ending for good.
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
   * Resolves when every line is written, when its reader has gone, or when the reader did not read
   * for `CLOSE_MS`.
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
    // Else the process tries to write the rest as it exits, again and again until somebody reads.
    destination.destroy()
  }
}
