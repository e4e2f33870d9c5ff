/**
 * Collects the edits that write a gate's defaults into a relayed body, and what the model cannot be
 * told. Knows no dialect.
 */
import { invalidRequest } from '../core/errors.ts'
import {
  arrayElements,
  type JsonEdit,
  type JsonObject,
  scanJsonObject,
  spliceJson,
} from './json-splice.ts'
import { checkFieldTypes, presentMember } from './request-fields.ts'
import { fit, type Setting } from './settings.ts'

/** Stands between a gate's instructions and the caller's where both are one text. */
const JOINT = '\n\n'

export class DefaultsEditor {
  readonly edits: JsonEdit[] = []
  /** Fields that the model cannot take, in the caller's spelling. */
  readonly ignored: string[] = []
  readonly #body: JsonObject

  constructor(body: JsonObject) {
    this.#body = body
  }

  /** True where the caller gave the member; null is not given. */
  has(key: string): boolean {
    return presentMember(this.#body, key) !== undefined
  }

  /** Nothing happens where `value` is undefined. */
  set(key: string, value: unknown): void {
    if (value === undefined) return
    const member = this.#body.get(key)
    const json = JSON.stringify(value)
    this.edits.push(
      member === undefined ? { type: 'add', key, json } : { type: 'replace', member, json },
    )
  }

  /**
   * Writes a setting as near as upstreams take it.
   * @param isRefused this model does not take the setting
   */
  write(setting: Setting, value: number | undefined, isRefused = false): void {
    const [key = ''] = setting.names
    if (isRefused) this.leaveOut(key, value)
    if (isRefused || value === undefined) return
    const fitting = fit(value, setting)
    if (fitting !== value) this.ignored.push(key)
    this.set(key, fitting)
  }

  /** Sets, or with undefined removes, a member of the object that is a member of the body. */
  setInside(outer: string, key: string, value: unknown): void {
    const member = presentMember(this.#body, outer)
    if (member === undefined) {
      if (value !== undefined) this.set(outer, { [key]: value })
      return
    }
    checkFieldTypes(this.#body, { [outer]: ['object'] })
    const object = this.#scan(outer, this.#body.raw(member))
    const inner = new DefaultsEditor(object)
    if (value === undefined) inner.remove(key)
    else inner.set(key, value)
    if (inner.edits.length === 0) return
    this.edits.push({
      type: 'replace',
      member,
      json: decoder.decode(spliceJson(object, inner.edits)),
    })
  }

  remove(key: string): void {
    const member = this.#body.get(key)
    if (member !== undefined) this.edits.push({ type: 'remove', member })
  }

  /**
   * The model does not take the setting: the gate's default is not written, and what stands there
   * goes.
   */
  leaveOut(key: string, value: unknown): void {
    if (value === undefined) return
    this.remove(key)
    this.ignored.push(key)
  }

  /**
   * Puts a text before a text, or an element before an array's elements; `toElement` of the array's
   * first element.
   */
  prepend(
    key: string,
    text: string | undefined,
    toElement: (first: JsonObject | undefined) => Readonly<Record<string, unknown>>,
  ): void {
    if (text === undefined) return
    const member = presentMember(this.#body, key)
    if (member === undefined) {
      this.set(key, text)
      return
    }
    checkFieldTypes(this.#body, { [key]: ['string', 'array'] })
    if (this.#body.type(member) === 'string') {
      const isEmpty = member.valueEnd - member.valueStart === 2
      const inserted = JSON.stringify(isEmpty ? text : text + JOINT).slice(1, -1)
      this.edits.push({ type: 'insert', member, text: inserted })
      return
    }
    const [first] = arrayElements(this.#body, member, 1)
    const element = JSON.stringify(toElement(first === undefined ? undefined : this.#peek(first)))
    this.edits.push({ type: 'insert', member, text: first === undefined ? element : `${element},` })
  }

  #peek({ start, end }: { readonly start: number; readonly end: number }): JsonObject | undefined {
    try {
      return scanJsonObject(this.#body.bytes.subarray(start, end))
    } catch {
      // No object, or two equal keys: the upstream's to judge.
      return undefined
    }
  }

  #scan(name: string, bytes: Uint8Array): JsonObject {
    try {
      return scanJsonObject(bytes)
    } catch (error) {
      throw invalidRequest(`'${name}' is not usable: ${(error as Error).message}`, name)
    }
  }
}

const decoder = new TextDecoder()
