/** Attributions of a test: readable hashes, and a list of the names that would be stored. */
import {
  type AttributionSettings,
  DEFAULT_ATTRIBUTION,
  type HashedKind,
  type NamedKind,
} from '../../src/core/attribution.ts'
import type { AccountId } from '../../src/core/ids.ts'
import type { Attributions } from '../../src/gateway/ports.ts'

export interface AttributionScript {
  readonly settings?: Partial<AttributionSettings>
  /** Tags by name, each with the ids of its members. */
  readonly tags?: Readonly<Record<string, readonly string[]>>
  readonly mostTagValues?: number
}

export class ScriptedAttributions implements Attributions {
  readonly noted: (readonly [kind: NamedKind, hash: string, name: string | undefined])[] = []
  readonly #script: AttributionScript
  readonly #values = new Set<string>()

  constructor(script: AttributionScript = {}) {
    this.#script = script
  }

  settingsOf(): AttributionSettings {
    return { ...DEFAULT_ATTRIBUTION, ...this.#script.settings }
  }

  hash(_: AccountId, kind: HashedKind, name: string, scope?: string): string {
    return scope === undefined ? `${kind}(${name})` : `${kind}(${scope}/${name})`
  }

  tagsOf() {
    const tags = Object.entries(this.#script.tags ?? {})
    return {
      has: (name: string) => tags.some(([tag]) => tag === name),
      nameOf: (id: string) => tags.find(([tag]) => `tag_${tag}` === id)?.[0],
      teamsOf: (userId: string) =>
        tags.flatMap(([tag, members]) => (members.includes(userId) ? [tag] : [])),
    }
  }

  takesTagValue(_: AccountId, tag: string, value: string): boolean {
    const text = `${tag}:${value}`
    if (this.#values.has(text)) return true
    if (this.#values.size >= (this.#script.mostTagValues ?? Number.POSITIVE_INFINITY)) return false
    this.#values.add(text)
    return true
  }

  note(_: AccountId, kind: NamedKind, hash: string, name: string | undefined): void {
    this.noted.push([kind, hash, name])
  }
}
