/**
 * The places in a dialect's requests that name objects in a provider's account: files, vector
 * stores, containers.
 */

/**
 * Each path is member names separated by dots. Lists are traversed: `tools.name` is the member
 * `name` of each tool.
 */
export interface IdPaths {
  /** Paths of ids by which the provider looks up an object in its account. */
  readonly vendor: readonly (string | PathWithException)[]
  /** Paths that end like an id but name parts of the request, or past events. */
  readonly free: readonly string[]
  /** Another rule refuses these paths on every credential that accounts share. */
  readonly refused?: readonly string[]
}

interface PathWithException {
  readonly path: string
  /** In an object of this `type` the id is public, not an account's. */
  readonly exceptType: string
}

export class VendorIds {
  readonly paths: IdPaths
  /**
   * Every id's path contains one of these member names, so a body without these names has no id.
   */
  readonly names: readonly string[]
  readonly #root = new Step()

  constructor(paths: IdPaths) {
    this.paths = paths
    const vendor = paths.vendor.map((each) => (typeof each === 'string' ? { path: each } : each))
    this.names = [...new Set(vendor.map(({ path }) => rarestName(path)))]
    for (const each of vendor) this.#root.add(each)
  }

  /**
   * @param body a parsed request, nested no deeper than json-scan.ts allows
   * @returns the location of the first id, such as `tools[0].container`; undefined: no id
   */
  find(body: unknown): string | undefined {
    return findId(body, this.#root)?.slice(1)
  }
}

class Step {
  readonly inner = new Map<string, Step>()
  isId = false
  exceptType: string | undefined

  add({ path, exceptType }: { readonly path: string; readonly exceptType?: string }): void {
    let step: Step = this
    for (const name of path.split('.')) {
      const next = step.inner.get(name) ?? new Step()
      step.inner.set(name, next)
      step = next
    }
    step.isId = true
    step.exceptType = exceptType
  }
}

/** Many members are called `id`, so the search uses the name around `id`. */
function rarestName(path: string): string {
  const [last = '', before = ''] = path.split('.').toReversed()
  return last === 'id' ? before : last
}

function findId(value: unknown, step: Step): string | undefined {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const found = findId(item, step)
      if (found !== undefined) return `[${index}]${found}`
    }
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const members = value as Readonly<Record<string, unknown>>
  for (const [name, next] of step.inner) {
    if (!Object.hasOwn(members, name)) continue
    const inner = members[name]
    const isExcepted = next.exceptType !== undefined && members.type === next.exceptType
    if (next.isId && !isExcepted && holdsText(inner)) return `.${name}`
    const found = findId(inner, next)
    if (found !== undefined) return `.${name}${found}`
  }
  return undefined
}

/** A new container may be requested by an object (`{"type": "auto"}`), which is not an id. */
function holdsText(value: unknown): boolean {
  return Array.isArray(value) ? value.some(holdsText) : typeof value === 'string' && value !== ''
}
