/**
 * Calls on their way into the store, in any representation: the batch reports their number and
 * accounts, and decodes a call on request. Must not know any representation.
 */
import type { CallRecord } from './call.ts'
import type { AccountId, CallId } from './ids.ts'

export interface CallBatch {
  readonly length: number
  /** @param index from 0 to below `length`, here and below */
  accountOf(index: number): AccountId
  idOf(index: number): CallId
  /** May cost a microsecond each time. */
  read(index: number): CallRecord
}

/** A batch of call objects. */
export class CallList implements CallBatch {
  readonly #calls: readonly CallRecord[]

  constructor(calls: readonly CallRecord[]) {
    this.#calls = calls
  }

  get length(): number {
    return this.#calls.length
  }

  accountOf(index: number): AccountId {
    return this.read(index).accountId
  }

  idOf(index: number): CallId {
    return this.read(index).id
  }

  read(index: number): CallRecord {
    const call = this.#calls[index]
    if (call === undefined) throw new RangeError(`There is no call ${index} in this batch.`)
    return call
  }
}

/** A part of a batch, in the order of `places`, which are its indexes. */
export class BatchPart implements CallBatch {
  readonly #batch: CallBatch
  readonly #places: readonly number[]

  constructor(batch: CallBatch, places: readonly number[]) {
    this.#batch = batch
    this.#places = places
  }

  get length(): number {
    return this.#places.length
  }

  accountOf(index: number): AccountId {
    return this.#batch.accountOf(this.#placeOf(index))
  }

  idOf(index: number): CallId {
    return this.#batch.idOf(this.#placeOf(index))
  }

  read(index: number): CallRecord {
    return this.#batch.read(this.#placeOf(index))
  }

  /** Calls from one index up to another, which may exceed the end. */
  slice(start: number, end: number): readonly CallRecord[] {
    return this.#places.slice(start, end).map((place) => this.#batch.read(place))
  }

  #placeOf(index: number): number {
    const place = this.#places[index]
    if (place === undefined) throw new RangeError(`There is no call ${index} in this part.`)
    return place
  }
}
