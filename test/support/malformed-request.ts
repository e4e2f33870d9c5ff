import type { Envelope } from './envelopes.ts'

export interface MalformedRequest {
  readonly name: string
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly status: number
  readonly envelope: Envelope | 'none'
  readonly contains?: string
}

const json = (text: string): Uint8Array => Buffer.from(text)
const bytes = (...values: (string | readonly number[])[]): Uint8Array =>
  Buffer.concat(
    values.map((value) => (typeof value === 'string' ? Buffer.from(value) : Buffer.from(value))),
  )

/**
 * Everything but a JSON object in UTF-8 with distinct keys, which every endpoint with a body
 * refuses.
 */
export const UNUSABLE_BODIES: readonly (readonly [string, Uint8Array])[] = [
  ['an empty body', json('')],
  ['only white space', json(' \n\t ')],
  ['null', json('null')],
  ['true', json('true')],
  ['a number', json('1')],
  ['a string', json('"model"')],
  ['an array', json('[]')],
  ['an array of objects', json('[{"model":"demo"}]')],
  ['an open brace', json('{')],
  ['a closing brace', json('}')],
  ['an object without its end', json('{"model":"demo"')],
  ['a member without a value', json('{"model":}')],
  ['a member without a colon', json('{"model" "demo"}')],
  ['a key alone', json('{"model"}')],
  ['a brace too many', json('{"model":"demo"}}')],
  ['text after the object', json('{"model":"demo"} x')],
  ['two objects', json('{"model":"demo"}{"model":"demo"}')],
  ['a trailing comma', json('{"model":"demo",}')],
  ['a comma alone', json('{,}')],
  ['two commas', json('{"a":1,,"b":2}')],
  ['single quotes', json("{'model':'demo'}")],
  ['a bare key', json('{model:"demo"}')],
  ['a leading zero', json('{"a":01}')],
  ['a plus sign', json('{"a":+1}')],
  ['a number without its whole part', json('{"a":.5}')],
  ['a number without its fraction', json('{"a":1.}')],
  ['a number without its exponent', json('{"a":1e}')],
  ['a minus sign alone', json('{"a":-}')],
  ['hexadecimal', json('{"a":0x10}')],
  ['NaN', json('{"a":NaN}')],
  ['Infinity', json('{"a":-Infinity}')],
  ['undefined', json('{"a":undefined}')],
  ['a misspelled literal', json('{"a":tru}')],
  ['a literal in capitals', json('{"a":True}')],
  ['a control character in a string', json('{"a":"\u0001"}')],
  ['a line break in a string', json('{"a":"x\ny"}')],
  ['an unknown escape', json('{"a":"\\x41"}')],
  ['half a unicode escape', json('{"a":"\\u12"}')],
  ['a string without its end', json('{"a":"x}')],
  ['a string that ends in a backslash', json('{"a":"\\')],
  ['a comment', json('{"a":1 /* one */}')],
  ['brackets that do not match', json('{"a":[1}}')],
  ['a byte order mark', bytes([0xef, 0xbb, 0xbf], '{"model":"demo"}')],
  ['a byte that is no UTF-8', bytes('{"a":"', [0xff], '"}')],
  ['an overlong UTF-8 sequence', bytes('{"a":"', [0xc0, 0xaf], '"}')],
  ['half a UTF-8 sequence', bytes('{"a":"', [0xf0, 0x9f, 0x98], '"}')],
  ['a surrogate in UTF-8', bytes('{"a":"', [0xed, 0xa0, 0x80], '"}')],
  ['UTF-16', Buffer.from('{"model":"demo"}', 'utf16le')],
  ['a duplicate key', json('{"model":"a","model":"b"}')],
  ['a duplicate key in another spelling', json('{"model":"a","mod\\u0065l":"b"}')],
  ['a bomb of open brackets', json(`{"a":${'['.repeat(200_000)}`)],
  ['a bomb of nested arrays', json(`{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`)],
  ['a bomb of nested objects', json(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`)],
  ['nesting just over the limit', json(`{"a":${'['.repeat(300)}${']'.repeat(300)}}`)],
  ['a form', json('model=demo&input=hi')],
  ['XML', json('<?xml version="1.0"?><model>demo</model>')],
  ['gzip', Buffer.from('1f8b08000000000000ff', 'hex')],
  ['zero bytes', Buffer.alloc(64)],
]

/** Names that must never be found. */
export const IMPOSSIBLE_NAMES: readonly string[] = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '../../etc/passwd',
  "' OR 1=1 --",
  '%',
  'demo\u0000',
  'demo\r\nx-injected: 1',
  ' demo',
  'DEMO',
  '\u{1F600}',
  '<script>alert(1)</script>',
  'x'.repeat(100_000),
]
