/** A private copy of the tree, in which faults are planted: nobody who works beside it sees one. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'

/** Not copied: large, and the same for all. */
const SHARED = ['node_modules', 'dist']
const LEFT_OUT = ['.git', '.cache', 'data']

export class TreeCopy {
  readonly path: string
  /** For what tests write, emptied after each run: a killed test does not clear up. */
  readonly temporary: string

  /** @param path of a folder that does not exist yet */
  constructor(house: string, path: string) {
    this.path = path
    // Short, because sockets are made in it.
    this.temporary = `${path}-tmp`
    mkdirSync(this.temporary, { recursive: true })
    const skipped = new Set([...SHARED, ...LEFT_OUT])
    cpSync(house, path, {
      recursive: true,
      filter: (source) => !skipped.has(relative(house, source)),
    })
    for (const name of SHARED)
      if (existsSync(join(house, name))) symlinkSync(join(house, name), join(path, name))
  }

  read(file: string): string {
    return readFileSync(join(this.path, file), 'utf8')
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.path, file), text)
  }

  emptyTemporary(): void {
    unmountUnder(this.temporary)
    rmSync(this.temporary, { recursive: true, force: true, maxRetries: 3 })
    mkdirSync(this.temporary)
  }
}

/** Tests of a full disk mount one, and are killed with it mounted when a fault makes them hang. */
export function unmountUnder(folder: string): void {
  if (!existsSync('/proc/mounts')) return
  for (const line of readFileSync('/proc/mounts', 'utf8').split('\n')) {
    const [, target = ''] = line.split(' ')
    if (target.startsWith(`${folder}/`)) Bun.spawnSync(['umount', '-l', target])
  }
}
