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

export interface ClosedSegment {
  readonly path: string
  readonly bytes: number
}

export type SyncMode = 'os' | 'batch'

const NAME = /^(\d{12,15})\.journal$/
const NEWLINE = new Uint8Array([10])

/**
 * The segments in a folder, oldest first, with their sequence numbers; empty when the folder does
 * not exist.
 * @throws any other error of the file system
 */
export function listSegments(folder: string): { sequence: number; segment: ClosedSegment }[] {
  const found: { sequence: number; segment: ClosedSegment }[] = []
  for (const name of namesIn(folder)) {
    const sequence = NAME.exec(name)?.[1]
    if (sequence === undefined) continue
    const path = join(folder, name)
    const file = statSync(path, { throwIfNoEntry: false })
    // The file was deleted meanwhile, or is a broken link.
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
   * Creates the folder if needed, and a new file with an empty line, which proves that the disk
   * accepts writes.
   * @throws the file system's error; nothing is left behind then
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
        throw Object.assign(new Error('The segment already exists.'), { code: 'EEXIST' })
    } catch (error) {
      file.close()
      rmSync(draft, { force: true })
      throw error
    }
    // Renamed after the first write, so that an empty file with this name has always lost its
    // contents.
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
   * Appends all lines, or none if the disk lets a partial write be undone.
   * @throws the file system's error, or an error with the code `ENOENT` when the file was deleted
   * meanwhile
   */
  append(lines: Uint8Array): void {
    this.#write(lines)
    this.#holdsRecords = true
  }

  /** Takes 2 µs, three times as long as checking for deletion. */
  isInPlace(): boolean {
    try {
      const [found, own] = [statSync(this.path), fstatSync(this.#fd)]
      return found.ino === own.ino && found.dev === own.dev
    } catch {
      return false
    }
  }

  /**
   * The lines of a file that was deleted or moved, because the shipper cannot find the file by its
   * name; otherwise undefined.
   */
  rescueLines(): Uint8Array | undefined {
    try {
      return this.isInPlace() ? undefined : this.#readLines()
    } catch {
      // The reader that opens the file by name finds out what is left on the unreadable disk.
      return undefined
    }
  }

  close(): void {
    try {
      closeSync(this.#fd)
    } catch {
      // A failed close loses nothing, because every record was written before.
    }
  }

  remove(): void {
    try {
      unlinkSync(this.path)
    } catch {
      // A file without records is harmless: the next start deletes the file.
    }
  }

  #write(bytes: Uint8Array): void {
    try {
      let written = 0
      while (written < bytes.length) {
        const count = writeSync(this.#fd, bytes, written, bytes.length - written)
        if (count === 0)
          throw Object.assign(new Error('The file accepted no bytes.'), { code: 'EIO' })
        written += count
      }
      if (this.#sync === 'batch') fdatasyncSync(this.#fd)
      // Checked after the write, so that the file had its name when the record was written.
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
      // The caller continues in another file, so a torn line at the end of this file does no harm.
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
