import { describe, expect, test } from 'bun:test'
import { target, useControlPlane } from './control-plane.fixture.ts'

const { check, sendForJson } = useControlPlane()

const gate = { id: 'new', targets: [target] }
const url = '/v1/gates'
const create = 'POST /v1/gates'

describe('bodies made to cost much', () => {
  const members = (count: number) =>
    Array.from({ length: count }, (_, index) => `"m${index}":1`).join()
  check([
    [
      'more members than anything has',
      create,
      `{${members(1_001)}}`,
      400,
      'more than 1000 members',
    ],
    [
      'many problems: a hundred are listed, and their number',
      create,
      `{"id":"new","targets":[{"model":"openai/x"}],${members(900)}}`,
      400,
      '"field":"m0"',
      '(and 899 more)',
    ],
    [
      'many values inside',
      create,
      `{"targets":[${'1,'.repeat(20_000)}1]}`,
      400,
      'more than 20000 values',
    ],
    [
      'commas in text are not values',
      create,
      `{"id":"new","description":"${',\\"'.repeat(500)}"}`,
      400,
      'targets',
    ],
  ])
  const page = { origin: 'http://gatehouse.test', 'x-gatehouse-csrf': '1' }
  check([
    {
      name: 'a sign-in of 16 KB',
      method: 'POST',
      url: '/v1/auth/sign-in',
      headers: page,
      body: `{"email":"${'a'.repeat(16_384)}"}`,
      status: 413,
      holds: ['larger than 16384 bytes'],
    },
  ])

  test('a body with a thousand problems gets an answer that lists a hundred', async () => {
    const body = `{"id":"new","targets":[{"model":"openai/x"}],${members(900)}}`
    const answer = await sendForJson({ method: 'POST', url, body })
    expect(answer.details).toBeArrayOfSize(100)
  })
})

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
    ['bytes of invalid UTF-8', create, new Uint8Array([0x7b, 0xff, 0x7d]), 400, 'invalid UTF-8'],
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

  /** Has no content-length; stops without a reader. */
  function endless(): ReadableStream<Uint8Array> {
    return new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(65_536).fill(0x20)),
    })
  }
})
