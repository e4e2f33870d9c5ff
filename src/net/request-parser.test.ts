import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { IS_LONG } from '../../test/support/chaos-form.ts'
import { type ReadRequest, readRequestsByLlhttp } from '../../test/support/llhttp.ts'
import { MalformedMessage } from './message-parser.ts'
import { type RequestHead, RequestParser, statusOf } from './request-parser.ts'

interface Heard {
  readonly requests: readonly (Omit<ReadRequest, 'target'> & { readonly url: string })[]
  /** Status of the refusal; 0: no request was refused. */
  readonly status: number
}

/** Reads all requests of a connection. Texts are Latin-1, so a character is a byte. */
function hear(pieces: readonly string[]): Heard {
  const requests: { -readonly [Key in keyof Heard['requests'][0]]: Heard['requests'][0][Key] }[] =
    []
  let left = 0
  const last = () => {
    const request = requests.at(-1)
    if (request === undefined) throw new Error('A body came before its head.')
    return request
  }
  const parser = new RequestParser({
    onRequest: (head) => {
      requests.push({ ...toHeard(head), body: '', isWhole: false })
    },
    onPiece: (piece) => {
      expect(piece.byteLength).toBeGreaterThan(0)
      last().body += Buffer.from(piece).toString('latin1')
    },
    onEnd: (count) => {
      expect(last().isWhole).toBeFalse()
      last().isWhole = true
      left = count
    },
  })
  try {
    for (const piece of pieces) {
      let bytes = Buffer.from(piece, 'latin1')
      while (bytes.length > 0) {
        const before = requests.filter(({ isWhole }) => isWhole).length
        left = 0
        parser.push(bytes)
        if (requests.filter(({ isWhole }) => isWhole).length === before) break
        if (!last().isPersistent) return { requests, status: 0 }
        parser.expectNext()
        bytes = bytes.subarray(bytes.length - left)
      }
    }
  } catch (thrown) {
    if (!(thrown instanceof MalformedMessage)) throw thrown
    return { requests, status: statusOf(thrown) }
  }
  return { requests, status: 0 }
}

function toHeard({ method, url, isOld, headers, isPersistent }: RequestHead) {
  const fields: [string, string][] = []
  headers.forEach((value, name) => {
    fields.push([name, value])
  })
  return { method, url, isOld, headers: fields, isPersistent }
}

const head = (line: string, ...lines: readonly string[]) =>
  [`${line} HTTP/1.1`, 'host: x', ...lines, '', ''].join('\r\n')
const CHUNKED = head('POST /a', 'transfer-encoding: chunked')

type Expected = Partial<Heard['requests'][0]>

const WHOLE: readonly (readonly [string, string, ...Expected[]])[] = [
  ['no body', head('GET /'), { method: 'GET', url: 'http://x/', isPersistent: true }],
  ['a length', `${head('POST /a', 'Content-Length: 5')}hello`, { body: 'hello' }],
  ['a length of nothing', head('POST /a', 'content-length: 0'), { body: '' }],
  [
    'a length with zeros before it',
    `${head('POST /a', 'content-length: 003')}abc`,
    { body: 'abc' },
  ],
  ['chunks', `${CHUNKED}5\r\nhello\r\n00A\r\n, world!!!\r\n0\r\n\r\n`, { body: 'hello, world!!!' }],
  [
    'chunks in capital letters',
    `${head('POST /a', 'Transfer-Encoding: CHUNKED')}1\r\na\r\n000\r\n\r\n`,
    { body: 'a' },
  ],
  [
    'extensions and trailers, which are dropped',
    `${CHUNKED}2;a;b=c;d="e \\" f"\r\nhi\r\n0;last\r\nHost: evil\r\nother: \r\n\r\n`,
    {
      body: 'hi',
      headers: [
        ['host', 'x'],
        ['transfer-encoding', 'chunked'],
      ],
    },
  ],
  ['an end of its connection', head('GET /', 'connection: Close'), { isPersistent: false }],
  ['an old version', 'GET / HTTP/1.0\r\nhost: x\r\n\r\n', { isOld: true, isPersistent: false }],
  [
    'an old version that stays',
    'GET / HTTP/1.0\r\nhost: x\r\nconnection: Keep-Alive\r\n\r\n',
    { isOld: true, isPersistent: true },
  ],
  ['an empty line before it', `\r\n${head('GET /')}`, { url: 'http://x/' }],
  [
    'empty lines behind a body, as some clients send them',
    `${head('POST /a', 'content-length: 1')}1\r\n${head('GET /b')}\r\n\r\n\r\n${head('GET /c')}\r\n`,
    { url: 'http://x/a', body: '1' },
    { url: 'http://x/b' },
    { url: 'http://x/c' },
  ],
  ['an old version without a host', 'GET /healthz HTTP/1.0\r\n\r\n', { url: '/healthz' }],
  ['a query', head('GET /a/b?c=%20&d=/../e'), { url: 'http://x/a/b?c=%20&d=/../e' }],
  ['dot segments', head('GET /a/./../b/%2e%2e/c'), { url: 'http://x/c' }],
  ['the server itself as its target', head('OPTIONS *'), { url: 'http://x/' }],
  [
    'the server itself as its target, of an old version',
    'OPTIONS * HTTP/1.0\r\n\r\n',
    { url: '/' },
  ],
  ['a whole address', head('GET HTTP://X/a?b'), { url: 'http://x/a?b' }],
  ['a whole address without a path', head('GET http://x?b'), { url: 'http://x/?b' }],
  [
    'others behind it',
    `${head('POST /a', 'content-length: 1')}1${CHUNKED}1\r\n2\r\n0\r\n\r\n${head('GET /b')}`,
    { url: 'http://x/a', body: '1' },
    { url: 'http://x/a', body: '2' },
    { url: 'http://x/b', body: '' },
  ],
  [
    'a last one behind it, and bytes that nobody reads',
    `${head('GET /a')}${head('GET /b', 'connection: close')}GET /c`,
    { url: 'http://x/a', isPersistent: true },
    { url: 'http://x/b', isPersistent: false },
  ],
]

describe('a request with', () => {
  test.each(WHOLE)(
    '%s is whole, wherever it is cut in two, and byte by byte',
    (_name, text, ...expected) => {
      const whole = hear([text])
      expect(whole).toMatchObject({
        requests: expected.map((request) => ({ ...request, isWhole: true })),
        status: 0,
      })
      for (let cut = 1; cut < text.length; cut += 1)
        expect(hear([text.slice(0, cut), text.slice(cut)])).toEqual(whole)
      expect(hear([...text])).toEqual(whole)
    },
  )
})

const REFUSED: readonly (readonly [string, string, number?])[] = [
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
  ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505],
  ['a later version', 'GET / HTTP/1.2\r\nhost: x\r\n\r\n', 505],
  ['no version', 'GET /\r\nhost: x\r\n\r\n'],
  ['a version in small letters', 'GET / http/1.1\r\nhost: x\r\n\r\n'],
  ['two blanks before its target', head('GET  /')],
  ['a tab before its target', head('GET\t/')],
  ['a blank at the end of its first line', 'GET / HTTP/1.1 \r\nhost: x\r\n\r\n'],
  ['a line feed before it', `\n${head('GET /')}`],
  ['a carriage return before it', `\r${head('GET /')}`],
  ['a method that nothing has', head('BREW /'), 501],
  ['a method in small letters', head('get /'), 501],
  ['CONNECT', 'CONNECT x:443 HTTP/1.1\r\nhost: x:443\r\n\r\n', 501],
  ['a target that is no path', head('GET a')],
  ['an asterisk, which is no path', head('GET *')],
  ['a whole address of another protocol', head('GET ftp://x/')],
  ['a whole address of another host', head('GET http://y/')],
  ['a whole address with a user', head('GET http://a@x/')],
  ['no host', 'GET / HTTP/1.1\r\n\r\n'],
  ['line feeds alone', 'GET / HTTP/1.1\nhost: x\n\n\r\n\r\n'],
  ['a line feed in a header', head('GET /', 'a: b\nc: d')],
  ['a carriage return in a header', head('GET /', 'a: b\rc: d')],
  ['a zero byte in a header', head('GET /', 'a: b\0c')],
  ['a control character in a header', head('GET /', 'a: b\x1bc')],
  ['a delete character in a header', head('GET /', 'a: b\x7fc')],
  ['a folded header', head('GET /', 'a: b', ' c')],
  ['a header folded by a tab', head('GET /', 'a: b', '\tc')],
  ['a folded first header', 'GET / HTTP/1.1\r\n host: x\r\n\r\n'],
  ['a blank before the colon', head('POST /', 'content-length : 0')],
  ['a tab before the colon', head('POST /', 'transfer-encoding\t: chunked')],
  ['a header without a name', head('GET /', ': x')],
  ['a header without a colon', head('GET /', 'hello')],
  ['a name that is not in ASCII', head('GET /', '\u00e4: c')],
  [
    'more names than anybody sends',
    head('GET /', ...Array.from({ length: 501 }, (_, at) => `x${at}:a`)),
  ],
  ['two lengths', `${head('POST /', 'content-length: 1', 'content-length: 2')}ab`],
  ['the same length twice', `${head('POST /', 'content-length: 1', 'content-length: 1')}a`],
  ['a list of lengths', `${head('POST /', 'content-length: 5, 5')}hello`],
  ['a length with a sign', `${head('POST /', 'content-length: +1')}a`],
  ['a length below nothing', `${head('POST /', 'content-length: -1')}a`],
  ['a length in hexadecimal', `${head('POST /', 'content-length: 0x1')}a`],
  ['a length with an exponent', `${head('POST /', 'content-length: 1e1')}a`],
  ['a length with a blank in it', `${head('POST /', 'content-length: 1 1')}a`],
  ['no length at all', `${head('POST /', 'content-length:')}a`],
  ['a length beyond all numbers', `${head('POST /', 'content-length: 99999999999999999999')}a`],
  [
    'a length and chunks',
    `${head('POST /', 'content-length: 1', 'transfer-encoding: chunked')}0\r\n\r\n`,
  ],
  [
    'chunks and a length',
    `${head('POST /', 'transfer-encoding: chunked', 'content-length: 1')}0\r\n\r\n`,
  ],
  [
    'chunks twice',
    `${head('POST /', 'transfer-encoding: chunked', 'transfer-encoding: chunked')}0\r\n\r\n`,
  ],
  ['chunks in a list', `${head('POST /', 'transfer-encoding: chunked, chunked')}0\r\n\r\n`],
  ['another coding', `${head('POST /', 'transfer-encoding: gzip, chunked')}0\r\n\r\n`],
  ['a coding that does not end', head('POST /', 'transfer-encoding: identity')],
  ['a coding with letters before it', `${head('POST /', 'transfer-encoding: xchunked')}0\r\n\r\n`],
  ['a coding in quotes', `${head('POST /', 'transfer-encoding: "chunked"')}0\r\n\r\n`],
  ['a coding with a comma before it', `${head('POST /', 'transfer-encoding: ,chunked')}0\r\n\r\n`],
  [
    'a coding with a vertical tab before it',
    `${head('POST /', 'transfer-encoding: \x0bchunked')}0\r\n\r\n`,
  ],
  ['no coding at all', head('POST /', 'transfer-encoding:')],
  [
    'chunks in an old version',
    'POST / HTTP/1.0\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['a chunk without a size', `${CHUNKED}\r\nab\r\n0\r\n\r\n`],
  ['a chunk of no number', `${CHUNKED}xyz\r\nab\r\n0\r\n\r\n`],
  ['a chunk in hexadecimal with its sign', `${CHUNKED}0x2\r\nab\r\n0\r\n\r\n`],
  ['a chunk below nothing', `${CHUNKED}-2\r\nab\r\n0\r\n\r\n`],
  ['a chunk above nothing', `${CHUNKED}+2\r\nab\r\n0\r\n\r\n`],
  ['a chunk beyond all numbers', `${CHUNKED}fffffffffffffffff\r\nab`],
  ['a chunk beyond 64 bits, which would be 2', `${CHUNKED}10000000000000002\r\nab\r\n0\r\n\r\n`],
  ['a blank before a size', `${CHUNKED} 2\r\nab\r\n0\r\n\r\n`],
  ['a blank after a size', `${CHUNKED}2 \r\nab\r\n0\r\n\r\n`],
  ['a size that ends in a line feed', `${CHUNKED}2\nab\r\n0\r\n\r\n`],
  ['a size that ends in a carriage return', `${CHUNKED}2\rab\r\n0\r\n\r\n`],
  ['a line feed in an extension', `${CHUNKED}2;a\nb\r\nab\r\n0\r\n\r\n`],
  ['a carriage return in an extension', `${CHUNKED}2;a\rb\r\nab\r\n0\r\n\r\n`],
  ['an extension that does not end', `${CHUNKED}2;a="b\r\nab\r\n0\r\n\r\n`],
  ['a chunk that is longer than its size', `${CHUNKED}2\r\nabc\r\n0\r\n\r\n`],
  ['a chunk that ends in a line feed', `${CHUNKED}2\r\nab\n0\r\n\r\n\r\n`],
  ['a trailer that ends in a line feed', `${CHUNKED}0\r\nx: y\n\n`],
  ['a trailer that is no header', `${CHUNKED}0\r\nno header\r\n\r\n`],
  ['a head without end', `GET / HTTP/1.1\r\nx: ${'y'.repeat(17_000)}`, 431],
  ['a first line without end', `GET /${'y'.repeat(17_000)}`, 431],
  ['a head of too many lines', head('GET /', ...Array(3_000).fill('x: y')), 431],
  ['an extension without end', `${CHUNKED}1;${'x'.repeat(5_000)}`, 431],
  ['trailers without end', `${CHUNKED}0\r\n${'x-abc: def\r\n'.repeat(2_000)}`, 431],
]

describe('no request is one with', () => {
  test.each(REFUSED)('%s', (_name, text, status = 400) => {
    for (const pieces of [[text], [...text]]) {
      const heard = hear(pieces)
      expect(heard.status).not.toBe(0)
      expect(heard.requests.some(({ isWhole }) => isWhole)).toBeFalse()
      // A handler that already has the head sends the answer itself.
      if (heard.requests.length === 0) expect(heard.status).toBe(status)
    }
  })

  test('anything wrong behind another one, which is whole', () => {
    for (const [, text] of REFUSED) {
      const { status, requests } = hear([`${head('GET /first')}${text}`])
      const [first, ...rest] = requests
      expect(first).toMatchObject({ url: 'http://x/first', isWhole: true })
      const isWhole = rest.some((request) => request.isWhole)
      expect({ text, isWhole, isRefused: status > 0 }).toEqual({
        text,
        isWhole: false,
        isRefused: true,
      })
    }
  })
})

/**
 * Valid, nearly valid and invalid requests, built from the parts that decide. Targets are in ASCII,
 * because llhttp takes no others.
 */
const startLines = fc.constantFrom(
  ...['GET / HTTP/1.1', 'POST /a HTTP/1.1', 'POST /a?b=c HTTP/1.1', 'HEAD /a/../b HTTP/1.1'],
  ...['POST / HTTP/1.0', 'OPTIONS * HTTP/1.1', 'PUT http://x/a HTTP/1.1', 'GET /# HTTP/1.1'],
  ...['DELETE /%7e HTTP/1.1', 'PATCH /"<>\\^`{|} HTTP/1.1', 'GET / HTTP/1.2', 'get / HTTP/1.1'],
)
const blanks = fc.constantFrom('', ' ', ' ', '\t', ' \t ', '\x0b', '\r\n ', '\0', '\u00a0')
const names = fc.constantFrom(
  ...['content-length', 'Content-Length', 'transfer-encoding', 'Transfer-Encoding', 'connection'],
  ...[
    'host',
    'x-a',
    'X-A',
    'expect',
    '',
    'content_length',
    'content-length ',
    'transfer-encoding\t',
  ],
)
const values = fc.constantFrom(
  ...[
    '0',
    '3',
    '03',
    '5',
    '3, 3',
    '3,3',
    '+3',
    '-3',
    '0x3',
    '3.0',
    '3e0',
    '3 3',
    '18446744073709551619',
  ],
  ...[
    'chunked',
    'Chunked',
    'chunked, chunked',
    'xchunked',
    'chunkedx',
    'gzip, chunked',
    'identity',
  ],
  ...['chunked;a', '"chunked"', 'chunked,', ',chunked', 'chunked\0', 'x', 'close', 'keep-alive'],
  ...['close, keep-alive', '100-continue', '', 'a:b', 'upgrade'],
)
const ends = fc.constantFrom(...Array(12).fill('\r\n'), '\n', '\r', '\r\r\n', '\n\r')
const written = fc
  .tuple(names, fc.constantFrom(':', ':', ':', ':', ' :', ''), blanks, values, blanks, ends)
  .map((parts) => parts.join(''))
const sound = fc.constantFrom(
  ...['content-length: 3', 'transfer-encoding: chunked', 'Content-Length:0', 'x-a: b', 'X-A:c '],
  ...['connection: close', 'connection: keep-alive', 'connection: x, close', 'x-b:\t\u00fc\t'],
)
const fields = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: sound.map((line) => `${line}\r\n`) },
    { weight: 1, arbitrary: written },
  ),
  { maxLength: 3 },
)
const bodies = fc.constantFrom(
  ...['', '', 'abc', 'abcd', 'ab', '0\r\n\r\n', '3\r\nabc\r\n0\r\n\r\n', '3\r\nabcd\r\n0\r\n\r\n'],
  ...[
    '3;a=b\r\nabc\r\n0\r\nx: y\r\n\r\n',
    '3;a="b;c\\""\r\nabc\r\n0\r\n\r\n',
    '03\r\nabc\r\n00\r\n\r\n',
  ],
  ...['3 \r\nabc\r\n0\r\n\r\n', '3\r\nabc\r\n0\r\nGET: x\r\n\r\n', '0003\r\nabc\r\n0;x\r\n\r\n'],
  ...['0x3\r\nabc\r\n0\r\n\r\n', '+3\r\nabc\r\n0\r\n\r\n', '-3\r\nabc\r\n0\r\n\r\n'],
  ...['3;\r\nabc\r\n0\r\n\r\n', '3;a\rb\r\nabc\r\n0\r\n\r\n', '3\nabc\n0\n\n', '3\r\nabc0\r\n\r\n'],
  ...[
    '10000000000000003\r\nabc\r\n0\r\n\r\n',
    '3\r\nabc\r\n0\r\n x\r\n\r\n',
    '3\r\nabc\r\n0\r\n\n',
  ],
)
const doubtful = fc
  .tuple(startLines, fields, bodies, fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', '\r'))
  .map(([line, lines, body, end]) => `${line}\r\nhost: x\r\n${lines.join('')}${end}${body}`)
const requests = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...WHOLE.map(([, text]) => text)) },
  { weight: 1, arbitrary: doubtful },
)
const edits = fc.array(
  fc.record({
    at: fc.nat(300),
    removed: fc.nat(2),
    added: fc.constantFrom(
      ...[
        '',
        '',
        '\r',
        '\n',
        '\r\n',
        '\r\n\r\n',
        ' ',
        '\t',
        ':',
        ',',
        '\0',
        ';',
        '"',
        '0',
        'f',
        '=',
      ],
      ...['\x7f', '\x0b', 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'],
    ),
  }),
  { maxLength: 2 },
)
/** Most connections are unedited. */
const connections = fc
  .tuple(fc.array(requests, { minLength: 1, maxLength: 4 }), fc.oneof(fc.constant([]), edits))
  .map(([texts, made]) =>
    made.reduce(
      (text, { at, removed, added }) => text.slice(0, at) + added + text.slice(at + removed),
      texts.join(''),
    ),
  )

/**
 * Texts where llhttp differs: a tab is a blank in RFC 9110 §5.6.3, and other blanks only end a
 * connection early here.
 */
const BLANKS_OF_THEIRS =
  /(?:content-length|transfer-encoding):[^\r\n]*\t|connection:[^\r\n]*[\t\u00a0]/i

function pathOf(address: string): string {
  if (address === '*') return '/'
  const { pathname, search, hash } = new URL(
    address.startsWith('/') ? `http://x${address}` : address,
  )
  return pathname + search + hash
}

test('Node’s parser reads every request accepted here alike, and where the next one begins', async () => {
  const texts = fc
    .sample(connections, { numRuns: IS_LONG ? 100_000 : 6_000 })
    .filter((text) => !BLANKS_OF_THEIRS.test(text))
  const theirs = await readRequestsByLlhttp(texts)
  let wholes = 0
  let followers = 0
  for (const [at, text] of texts.entries()) {
    const ours = hear([text])
    expect({ text, requests: hear([...text]).requests }).toEqual({ text, requests: ours.requests })
    for (const [place, request] of ours.requests.entries()) {
      const { url, ...read } = request
      const their = theirs[at]?.[place]
      // llhttp refuses heads for reasons in the rest of the request.
      if (!request.isWhole) {
        expect({ text, method: their?.method }).toEqual({ text, method: request.method })
        continue
      }
      const { target = '', ...same } = their ?? {}
      expect<unknown>({ text, ...same }).toEqual({ text, ...read })
      expect({ text, path: pathOf(url) }).toEqual({ text, path: pathOf(target) })
      wholes += 1
      if (place > 0) followers += 1
    }
  }
  // Without this many requests the comparison proves little.
  expect(wholes).toBeGreaterThan(texts.length / 2)
  expect(followers).toBeGreaterThan(texts.length / 4)
})
