/**
 * Bytes that are no valid HTTP request. The outcome must be neither a success nor a failure of the
 * server.
 */

const CALL = 'POST /v1/responses HTTP/1.1\r\nhost: x\r\n'
const KEYLESS_BODY = '\r\n{}'

export const BROKEN_HTTP: readonly (readonly [string, string])[] = [
  ['no HTTP at all', 'hello\r\n\r\n'],
  ['only line ends', '\r\n\r\n\r\n\r\n'],
  ['zero bytes', `${'\0'.repeat(32)}\r\n\r\n`],
  ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
  ['the HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['no version', 'POST /v1/responses\r\nhost: x\r\n\r\n'],
  ['an unknown version', 'POST /v1/responses HTTP/9.9\r\nhost: x\r\ncontent-length: 0\r\n\r\n'],
  ['no path', 'POST HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['a space in the path', 'POST /v1/ responses HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['a zero byte in the path', 'GET /v1/mo\0dels HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['a method that is none', 'PO(ST /v1/responses HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['a very long method', `${'A'.repeat(5000)} / HTTP/1.1\r\nhost: x\r\n\r\n`],
  ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nhost: example.com\r\n\r\n'],
  ['TRACE', 'TRACE /v1/responses HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['an asterisk for a path', 'GET * HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['no host', 'POST /v1/responses HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}'],
  [
    'a host with spaces',
    'POST /v1/responses HTTP/1.1\r\nhost: a b c\r\ncontent-length: 2\r\n\r\n{}',
  ],
  ['a header without a colon', `${CALL}nonsense\r\n\r\n`],
  ['a header without a name', `${CALL}: x\r\n\r\n`],
  ['a space before the colon', `${CALL}content-length : 2\r\n${KEYLESS_BODY}`],
  ['a zero byte in a header', `${CALL}x-a: a\0b\r\n\r\n`],
  ['a bare line feed in a header', `${CALL}x-a: a\nx-b: b\r\n\r\n`],
  ['a folded header', `${CALL}x-a: a\r\n b\r\n\r\n`],
  ['a header of 100 KB', `${CALL}x-a: ${'a'.repeat(100_000)}\r\n\r\n`],
  ['5,000 headers', `${CALL}${'x-a: b\r\n'.repeat(5000)}\r\n`],
  ['a path of 100 KB', `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nhost: x\r\n\r\n`],
  ['a length that is no number', `${CALL}content-length: many\r\n${KEYLESS_BODY}`],
  ['a negative length', `${CALL}content-length: -1\r\n${KEYLESS_BODY}`],
  ['a length with a sign', `${CALL}content-length: +2\r\n${KEYLESS_BODY}`],
  [
    'a length beyond every number',
    `${CALL}content-length: 99999999999999999999999\r\n${KEYLESS_BODY}`,
  ],
  ['two lengths', `${CALL}content-length: 2\r\ncontent-length: 3\r\n${KEYLESS_BODY}`],
  ['a list of lengths', `${CALL}content-length: 2, 3\r\n${KEYLESS_BODY}`],
  [
    'a length beside chunks',
    `${CALL}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  ['an unknown transfer encoding', `${CALL}transfer-encoding: rot13\r\n\r\n{}`],
  [
    'a chunk size that is no number',
    `${CALL}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
  ],
  [
    'a chunked body with trailers',
    `${CALL}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nx-a: b\r\n\r\n`,
  ],
  ['a negative chunk size', `${CALL}transfer-encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n`],
  [
    'a chunk size beyond every number',
    `${CALL}transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}\r\n0\r\n\r\n`,
  ],
  [
    'a chunk longer than it says',
    `${CALL}transfer-encoding: chunked\r\n\r\n1\r\n{}}}}\r\n0\r\n\r\n`,
  ],
  [
    'an upgrade to HTTP/2',
    `${CALL}connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n\r\n`,
  ],
]
