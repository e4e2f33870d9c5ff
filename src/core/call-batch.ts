/** Calls on their way into the store, decoded only on request. */
import type { CallRecord } from './call.ts'
import type { AccountId, CallId } from './ids.ts'

export interface CallBatch {
  readonly length: number
  /** @param index from 0 to below `length` */
  accountOf(index: number): AccountId
  idOf(index: number): CallId
  /** Each call costs up to a microsecond. */
  read(index: number): CallRecord
}

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

  slice(start: number, end: number): readonly CallRecord[] {
    return this.#places.slice(start, end).map((place) => this.#batch.read(place))
  }

  #placeOf(index: number): number {
    const place = this.#places[index]
    if (place === undefined) throw new RangeError(`There is no call ${index} in this part.`)
    return place
  }
}
