import { describe } from 'bun:test'
import { target, useControlPlane } from './control-plane.fixture.ts'

const { check } = useControlPlane()

const gate = { id: 'new', targets: [target] }
const url = '/v1/gates'
const create = 'POST /v1/gates'

describe('bodies', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const deep = `{"targets":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  check([
    ['none', create, undefined, 400, 'body is empty'],
    ['empty text', create, '', 400, 'body is empty'],
    ['only space', create, ' \n', 400],
    ['an array', create, '[]', 400, 'not a valid JSON object'],
    ['null', create, 'null', 400, 'not a valid JSON object'],
    ['half an object', create, '{"id":', 400, 'not a valid JSON object'],
    ['text after the object', create, '{} {}', 400, 'not a valid JSON object'],
    ['a trailing comma', create, '{"id":"a",}', 400],
    ['a byte order mark', create, '\ufeff{}', 400],
    [
      'a key given twice',
      create,
      '{"id":"a","targets":[{"model":"openai/x"}],"i\\u0064":"b"}',
      400,
      'duplicate key',
    ],
    ['bytes that are no UTF-8', create, new Uint8Array([0x7b, 0xff, 0x7d]), 400, 'invalid UTF-8'],
    ['a nesting bomb', create, deep, 400],
    [
      'more than the limit',
      create,
      JSON.stringify({ description: 'x'.repeat(1_000_001) }),
      413,
      '"error":"payload_too_large"',
    ],
    ['more than the limit, of unknown length', create, endless(), 413],
    {
      name: 'a form',
      method: 'POST',
      url,
      body: 'id=a',
      headers: form,
      status: 400,
      holds: ['content-type: '],
    },
    {
      name: 'plain text',
      method: 'POST',
      url,
      body: '{}',
      headers: { 'content-type': 'text/plain' },
      status: 400,
      holds: ['content-type: '],
    },
    {
      name: 'another charset',
      method: 'POST',
      url,
      body: '{}',
      headers: { 'content-type': 'application/json; charset=latin1' },
      status: 400,
      holds: ['content-type: '],
    },
    {
      name: 'a compressed body',
      method: 'POST',
      url,
      body: gate,
      headers: { 'content-encoding': 'gzip' },
      status: 400,
      holds: ['content-encoding: '],
    },
    {
      name: 'JSON with a charset',
      method: 'POST',
      url,
      body: gate,
      headers: { 'content-type': 'Application/JSON; charset="UTF-8"' },
      status: 201,
    },
    {
      name: 'JSON of no stated type',
      method: 'POST',
      url,
      body: gate,
      headers: { 'content-type': '' },
      status: 201,
    },
  ])

  /** Has no content-length; stops when nobody reads. */
  function endless(): ReadableStream<Uint8Array> {
    return new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536).fill(0x20)) })
  }
})
