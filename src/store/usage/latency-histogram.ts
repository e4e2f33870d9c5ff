/**
 * Counts durations in logarithmic buckets, so that percentiles of any range can be computed by
 * adding its parts. A percentile is within 2 % of the exact value, plus 0.5 ms.
 * Text form: `bucket:count,bucket:count`; texts joined by a comma are their sum. Short form: `~`,
 * then for each used bucket its distance from the previous bucket and its count, in base 32 with
 * the lowest digit first; the first 32 characters mean that another digit follows.
 */

const RELATIVE_ERROR = 0.02
const GROWTH = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR)
const LOG_GROWTH = Math.log(GROWTH)
/** The last bucket ends at eleven days and includes everything longer. */
const BUCKETS = 520

const COLON = 58
const COMMA = 44
const ZERO = 48
const TILDE = 126
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const BASE = 32
const DIGIT_OF = new Uint8Array(128)
for (let index = 0; index < DIGITS.length; index += 1) DIGIT_OF[DIGITS.charCodeAt(index)] = index

export class LatencyHistogram {
  readonly #counts = new Float64Array(BUCKETS)
  #total = 0
  #lowest = BUCKETS
  #highest = -1

  get total(): number {
    return this.#total
  }

  add(timeMs: number): void {
    this.#count(toBucket(timeMs), 1)
  }

  /**
   * Adds a text of `encode` or `encodeShort`, or several joined by commas. Ignores invalid text.
   */
  addEncoded(text: string): void {
    let bucket = 0
    let value = 0
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index)
      if (code === TILDE) {
        index = this.#addShort(text, index + 1)
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

  addAll(other: LatencyHistogram): void {
    for (let bucket = other.#lowest; bucket <= other.#highest; bucket += 1) {
      const count = other.#counts[bucket] ?? 0
      if (count > 0) this.#count(bucket, count)
    }
  }

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

  /** A third as long as `encode`; older versions cannot read this form. */
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
   * The value in milliseconds that this share (0 to 1) of the times does not exceed; null when
   * empty.
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
   * Counts the times below the first edge, between each edge and the next, and above the last.
   * Times within 2 % of an edge may count on the other side.
   * @param edgesMs ascending
   */
  countBelow(edgesMs: readonly number[]): number[] {
    const counts = new Array<number>(edgesMs.length + 1).fill(0)
    let range = 0
    for (let bucket = this.#lowest; bucket <= this.#highest; bucket += 1) {
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
 * Counts by bucket in a hundredth of a histogram's memory, when few buckets are used. With
 * thousands of accounts most objects hold a single time, which needs no map.
 */
export class TimeCounts {
  #bucket = -1
  #count = 0
  #counts: Map<number, number> | undefined

  add(timeMs: number): void {
    const bucket = toBucket(timeMs)
    if (this.#count === 0) this.#bucket = bucket
    if (bucket === this.#bucket) this.#count += 1
    else {
      this.#counts ??= new Map()
      this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + 1)
    }
  }

  encode(): string {
    if (this.#count === 0) return ''
    if (this.#counts === undefined) return `${this.#bucket}:${this.#count}`
    const counts: (readonly [bucket: number, count: number])[] = [...this.#counts]
    counts.push([this.#bucket, this.#count])
    return toShortText(counts.sort(([left], [right]) => left - right))
  }
}

export function joinEncoded(left: string, right: string): string {
  return left === '' || right === '' ? left + right : `${left},${right}`
}

const scratch = new LatencyHistogram()

/** Adds up the counts of a bucket that occurs twice, so that the text has each bucket once. */
export function shortenEncoded(text: string): string {
  if (!text.includes(',') && !text.startsWith('~')) return text
  scratch.clear()
  scratch.addEncoded(text)
  return scratch.encode()
}

/** Converts a histogram's text to the short form, with each bucket once. */
export function toShortForm(text: string): string {
  scratch.clear()
  scratch.addEncoded(text)
  return scratch.encodeShort()
}

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

/** Bucket 0 is for less than 1 ms, bucket n for times above GROWTH^(n-2) up to GROWTH^(n-1). */
function toBucket(timeMs: number): number {
  if (!(timeMs >= 1)) return 0
  return Math.min(BUCKETS - 1, 1 + Math.max(0, Math.ceil(Math.log(timeMs) / LOG_GROWTH - 1e-9)))
}

function toTime(bucket: number): number {
  return bucket === 0 ? 0 : (2 * GROWTH ** (bucket - 1)) / (GROWTH + 1)
}
