/** Which tests could notice a fault in a file, the nearest first. Reads imports; runs nothing. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findTestFiles, partOf } from '../test-files.ts'

/** They start the product: such a test is far from every line. */
const PRODUCT = ['src/main.ts', 'test/support/start-gatehouse.ts']
/** They wait for a server. */
const SERVERS = ['test/support/redis-server.ts']
/** The whole gateway in this process: near to all of it. */
const STAGES = 'test/stages/'

export class NearestTests {
  /** Who imports a file. */
  readonly #importers = new Map<string, string[]>()
  readonly #unitTests: ReadonlySet<string>
  readonly #spawning: ReadonlyMap<string, number>
  readonly #slow: ReadonlyMap<string, number>

  /** @param folder the root of the tree */
  constructor(folder: string) {
    const transpiler = new Bun.Transpiler({ loader: 'ts' })
    for (const path of new Bun.Glob('{src,test}/**/*.ts').scanSync({ cwd: folder })) {
      const text = readFileSync(join(folder, path), 'utf8').replace(/^#!/, '//')
      // Types are not among them: they cannot be wrong while it runs.
      for (const { path: imported } of transpiler.scanImports(text)) {
        if (!imported.startsWith('.')) continue
        const target = join(dirname(path), imported)
        const importers = this.#importers.get(target)
        if (importers === undefined) this.#importers.set(target, [path])
        else importers.push(path)
      }
    }
    this.#unitTests = new Set(findTestFiles(folder).filter((path) => partOf(path) === 'unit'))
    this.#spawning = this.#reach(PRODUCT)
    this.#slow = this.#reach(SERVERS)
  }

  /**
   * Groups to be run one after the other: beside the file; of its folder, of the stages, and those
   * elsewhere that import it themselves; those that need a server.
   */
  of(path: string): readonly (readonly string[])[] {
    const folder = path.split('/').slice(0, 2).join('/')
    const beside = path.replace(/\.ts$/, '.test.ts')
    const distances = [...this.#reach([path])].filter(
      ([test, distance]) =>
        this.#unitTests.has(test) &&
        !this.#spawning.has(test) &&
        (distance === 1 || test.startsWith(`${folder}/`) || test.startsWith(STAGES)),
    )
    distances.sort(([left, near], [right, far]) => near - far || (left < right ? -1 : 1))
    const tests = distances.map(([test]) => test)
    const groups = [
      tests.filter((test) => test === beside && !this.#slow.has(test)),
      tests.filter((test) => test !== beside && !this.#slow.has(test)),
      tests.filter((test) => this.#slow.has(test)),
    ]
    return groups.filter((group) => group.length > 0)
  }

  /** @returns who imports one of them, directly (1) or through others (2 and more) */
  #reach(targets: readonly string[]): ReadonlyMap<string, number> {
    const distances = new Map<string, number>(targets.map((target) => [target, 0]))
    const queue = [...targets]
    for (const path of queue) {
      const distance = (distances.get(path) ?? 0) + 1
      for (const importer of this.#importers.get(path) ?? []) {
        if (distances.has(importer)) continue
        distances.set(importer, distance)
        queue.push(importer)
      }
    }
    return distances
  }
}
