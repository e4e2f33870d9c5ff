/** Checks the exact shape of the error envelopes. */
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

/** The members that the flat envelope also has for Mistral's clients. */
interface MistralMembers {
  readonly object: 'error'
  readonly type: string
  readonly param: string | null
  readonly code: string | null
}

export function readFlatError(text: string): FlatError {
  const { object, type, param, code, ...envelope } = JSON.parse(text) as FlatError &
    Partial<MistralMembers>
  if (object !== undefined) readMistralError(text)
  else expect([type, param, code]).toEqual([undefined, undefined, undefined])
  expect(
    Object.keys(envelope).filter((key) => !['error', 'message', 'details'].includes(key)),
  ).toEqual([])
  expect(envelope.error).toMatch(/^[a-z_]+$/)
  expect(envelope.message).toBeString()
  expect(envelope.message).not.toBe('')
  return envelope
}

export function readMistralError(text: string): FlatError & MistralMembers {
  const { details: _, ...envelope } = JSON.parse(text) as FlatError & MistralMembers
  expect(envelope).toEqual({
    error: expect.stringMatching(/^[a-z_]+$/),
    message: expect.stringMatching(/./),
    object: 'error',
    type: expect.stringMatching(/^[a-z_]+$/),
    param: envelope.param === null ? null : expect.any(String),
    code: envelope.code === null ? null : expect.any(String),
  })
  return JSON.parse(text) as FlatError & MistralMembers
}

export type Envelope = 'nested' | 'flat' | 'messages'

export function readMessagesError(text: string): {
  readonly type: string
  readonly message: string
} {
  const { type, error, ...others } = JSON.parse(text) as {
    type: string
    error: { type: string; message: string }
  }
  expect(others).toEqual({})
  expect(type).toBe('error')
  expect(Object.keys(error).sort()).toEqual(['message', 'type'])
  expect(error.type).toMatch(/^[a-z_]+$/)
  expect(error.message).toBeString()
  expect(error.message).not.toBe('')
  return error
}

export function readErrorCode(envelope: Envelope | 'alt', text: string): string | null {
  switch (envelope) {
    case 'nested':
      return readNestedError(text).code
    case 'flat':
      return readFlatError(text).error
    case 'alt':
      return readMistralError(text).error
    case 'messages':
      return readMessagesError(text).type
  }
}

export function expectUpstreamError(envelope: Envelope, text: string): void {
  if (envelope === 'nested') expect(readNestedError(text).type).toBe('upstream_error')
  else if (envelope === 'flat') expect(readFlatError(text).error).toBe('upstream_error')
  else expect(['api_error', 'timeout_error']).toContain(readMessagesError(text).type)
}
