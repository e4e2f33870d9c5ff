/**
 * A vector for a text: deterministic, of length 1, and near to another's when they share words.
 * Knows no dialect.
 */
import { splitTokens } from './count-tokens.ts'

const PLACES_PER_TOKEN = 8

/** Single precision, so that every way of writing the numbers down says the same. */
export function embedText(text: string, dimensions: number): Float32Array {
  const vector = new Float64Array(dimensions)
  for (const token of ['sandbox', ...splitTokens(text.toLowerCase())]) {
    let state = hash(token.trim())
    for (let place = 0; place < PLACES_PER_TOKEN; place++) {
      state = next(state)
      const at = state % dimensions
      vector[at] = (vector[at] ?? 0) + (state & 0x10000 ? 1 : -1)
    }
  }
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
  return Float32Array.from(vector, (value) => (length === 0 ? 0 : value / length))
}

/** FNV-1a. */
function hash(text: string): number {
  let state = 0x811c9dc5
  for (let at = 0; at < text.length; at++)
    state = Math.imul(state ^ text.charCodeAt(at), 0x01000193)
  return state >>> 0
}

/** Marsaglia's xorshift; never 0 from anything but 0. */
function next(state: number): number {
  let value = state || 1
  value ^= value << 13
  value ^= value >>> 17
  value ^= value << 5
  return value >>> 0
}

/** Little-endian, as every vendor sends it. */
export function toBase64(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64')
}
