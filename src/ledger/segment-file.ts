/**
 * One journal file that is open for appending, and the names of such files. Must not know what a
 * record is.
 */
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'

/** A segment that nothing is appended to any more and that waits to be shipped. */
export interface ClosedSegment {
  readonly path: string
  readonly bytes: number
}

/** The operating system may lose so much at a power cut: see Journal. */
export type SyncMode = 'os' | 'batch'

/** Twelve digits, but for whoever begins at their last. */
const NAME = /^(\d{12,15})\.journal$/
const NEWLINE = new Uint8Array([10])

/**
 * The segments in a folder, oldest first, with their sequence numbers; none where there is no such
 * folder.
 * @throws any other error of the file system
 */
export function listSegments(folder: string): { sequence: number; segment: ClosedSegment }[] {
  const found: { sequence: number; segment: ClosedSegment }[] = []
  for (const name of namesIn(folder)) {
    const sequence = NAME.exec(name)?.[1]
    if (sequence === undefined) continue
    const path = join(folder, name)
    const file = statSync(path, { throwIfNoEntry: false })
    // Deleted meanwhile, or a link that leads nowhere.
    if (file === undefined) continue
    found.push({ sequence: Number(sequence), segment: { path, bytes: file.size } })
  }
  return found.sort((one, other) => one.sequence - other.sequence)
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

export function segmentName(sequence: number): string {
  return `${String(sequence).padStart(12, '0')}.journal`
}

export class SegmentFile {
  readonly path: string
  /** Up to here every byte belongs to a record that was accepted. */
  #goodBytes = 0
  #holdsRecords = false
  readonly #fd: number
  readonly #sync: SyncMode

  private constructor(path: string, fd: number, sync: SyncMode) {
    this.path = path
    this.#fd = fd
    this.#sync = sync
  }

  /**
   * Creates the folder where it is missing, and in it a new file that proves, by holding an empty
   * line, that the disk takes writes.
   * @throws the file system's error; nothing is left behind then.
   */
  static create(folder: string, sequence: number, sync: SyncMode): SegmentFile {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const path = join(folder, segmentName(sequence))
    const draft = `${path}.new`
    rmSync(draft, { force: true })
    const file = new SegmentFile(path, openSync(draft, 'ax+', 0o600), sync)
    try {
      file.#write(NEWLINE)
      if (existsSync(path))
        throw Object.assign(new Error('The segment is there already.'), { code: 'EEXIST' })
    } catch (error) {
      file.close()
      rmSync(draft, { force: true })
      throw error
    }
    // Named only now, so that a segment without a byte is one that has lost what was in it, and no
    // other.
    renameSync(draft, path)
    try {
      if (sync === 'batch') syncFolder(folder)
    } catch (error) {
      file.close()
      file.remove()
      throw error
    }
    return file
  }

  get bytes(): number {
    return this.#goodBytes
  }

  get holdsRecords(): boolean {
    return this.#holdsRecords
  }

  /**
   * Appends whole lines: all of them, or none where the disk lets us take a partial write back.
   * @throws the file system's error, or one with the code `ENOENT` when the file was deleted under
   * our hands.
   */
  append(lines: Uint8Array): void {
    this.#write(lines)
    this.#holdsRecords = true
  }

  /** 2 µs, three times as much as to ask whether it was deleted. */
  isInPlace(): boolean {
    try {
      const [found, own] = [statSync(this.path), fstatSync(this.#fd)]
      return found.ino === own.ino && found.dev === own.dev
    } catch {
      return false
    }
  }

  /**
   * The lines accepted so far if the file was deleted or moved, for then nobody finds them by its
   * name; else undefined.
   */
  rescueLines(): Uint8Array | undefined {
    try {
      return this.isInPlace() ? undefined : this.#readLines()
    } catch {
      // A disk that cannot even be read: whoever reads the file by its name will find out what is
      // left of it.
      return undefined
    }
  }

  close(): void {
    try {
      closeSync(this.#fd)
    } catch {
      // Everything acknowledged was written before; there is nothing to be done about a handle.
    }
  }

  remove(): void {
    try {
      unlinkSync(this.path)
    } catch {
      // A file that holds no record is harmless: the next start ships nothing from it and deletes
      // it.
    }
  }

  #write(bytes: Uint8Array): void {
    try {
      let written = 0
      while (written < bytes.length) {
        const count = writeSync(this.#fd, bytes, written, bytes.length - written)
        if (count === 0) throw Object.assign(new Error('The file took no bytes.'), { code: 'EIO' })
        written += count
      }
      if (this.#sync === 'batch') fdatasyncSync(this.#fd)
      // After the write, so that a record that was acknowledged had a name in the folder when it
      // was.
      if (this.#isDeleted())
        throw Object.assign(new Error('The segment was deleted.'), { code: 'ENOENT' })
      this.#goodBytes += bytes.length
    } catch (error) {
      this.#takeBack()
      throw error
    }
  }

  #isDeleted(): boolean {
    return fstatSync(this.#fd).nlink === 0
  }

  #readLines(): Uint8Array {
    const lines = new Uint8Array(this.#goodBytes - NEWLINE.length)
    let read = 0
    while (read < lines.length) {
      const count = readSync(this.#fd, lines, read, lines.length - read, NEWLINE.length + read)
      if (count === 0) break
      read += count
    }
    return lines.subarray(0, read)
  }

  #takeBack(): void {
    try {
      ftruncateSync(this.#fd, this.#goodBytes)
    } catch {
      // The torn line stays at the end of this file; the caller goes on in another one, so it
      // damages nothing.
    }
  }
}

function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
