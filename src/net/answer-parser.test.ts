import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { IS_LONG } from '../../test/support/chaos-form.ts'
import { readByLlhttp } from '../../test/support/llhttp.ts'
import { AnswerParser } from './answer-parser.ts'
import { MalformedMessage } from './message-parser.ts'

interface Heard {
  readonly status: number | undefined
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
  readonly isWhole: boolean
  readonly isMalformed: boolean
  readonly isReusable: boolean
}

/** Texts are Latin-1, so a character is a byte. */
function hear(pieces: readonly string[], { closes = false, opensTunnel = false } = {}): Heard {
  let status: number | undefined
  const headers: [string, string][] = []
  let body = ''
  let isWhole = false
  let isMalformed = false
  const parser = new AnswerParser(
    {
      onHead: (head) => {
        status = head.status
        head.headers.forEach((value, name) => {
          headers.push([name, value])
        })
      },
      onPiece: (piece) => {
        expect(piece.byteLength).toBeGreaterThan(0)
        body += Buffer.from(piece).toString('latin1')
      },
      onEnd: () => {
        expect(isWhole).toBeFalse()
        isWhole = true
      },
    },
    opensTunnel,
  )
  try {
    for (const piece of pieces) if (piece !== '') parser.push(Buffer.from(piece, 'latin1'))
    if (closes) parser.close()
  } catch (thrown) {
    if (!(thrown instanceof MalformedMessage)) throw thrown
    isMalformed = true
  }
  return { status, headers, body, isWhole, isMalformed, isReusable: parser.isReusable }
}

const head = (...lines: readonly string[]) => ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n')

const WHOLE: readonly (readonly [string, string, Partial<Heard>])[] = [
  ['a length', `${head('Content-Length: 5')}hello`, { body: 'hello', isReusable: true }],
  ['a length of nothing', head('content-length: 0'), { body: '', isReusable: true }],
  [
    'chunks',
    `${head('transfer-encoding: chunked')}5\r\nhello\r\n00A\r\n, world!!!\r\n0\r\n\r\n`,
    { body: 'hello, world!!!', isReusable: true },
  ],
  [
    'chunks with extensions and trailers, which are dropped',
    `${head('Transfer-Encoding: Chunked')}2;a;b=c;d="e \\" f"\r\nhi\r\n0;last\r\nDigest: x\r\nother: \r\n\r\n`,
    { body: 'hi', headers: [['transfer-encoding', 'Chunked']] },
  ],
  [
    'no body, as 204 has none',
    'HTTP/1.1 204 No Content\r\n\r\n',
    { status: 204, body: '', isReusable: true },
  ],
  [
    'no body, as 304 has none',
    'HTTP/1.1 304 N\r\ncontent-length: 9\r\n\r\n',
    { status: 304, body: '' },
  ],
  [
    'interim answers before it',
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${head('content-length: 1')}x`,
    { status: 200, body: 'x', headers: [['content-length', '1']] },
  ],
  ['no reason', 'HTTP/1.1 429\r\ncontent-length: 0\r\n\r\n', { status: 429 }],
  ['an empty reason', 'HTTP/1.1 429 \r\ncontent-length: 0\r\n\r\n', { status: 429 }],
  [
    'a connection that ends with it',
    `${head('connection: Keep-Alive, CLOSE', 'content-length: 2')}hi`,
    { body: 'hi', isReusable: false },
  ],
  [
    'an old version',
    'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nhi',
    { body: 'hi', isReusable: false },
  ],
  [
    'headers in odd forms',
    head('content-length:0', 'X-A:  \t b\tc \t ', 'x-empty:', 'x-a: d', 'x-latin: caf\u00e9'),
    {
      headers: [
        ['content-length', '0'],
        ['x-a', 'b\tc, d'],
        ['x-empty', ''],
        ['x-latin', 'caf\u00e9'],
      ],
    },
  ],
]

describe('an answer with', () => {
  test.each(WHOLE)(
    '%s is whole, wherever it is cut in two, and byte by byte',
    (_name, text, expected) => {
      const whole = hear([text])
      expect(whole).toMatchObject({ status: 200, isWhole: true, isMalformed: false, ...expected })
      for (let cut = 1; cut < text.length; cut += 1) {
        expect(hear([text.slice(0, cut), text.slice(cut)])).toEqual(whole)
        // An incomplete answer is never taken as complete, even if the upstream closes.
        expect(hear([text.slice(0, cut)], { closes: true }).isWhole).toBeFalse()
      }
      expect(hear([...text])).toEqual(whole)
    },
  )

  test('no length and no chunks is whole when the connection ends', () => {
    const text = `${head('content-type: text/plain')}hello`
    expect(hear([text])).toMatchObject({ body: 'hello', isWhole: false })
    expect(hear([...text], { closes: true })).toMatchObject({
      body: 'hello',
      isWhole: true,
      isReusable: false,
    })
  })

  test('many small chunks is handed on in one piece for each read', () => {
    const pieces: number[] = []
    const parser = new AnswerParser({
      onHead: () => {},
      onPiece: ({ byteLength }) => pieces.push(byteLength),
      onEnd: () => {},
    })
    parser.push(Buffer.from(head('transfer-encoding: chunked')))
    for (const count of [1, 3, 1_000]) parser.push(Buffer.from('1\r\nx\r\n'.repeat(count)))
    parser.push(Buffer.from('1\r\nx\r\n0\r\n\r\n'))
    expect(pieces).toEqual([1, 3, 1_000, 1])
  })

  test('a tunnel has no body, whatever it says', () => {
    const heard = hear(['HTTP/1.1 200 Established\r\n\r\n'], { opensTunnel: true })
    expect(heard).toMatchObject({ status: 200, isWhole: true, body: '' })
    expect(
      hear(['HTTP/1.1 200 Established\r\n\r\nx'], { opensTunnel: true }).isMalformed,
    ).toBeTrue()
  })

  test.each([
    ['timeout=5, max=100', 5],
    ['max=7,timeout=30', 30],
    ['timeout=', undefined],
    ['xtimeout=5', undefined],
  ])('keep-alive: %s', (value, seconds) => {
    const parser = new AnswerParser({ onHead: () => {}, onPiece: () => {}, onEnd: () => {} })
    parser.push(Buffer.from(head('content-length: 0', `keep-alive: ${value}`)))
    expect(parser.keepAliveS).toBe(seconds)
  })
})

const MALFORMED: readonly (readonly [string, string])[] = [
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
  ['another version', 'HTTP/2.0 200 OK\r\n\r\n'],
  ['a version in small letters', 'http/1.1 200 OK\r\n\r\n'],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ['a status below 100', 'HTTP/1.1 099 OK\r\n\r\n'],
  ['two blanks before the status', 'HTTP/1.1  200 OK\r\n\r\n'],
  ['a control character in the reason', 'HTTP/1.1 200 O\x01K\r\n\r\n'],
  ['an empty line before it', `\r\n${head('content-length: 0')}`],
  ['line feeds alone', 'HTTP/1.1 200 OK\ncontent-length: 0\n\n\r\n\r\n'],
  ['a line feed in a header', head('a: b\nc: d', 'content-length: 0')],
  ['a carriage return in a header', head('a: b\rc: d', 'content-length: 0')],
  ['a zero byte in a header', head('a: b\0c', 'content-length: 0')],
  ['a control character in a header', head('a: b\x1bc', 'content-length: 0')],
  [
    'more names of headers than anybody sends',
    head(...Array.from({ length: 501 }, (_, at) => `x-${at}: a`), 'content-length: 0'),
  ],
  ['an interim answer of HTTP/1.0', `HTTP/1.0 100 Continue\r\n\r\n${head('content-length: 0')}`],
  ['a folded header', head('a: b', ' c', 'content-length: 0')],
  ['a header folded by a tab', head('a: b', '\tc', 'content-length: 0')],
  ['a blank before the colon', head('content-length : 0')],
  ['a header without a name', head(': x', 'content-length: 0')],
  ['a header without a colon', head('hello', 'content-length: 0')],
  ['a name with a blank', head('a b: c', 'content-length: 0')],
  ['a name that is not in ASCII', head('\u00e4: c', 'content-length: 0')],
  ['two lengths', `${head('content-length: 1', 'content-length: 2')}ab`],
  ['the same length twice', `${head('content-length: 1', 'content-length: 1')}a`],
  ['a list of lengths', `${head('content-length: 1, 1')}a`],
  ['a length with a sign', `${head('content-length: +1')}a`],
  ['a length below nothing', `${head('content-length: -1')}a`],
  ['a length in hexadecimal', `${head('content-length: 0x1')}a`],
  ['a length of nothing at all', `${head('content-length:')}a`],
  ['a length beyond all numbers', `${head('content-length: 99999999999999999999')}a`],
  ['a length and chunks', `${head('content-length: 1', 'transfer-encoding: chunked')}0\r\n\r\n`],
  ['chunks of another coding', `${head('transfer-encoding: gzip, chunked')}0\r\n\r\n`],
  ['chunks twice', `${head('transfer-encoding: chunked', 'transfer-encoding: chunked')}0\r\n\r\n`],
  ['a coding that does not end', head('transfer-encoding: identity')],
  ['chunks in an old version', 'HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['a chunk without a size', `${head('transfer-encoding: chunked')}\r\nab\r\n0\r\n\r\n`],
  ['a chunk of no number', `${head('transfer-encoding: chunked')}xyz\r\nab\r\n0\r\n\r\n`],
  ['a chunk below nothing', `${head('transfer-encoding: chunked')}-2\r\nab\r\n0\r\n\r\n`],
  ['a chunk beyond all numbers', `${head('transfer-encoding: chunked')}fffffffffffffffff\r\nab`],
  ['a blank after a size', `${head('transfer-encoding: chunked')}2 \r\nab\r\n0\r\n\r\n`],
  ['a size that ends in a line feed', `${head('transfer-encoding: chunked')}2\nab\r\n0\r\n\r\n`],
  ['a line feed in an extension', `${head('transfer-encoding: chunked')}2;a\nb\r\nab\r\n0\r\n\r\n`],
  [
    'an extension that does not end',
    `${head('transfer-encoding: chunked')}2;a="b\r\nab\r\n0\r\n\r\n`,
  ],
  [
    'a chunk that is longer than its size',
    `${head('transfer-encoding: chunked')}2\r\nabc\r\n0\r\n\r\n`,
  ],
  [
    'a chunk that ends in a line feed',
    `${head('transfer-encoding: chunked')}2\r\nab\n0\r\n\r\n\r\n`,
  ],
  ['chunks of line feeds alone', `${head('transfer-encoding: chunked')}2\nab\n0\n\n`],
  ['a chunk that ends in a line feed, so far', `${head('transfer-encoding: chunked')}2\r\nab\n`],
  ['a trailer that ends in a line feed', `${head('transfer-encoding: chunked')}0\r\nx: y\n\n`],
  ['a head of line feeds alone', 'HTTP/1.1 200 OK\ncontent-length: 1\n\na'],
  ['a trailer that is not a header', `${head('transfer-encoding: chunked')}0\r\nno header\r\n\r\n`],
  ['a change of protocol', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\n\r\n'],
  ['interim answers without end', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(17)],
  ['a head without end', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(70_000)}`],
  [
    'a head of too many lines',
    head(...Array.from({ length: 7_000 }, () => 'x-abc: def'), 'content-length: 0'),
  ],
  ['an extension without end', `${head('transfer-encoding: chunked')}1;${'x'.repeat(5_000)}`],
  [
    'trailers without end',
    `${head('transfer-encoding: chunked')}0\r\n${'x-abc: def\r\n'.repeat(7_000)}`,
  ],
]

describe('no answer is one with', () => {
  test.each(MALFORMED)('%s', (_name, text) => {
    for (const pieces of [[text], [...text]])
      expect(hear(pieces, { closes: true })).toMatchObject({ isMalformed: true, isWhole: false })
  })
})

describe('bytes after a whole answer do not belong to it', () => {
  test.each([
    ['bytes after its end', `${head('content-length: 1')}ab`],
    ['bytes after its last chunk', `${head('transfer-encoding: chunked')}0\r\n\r\nx`],
    ['a second answer after it', `${head('content-length: 0')}${head('content-length: 0')}`],
    ['a body after a status without one', 'HTTP/1.1 204 No Content\r\n\r\nx'],
  ])('%s', (_name, text) => {
    // Within one read the answer itself is malformed; in a later read only the connection is.
    expect(hear([text])).toMatchObject({ isMalformed: true, isWhole: false })
    expect(hear([...text])).toMatchObject({ isMalformed: true, isWhole: true })
  })
})

test('a head that comes byte by byte costs in proportion to its length', () => {
  // Copying all earlier bytes with every byte would be 2 GB here.
  expect(
    hear([...`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(64_000)}\r\ncontent-length: 0\r\n\r\n`]).isWhole,
  ).toBeTrue()
})

/** Valid, nearly valid and invalid answers, built from the parts that decide. */
const lines = fc.array(
  fc.oneof(
    fc.constantFrom(
      'content-length: 3',
      'Content-Length: 0',
      'content-length: 03',
      'transfer-encoding: chunked',
      'Transfer-Encoding: gzip, chunked',
      'transfer-encoding: identity',
      'connection: close',
      'connection: upgrade',
      'keep-alive: timeout=5',
      'x-a: b',
      'x a: b',
      ' folded',
      'x-b:',
      ': c',
    ),
    fc
      .tuple(fc.string({ maxLength: 6 }), fc.string({ maxLength: 6 }))
      .map(([name, value]) => `${name}:${value}`),
  ),
  { maxLength: 4 },
)
const bodies = fc.constantFrom(
  '',
  'abc',
  'abcd',
  '3\r\nabc\r\n0\r\n\r\n',
  '3;a=b\r\nabc\r\n0\r\nx: y\r\n\r\n',
  '3;a="b;c"\r\nabc\r\n0\r\n\r\n',
  '3 \r\nabc\r\n0\r\n\r\n',
  '03\r\nabc\r\n00\r\n\r\n',
  '3\r\nabcd\r\n0\r\n\r\n',
  '0\r\n\r\n',
)
const statusLines = fc.constantFrom(
  'HTTP/1.1 200 OK',
  'HTTP/1.1 200',
  'HTTP/1.0 200 OK',
  'HTTP/1.1 204 None',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK',
  'HTTP/1.1 304 Same',
  'HTTP/1.1 2x0 OK',
)
const edits = fc.array(
  fc.record({
    at: fc.nat(400),
    removed: fc.nat(2),
    added: fc.constantFrom(
      '',
      '\r',
      '\n',
      '\r\n',
      ' ',
      '\t',
      ':',
      '\0',
      ';',
      '"',
      '0',
      'f',
      '\x7f',
      '\u00ff',
    ),
  }),
  { maxLength: 2 },
)
const answers = fc
  .tuple(statusLines, lines, bodies, edits)
  .map(([statusLine, fields, body, made]) =>
    made.reduce(
      (text, { at, removed, added }) => text.slice(0, at) + added + text.slice(at + removed),
      `${[statusLine, ...fields, '', ''].join('\r\n')}${body}`,
    ),
  )

test('Node’s parser reads every answer accepted here alike, and rejected ones are never taken', async () => {
  const texts = fc.sample(answers, { numRuns: IS_LONG ? 100_000 : 4_000 })
  const theirs = await readByLlhttp(texts)
  let whole = 0
  for (const [at, text] of texts.entries()) {
    const ours = hear([text], { closes: true })
    if (!ours.isWhole) continue
    expect(hear([...text], { closes: true })).toEqual(ours)
    whole += 1
    const { status, headers, body } = ours
    expect<unknown>({ text, ...theirs[at] }).toEqual({
      text,
      isWhole: true,
      status,
      headers: [...headers],
      body,
    })
  }
  // Without this many whole answers the comparison proves little.
  expect(whole).toBeGreaterThan(texts.length / 50)
})
