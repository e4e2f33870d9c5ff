import type { Database } from 'bun:sqlite'
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'

/**
 * Length of the write-ahead log that makes a checkpoint due: 32 MB of pages. SQLite's default of
 * 1,000 pages writes 3.7 pages per call instead of 2.7 with thousands of accounts.
 */
const DUE_PAGES = 8_000
/** SQLite's default (4 MB), used while no thread runs. */
const FEW_PAGES = 1_000
/**
 * Checking the log's length costs 40 µs, so many rows share a check. These rows write at most some
 * 800 pages.
 */
const ROWS_BETWEEN_LOOKS = 256

type Order = { readonly type: 'checkpoint' | 'close'; readonly path: string }
type Reply = { readonly failure?: string }

const threads = new WeakMap<Kysely<Schema>, Pick<CheckpointThread, 'relieve'>>()

/**
 * Waits until the write-ahead log of the database's file is short enough; resolves at once for any
 * other database.
 * @param rows how many rows were written since the last call
 */
export async function relieveLog(database: Kysely<Schema>, rows: number): Promise<void> {
  await threads.get(database)?.relieve(rows)
}

/**
 * A checkpoint on another connection does not block writers
 * (https://sqlite.org/c3ref/wal_checkpoint_v2.html, PASSIVE). A bulk writer waits for the
 * checkpoint; otherwise the log would grow without end.
 */
export class CheckpointThread {
  readonly #database: Kysely<Schema>
  readonly #path: string
  #worker: Worker | undefined
  #rows = 0
  #isBroken = false
  #underWay: Promise<void> | undefined
  #last: Promise<void> = Promise.resolve()

  constructor(database: Kysely<Schema>, path: string) {
    this.#database = database
    this.#path = path
    threads.set(database, this)
  }

  async relieve(rows: number): Promise<void> {
    this.#rows += rows
    if (this.#isBroken || this.#rows < ROWS_BETWEEN_LOOKS) return
    this.#rows = 0
    this.#underWay ??= this.#inTurn(() => this.#shorten()).finally(() => {
      this.#underWay = undefined
    })
    await this.#underWay
  }

  /** Resolves when everything committed before this call is on the disk. */
  sync(): Promise<void> {
    return this.#inTurn(() => this.#syncNow())
  }

  /**
   * Closes the thread's connection first, because the last connection of a database deletes its
   * log.
   */
  async close(): Promise<void> {
    await this.#last.catch(() => {})
    if (this.#worker !== undefined) await this.#ask('close')
    this.#worker?.terminate()
    this.#worker = undefined
    this.#isBroken = true
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#last.catch(() => {}).then(work)
    this.#last = turn
    return turn
  }

  async #shorten(): Promise<void> {
    if ((await this.#pagesToWrite()) >= DUE_PAGES) await this.#checkpointElsewhere()
  }

  async #syncNow(): Promise<void> {
    const isElsewhere =
      !this.#isBroken &&
      (this.#worker !== undefined || (await this.#pagesToWrite()) >= FEW_PAGES) &&
      (await this.#checkpointElsewhere())
    if (!isElsewhere) await sql`PRAGMA wal_checkpoint(PASSIVE)`.execute(this.#database)
  }

  async #pagesToWrite(): Promise<number> {
    // SQLite before 3.51, as on some macOS versions, checkpoints instead of reporting the length.
    const { rows } = await sql<{
      log: number
      checkpointed: number
    }>`PRAGMA wal_checkpoint(NOOP)`.execute(this.#database)
    const [pages] = rows
    return pages === undefined ? 0 : pages.log - pages.checkpointed
  }

  async #checkpointElsewhere(): Promise<boolean> {
    const { failure } = await this.#ask('checkpoint')
    if (failure === undefined) return true
    // The writing connection checkpoints from now on, as in SQLite's default.
    this.#isBroken = true
    this.#worker?.terminate()
    this.#worker = undefined
    await sql`PRAGMA wal_autocheckpoint = ${sql.lit(FEW_PAGES)}`.execute(this.#database)
    return false
  }

  #ask(type: Order['type']): Promise<Reply> {
    this.#worker ??= startWorker()
    const worker = this.#worker
    const { promise, resolve } = Promise.withResolvers<Reply>()
    worker.onmessage = ({ data }: MessageEvent<Reply>) => resolve(data)
    worker.onerror = ({ message }) => resolve({ failure: message })
    // A waiting caller keeps the process alive; an idle thread does not.
    worker.ref()
    worker.postMessage({ type, path: this.#path } satisfies Order)
    return promise.finally(() => worker.unref())
  }
}

/** Started from source text: a separate file would need its own entry in single-file programs. */
function startWorker(): Worker {
  const script = new Blob([`(${work.toString()})()`], { type: 'application/javascript' })
  const address = URL.createObjectURL(script)
  return new Worker(address, { smol: true })
}

/** Runs in the thread, so the function must not refer to anything outside its body. */
function work(): void {
  const thread = globalThis as unknown as {
    onmessage: (event: { readonly data: Order }) => void
    postMessage(reply: Reply): void
  }
  let database: Database | undefined
  thread.onmessage = async ({ data: { type, path } }) => {
    try {
      const { Database } = await import('bun:sqlite')
      database ??= new Database(path, { readwrite: true, create: false })
      if (type === 'checkpoint') database.run('PRAGMA wal_checkpoint(PASSIVE)')
      else database.close()
      thread.postMessage({})
    } catch (error) {
      thread.postMessage({ failure: String(error) })
    }
  }
}
