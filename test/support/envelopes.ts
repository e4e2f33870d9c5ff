/** The two error envelopes of the interface, checked for their exact shape. */
import { expect } from 'bun:test'

export interface NestedError {
  readonly message: string
  readonly type: string
  readonly param: string | null
  readonly code: string | null
}

export interface FlatError {
  readonly error: string
  readonly message: string
  readonly details?: unknown
}

export function readNestedError(text: string): NestedError {
  const { error, ...others } = JSON.parse(text) as { error: NestedError }
  expect(others).toEqual({})
  expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type'])
  expect(error.message).toBeString()
  expect(error.message).not.toBe('')
  expect(error.type).toBeString()
  return error
}

export function readFlatError(text: string): FlatError {
  const envelope = JSON.parse(text) as FlatError
  expect(Object.keys(envelope).filter((key) => !['error', 'message', 'details'].includes(key))).toEqual([])
  expect(envelope.error).toMatch(/^[a-z_]+$/)
  expect(envelope.message).toBeString()
  expect(envelope.message).not.toBe('')
  return envelope
}

/** Checks the shape and returns the stable code: of the nested envelope `error.code`, of the flat one `error`. */
export function readErrorCode(envelope: 'nested' | 'flat', text: string): string | null {
  return envelope === 'nested' ? readNestedError(text).code : readFlatError(text).error
}

/** That the upstream is to blame. The nested envelope may carry a narrower code than the kind's own. */
export function expectUpstreamError(envelope: 'nested' | 'flat', text: string): void {
  if (envelope === 'nested') expect(readNestedError(text).type).toBe('upstream_error')
  else expect(readFlatError(text).error).toBe('upstream_error')
}
