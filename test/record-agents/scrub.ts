/**
 * Takes out of recorded requests what tells of the machine, the user and the moment. Equal texts
 * stay equal: a session's id is the same in a header and in a body.
 */
import { hostname, release, userInfo } from 'node:os'

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g
/** Ids of sessions, devices and messages, with a prefix or without. */
const LONG_ID = /\b(ses|msg|prt|call|usr)_(?!0123456789abcdef)[0-9A-Za-z]{16,}\b/g
const HASH = /\b[0-9a-f]{32,64}\b/g
const DAY = /\b20(?:2[5-9]|3\d)-\d{2}-\d{2}(?!\d)/g
const TIME = /T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?=Z|[+-]\d{2})/g
const EPOCH_MS = /\b1[789]\d{11}\b/g
const WRITTEN_DAY = /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? [A-Z][a-z]{2,8} \d{1,2},? 20\d\d\b/g

export interface Places {
  readonly home: string
  readonly project: string
  readonly root: string
}

export class Scrubber {
  readonly #known: readonly (readonly [string, string])[]
  readonly #ids = new Map<string, string>()

  constructor({ home, project, root }: Places) {
    const { username } = userInfo()
    this.#known = [
      [project, '/home/user/project'],
      [home, '/home/user'],
      [root, '/opt/agents'],
      [hostname(), 'host'],
      [release(), '6.1.0'],
      // The word has other meanings, so only as a part of a path or a greeting.
      [`/home/${username}`, '/home/user'],
      [`USER=${username}`, 'USER=user'],
    ]
  }

  scrub(text: string): string {
    let scrubbed = text
    for (const [from, to] of this.#known) scrubbed = scrubbed.replaceAll(from, to)
    return scrubbed
      .replace(UUID, (id) => this.#nameOf(id, toUuid))
      .replace(LONG_ID, (id) => this.#nameOf(id, (n) => toLongId(id, n)))
      .replace(HASH, (id) => this.#nameOf(id, (n) => String(n).padStart(id.length, '0')))
      .replace(DAY, '2026-01-01')
      .replace(TIME, 'T00:00:00')
      .replace(EPOCH_MS, '1767225600000')
      .replace(WRITTEN_DAY, 'Thu Jan 01 2026')
  }

  #nameOf(id: string, toName: (number: number) => string): string {
    const known = this.#ids.get(id)
    if (known !== undefined) return known
    const name = toName(this.#ids.size + 1)
    this.#ids.set(id, name)
    return name
  }
}

function toUuid(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
}

function toLongId(id: string, number: number): string {
  const [prefix = '', rest = ''] = id.split('_', 2)
  return `${prefix}_${String(number).padStart(rest.length, '0')}`
}
