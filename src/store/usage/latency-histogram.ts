/**
 * Times counted in fixed buckets on a logarithmic scale, so that percentiles of any range come from
 * sums of what was counted in its parts. Must not know whose times they are.
 *
 * Each bucket is 4 % wider than the one before, and its middle stands for what is in it: a
 * percentile is within 2 % of the exact one (nearest rank), and within half a millisecond more, for
 * the answer is a whole number. A histogram as text is `bucket:count,bucket:count`; the same bucket
 * may come twice, so that texts joined by a comma are their sum. Or, a third as long, `~` and for
 * each bucket in use how far it is from the one before and its count, as numbers of digits to the
 * base 32: each digit a character, of which the first 32 say that another digit follows, the lowest
 * digit first.
 */

const RELATIVE_ERROR = 0.02
const GROWTH = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR)
const LOG_GROWTH = Math.log(GROWTH)
/** The last one ends at eleven days; what is longer counts as that. */
const BUCKETS = 520

const COLON = 58
const COMMA = 44
const ZERO = 48
const TILDE = 126
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const BASE = 32
/** By character code: the digit, and 32 more where it is a number's last one. */
const DIGIT_OF = new Uint8Array(128)
for (let index = 0; index < DIGITS.length; index += 1) DIGIT_OF[DIGITS.charCodeAt(index)] = index

export class LatencyHistogram {
  readonly #counts = new Float64Array(BUCKETS)
  #total = 0
  /** No bucket outside of these two has been counted. */
  #lowest = BUCKETS
  #highest = -1

  get total(): number {
    return this.#total
  }

  /** @param timeMs anything below one, and what is no number, counts as 0 */
  add(timeMs: number): void {
    this.#count(toBucket(timeMs), 1)
  }

  /**
   * Adds what `encode` or `encodeShort` made, or several of them joined by commas. Text that is
   * none is passed over.
   */
  addEncoded(text: string): void {
    let bucket = 0
    let value = 0
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index)
      if (code === TILDE) {
        index = this.#addShort(text, index + 1)
        // The comma that may follow ends nothing else.
        if (index >= text.length) return
      } else if (code === COLON) {
        bucket = value
        value = 0
      } else if (code === COMMA) {
        this.#count(bucket, value)
        value = 0
      } else value = value * 10 + code - ZERO
    }
    if (text.length > 0) this.#count(bucket, value)
  }

  /** @param start behind the tilde @returns where it ends: at a comma, or behind the text */
  #addShort(text: string, start: number): number {
    let bucket = -1
    let isCount = false
    let value = 0
    let unit = 1
    let index = start
    for (; index < text.length; index += 1) {
      const code = text.charCodeAt(index)
      if (code === COMMA) break
      const digit = DIGIT_OF[code] ?? 0
      if (digit < BASE) {
        value += digit * unit
        unit *= BASE
        continue
      }
      value += (digit - BASE) * unit
      if (isCount) this.#count(bucket, value)
      else bucket += value
      isCount = !isCount
      value = 0
      unit = 1
    }
    return index
  }

  /** A third as long as `encode`, of no form that versions before it read. */
  encodeShort(): string {
    const counts: (readonly [bucket: number, count: number])[] = []
    for (let bucket = this.#lowest; bucket <= this.#highest; bucket += 1) {
      const count = this.#counts[bucket] ?? 0
      if (count > 0) counts.push([bucket, count])
    }
    return counts.length === 0 ? '' : toShortText(counts)
  }

  encode(): string {
    let text = ''
    for (let bucket = this.#lowest; bucket <= this.#highest; bucket += 1) {
      const count = this.#counts[bucket]
      if (count === 0) continue
      text += text === '' ? `${bucket}:${count}` : `,${bucket}:${count}`
    }
    return text
  }

  /**
   * The value that this share (0 to 1) of the times does not exceed, in milliseconds; null when
   * there are none.
   */
  percentile(share: number): number | null {
    if (this.#total === 0) return null
    const rank = Math.max(1, Math.ceil(share * this.#total))
    let seen = 0
    for (let bucket = this.#lowest; bucket <= this.#highest; bucket += 1) {
      seen += this.#counts[bucket] ?? 0
      if (seen >= rank) return Math.round(toTime(bucket))
    }
    return null
  }

  /**
   * How many times lie below the first edge, from each edge to the next, and from the last one on.
   * A time is taken for the middle of its bucket, so one within 2 % of an edge may be counted
   * beyond it.
   * @param edgesMs rising
   */
  countBelow(edgesMs: readonly number[]): number[] {
    const counts = new Array<number>(edgesMs.length + 1).fill(0)
    let range = 0
    for (let bucket = this.#lowest; bucket <= this.#highest; bucket += 1) {
      // Whole milliseconds, as percentiles are: below 25 ms they are exact.
      const timeMs = Math.round(toTime(bucket))
      while (range < edgesMs.length && timeMs >= (edgesMs[range] ?? 0)) range += 1
      counts[range] = (counts[range] ?? 0) + (this.#counts[bucket] ?? 0)
    }
    return counts
  }

  #count(bucket: number, times: number): void {
    if (bucket >= BUCKETS || !Number.isSafeInteger(times)) return
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + times
    this.#total += times
    if (bucket < this.#lowest) this.#lowest = bucket
    if (bucket > this.#highest) this.#highest = bucket
  }

  clear(): void {
    if (this.#highest >= 0) this.#counts.fill(0, this.#lowest, this.#highest + 1)
    this.#total = 0
    this.#lowest = BUCKETS
    this.#highest = -1
  }
}

/**
 * Times counted by bucket where only a few buckets are in use: a hundredth of a histogram's memory.
 * With thousands of accounts most hold a single time, which takes no map.
 */
export class TimeCounts {
  #bucket = -1
  #count = 0
  /** Of the other buckets. */
  #counts: Map<number, number> | undefined

  /** @param timeMs as for `LatencyHistogram.add` */
  add(timeMs: number): void {
    const bucket = toBucket(timeMs)
    if (this.#count === 0) this.#bucket = bucket
    if (bucket === this.#bucket) this.#count += 1
    else {
      this.#counts ??= new Map()
      this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + 1)
    }
  }

  /** The histogram as text. */
  encode(): string {
    if (this.#count === 0) return ''
    if (this.#counts === undefined) return `${this.#bucket}:${this.#count}`
    const counts: (readonly [bucket: number, count: number])[] = [...this.#counts]
    counts.push([this.#bucket, this.#count])
    return toShortText(counts.sort(([left], [right]) => left - right))
  }
}

/** Both as one text, in which the same bucket may come twice. */
export function joinEncoded(left: string, right: string): string {
  return left === '' || right === '' ? left + right : `${left},${right}`
}

const scratch = new LatencyHistogram()

/** The same histogram with each bucket once. */
export function shortenEncoded(text: string): string {
  // One bucket: so are most where there are thousands of accounts.
  if (!text.includes(',') && !text.startsWith('~')) return text
  scratch.clear()
  scratch.addEncoded(text)
  return scratch.encode()
}

/** Like `shortenEncoded`, in the short form. */
export function toShortForm(text: string): string {
  scratch.clear()
  scratch.addEncoded(text)
  return scratch.encodeShort()
}

/** @param counts in the order of the buckets */
function toShortText(counts: readonly (readonly [bucket: number, count: number])[]): string {
  let text = '~'
  let last = -1
  for (const [bucket, count] of counts) {
    text += toDigits(bucket - last) + toDigits(count)
    last = bucket
  }
  return text
}

function toDigits(number: number): string {
  let text = ''
  let rest = number
  while (rest >= BASE) {
    text += DIGITS.charAt(rest % BASE)
    rest = Math.floor(rest / BASE)
  }
  return text + DIGITS.charAt(BASE + rest)
}

/**
 * Bucket 0 is for less than a millisecond, bucket n for what lies above GROWTH^(n-2) and up to
 * GROWTH^(n-1).
 */
function toBucket(timeMs: number): number {
  if (!(timeMs >= 1)) return 0
  return Math.min(BUCKETS - 1, 1 + Math.max(0, Math.ceil(Math.log(timeMs) / LOG_GROWTH - 1e-9)))
}

function toTime(bucket: number): number {
  return bucket === 0 ? 0 : (2 * GROWTH ** (bucket - 1)) / (GROWTH + 1)
}
