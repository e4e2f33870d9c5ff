import { describe, expect, test } from 'bun:test'
import type { DialectId } from '../core/dialects.ts'
import type {
  AssistantPart,
  ChatMessage,
  ChatRequest,
  JsonRecord,
  Seal,
  UserPart,
} from './chat-request.ts'
import { CHAT_UPSTREAMS, chatCodecOf } from './chat-upstreams.fixture.ts'
import type { ModelTraits } from './codec.ts'

function encode(id: DialectId, members: Partial<ChatRequest>, traits: ModelTraits = {}) {
  const codec = chatCodecOf(id)
  const request: ChatRequest = {
    ...{ messages: [], stream: false, extra: {}, family: 'gatehouse-chat', ignored: [] },
    ...members,
  }
  return codec.encodeRequest(request, { model: 'm', traits, sealOrigin: 'o' })
}

const IDS = CHAT_UPSTREAMS
const text = (words: string) => ({ type: 'text' as const, text: words })
const user = (...content: UserPart[]): ChatMessage => ({ role: 'user', content })
const assistant = (...content: AssistantPart[]): ChatMessage => ({ role: 'assistant', content })
const call = (id: string, name: string): AssistantPart => ({
  type: 'tool-call',
  id,
  name,
  arguments: '{}',
})
const result = (callId: string, ...words: string[]): ChatMessage => ({
  ...{ role: 'tool', callId },
  content: words.map(text),
})
const [FIRST, SECOND] = ['call00001', 'call00002'] as const
const conversation = (...reasoning: AssistantPart[]): ChatMessage[] => [
  { role: 'system', content: [text('s1'), text('s2')] },
  user(text('u1'), text('u2')),
  assistant(...reasoning, text('t1'), text('t2'), call(FIRST, 'f1'), call(SECOND, 'f2')),
  result(FIRST, 'x1', 'x2'),
  result(SECOND, 'x3'),
  user(text('u3')),
  assistant(text('t3'), { type: 'refusal', text: 't4' }),
  user(text('u4')),
]
/** The words in a body, in their order. */
const found = (body: JsonRecord, words: RegExp) =>
  [...JSON.stringify(body).matchAll(words)].map(([word]) => word)

describe.each(IDS)('%s', (id) => {
  test('has all messages in their order', () => {
    const { body, ignored } = encode(id, { messages: conversation() })
    expect(found(body, /s[12]/g)).toEqual(['s1', 's2'])
    expect(found(body, /u\d/g)).toEqual(['u1', 'u2', 'u3', 'u4'])
    expect(found(body, /t[1234]/g)).toEqual(['t1', 't2', 't3', 't4'])
    expect(found(body, /x[123]/g)).toEqual(['x1', 'x2', 'x3'])
    const calls = found(
      { messages: body.messages ?? body.contents ?? body.input ?? [] },
      /"f[12]"/g,
    )
    expect(calls.slice(0, 2)).toEqual(['"f1"', '"f2"'])
    expect(ignored).toEqual([])
  })

  const reasoning = (words: string, seal?: Partial<Seal>): AssistantPart => ({
    ...{ type: 'reasoning', text: words },
    ...(seal === undefined
      ? {}
      : { seal: { type: 'signature', value: 'thinking', origin: 'o', ...seal } }),
  })

  test('never shows the reasoning of others, sealed or not, as plain text', () => {
    for (const parts of [
      [
        reasoning('r1', { origin: 'elsewhere' }),
        reasoning('r2', { origin: 'elsewhere', type: 'encrypted' }),
      ],
      [reasoning('r1', { origin: 'elsewhere', value: 'r2' })],
    ]) {
      const { body, ignored } = encode(id, {
        messages: conversation(...parts),
        reasoning: { effort: 'low' },
      })
      expect(found(body, /r[12]/g)).toEqual([])
      expect(found(body, /t[1234]/g)).toEqual(['t1', 't2', 't3', 't4'])
      expect(ignored).toContain('seals')
    }
  })

  const OWN: Partial<Record<DialectId, [ModelTraits, Partial<Seal>]>> = {
    'openai-responses': [{ reasoning: 'effort' }, { type: 'encrypted' }],
    'anthropic-messages': [{ reasoning: 'adaptive' }, {}],
    'cohere-chat': [{ reasoning: 'budget' }, {}],
    'mistral-chat': [{ reasoning: 'effort' }, {}],
    'bedrock-converse': [{ reasoning: 'budget' }, {}],
  }
  const own = OWN[id]
  if (own !== undefined)
    test('returns its own reasoning in its order, before the parts that followed it', () => {
      const [traits, seal] = own
      const parts = [reasoning('r1', seal), reasoning('r2', seal)]
      const asked = { messages: conversation(...parts), reasoning: { effort: 'low' } }
      const { body, ignored } = encode(id, asked, traits)
      expect(found(body, /[rt][12]/g)).toEqual(['r1', 'r2', 't1', 't2'])
      expect(ignored).toEqual([])
    })

  // Chat Completions accepts an empty answer.
  if (id !== 'openai-chat')
    test('leaves out a turn without content', () => {
      const messages = [user(text('u1')), assistant(text('')), user(text('u2'))]
      const { body } = encode(id, { messages })
      expect(JSON.stringify(body)).not.toMatch(/"role":"(?:assistant|model)"/)
    })
})

const BASE64 = { type: 'data' as const, mediaType: 'image/png', base64: 'AA==' }
const URL = { type: 'url' as const, url: 'https://x.test/a.png' }
const DATA_URL = 'data:image/png;base64,AA=='
const REFUSED = expect.objectContaining({
  kind: 'invalid_request',
  param: 'messages',
  code: 'unsupported_content',
})
const PARTS = {
  'an image': { type: 'image', source: BASE64 },
  'an image by its address': { type: 'image', source: URL },
  'a file': { type: 'file', source: { ...BASE64, mediaType: 'application/pdf' }, filename: 'n' },
  'a file by its address': { type: 'file', source: URL, filename: 'n' },
  sound: { type: 'audio', base64: 'BB==', format: 'wav' },
} as const satisfies Record<string, UserPart>
const PDF_URL = 'data:application/pdf;base64,AA=='
const PDF = { ...BASE64, mediaType: 'application/pdf' }
const inline = (mimeType: string, data: string) => ({ inlineData: { mimeType, data } })
const linked = { fileData: { fileUri: URL.url, mimeType: 'image/png' } }
const image = (url: string) => ({ type: 'image_url', image_url: { url } })
const source = (mediaType: string) => ({ type: 'base64', media_type: mediaType, data: 'AA==' })

/** The expected parts in order; undefined: the dialect refuses the part. */
const MEDIA: readonly (readonly [DialectId, string, readonly (object | undefined)[]])[] = [
  [
    ...(['openai-chat', 'content'] as const),
    [
      ...[
        image(DATA_URL),
        image(URL.url),
        { type: 'file', file: { file_data: PDF_URL, filename: 'n' } },
      ],
      ...[undefined, { type: 'input_audio', input_audio: { data: 'BB==', format: 'wav' } }],
    ],
  ],
  [
    ...(['openai-responses', 'content'] as const),
    [
      ...[DATA_URL, URL.url].map((image_url) => ({ type: 'input_image', image_url })),
      { type: 'input_file', filename: 'n', file_data: PDF_URL },
      ...[{ type: 'input_file', file_url: URL.url }, undefined],
    ],
  ],
  [
    ...(['anthropic-messages', 'content'] as const),
    [
      ...[
        { type: 'image', source: source('image/png') },
        { type: 'image', source: URL },
      ],
      { type: 'document', source: source('application/pdf'), title: 'n' },
      ...[{ type: 'document', source: URL, title: 'n' }, undefined],
    ],
  ],
  [
    ...(['gemini-generate-content', 'parts'] as const),
    [
      ...[inline('image/png', 'AA=='), linked, inline('application/pdf', 'AA=='), linked],
      inline('audio/wav', 'BB=='),
    ],
  ],
  ['cohere-chat', 'content', [image(DATA_URL), image(URL.url), undefined, undefined, undefined]],
  [
    ...(['mistral-chat', 'content'] as const),
    [
      ...[image(DATA_URL), image(URL.url)],
      ...[PDF_URL, URL.url].map((url) => ({
        type: 'document_url',
        document_url: url,
        document_name: 'n',
      })),
      { type: 'input_audio', input_audio: 'BB==' },
    ],
  ],
  [
    ...(['bedrock-converse', 'content'] as const),
    [
      ...[{ image: { format: 'png', source: { bytes: 'AA==' } } }, undefined],
      ...[{ document: { name: 'n', format: 'pdf', source: { bytes: 'AA==' } } }, undefined],
      { audio: { format: 'wav', source: { bytes: 'BB==' } } },
    ],
  ],
]

const contentOf = (id: DialectId, member: string, messages: readonly ChatMessage[]) => {
  const { body } = encode(id, { messages })
  const [turn] = (body.messages ?? body.contents ?? body.input) as readonly JsonRecord[]
  return turn?.[member] as readonly JsonRecord[]
}

describe.each(MEDIA.map(([id, member, expected]) => ({ id, member, expected })))(
  '$id',
  ({ id, member, expected }) => {
    test.each(Object.keys(PARTS) as (keyof typeof PARTS)[])('%s is sent or refused', (name) => {
      const parts = [text('see'), PARTS[name]]
      const wanted = expected[Object.keys(PARTS).indexOf(name)]
      if (wanted === undefined)
        expect(() => contentOf(id, member, [user(...parts)])).toThrow(REFUSED)
      else expect<unknown>(contentOf(id, member, [user(...parts)])[1]).toEqual(wanted)
    })
  },
)

describe('media types', () => {
  test.each([
    ['https://x.test/a.gif', 'image/gif'],
    ['https://x.test/a.jpeg', 'image/jpeg'],
    ['https://x.test/a.JPG?width=1', 'image/jpeg'],
    ['https://x.test/a.pdf#page=2', 'application/pdf'],
    ['https://x.test/a.png', 'image/png'],
    ['https://x.test/a.webp', 'image/webp'],
    ['https://x.test/a', undefined],
    ['https://x.test/a.zip', undefined],
  ])('of %s is %p, by its name alone', (fileUri, mimeType) => {
    const part = { type: 'image' as const, source: { type: 'url' as const, url: fileUri } }
    expect(contentOf('gemini-generate-content', 'parts', [user(part)])).toEqual([
      { fileData: { fileUri, ...(mimeType === undefined ? {} : { mimeType }) } },
    ])
  })

  test.each(['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'image/tiff'])(
    '%s',
    (mediaType) => {
      const part = { type: 'image' as const, source: { ...BASE64, mediaType } }
      const encodeIt = () => contentOf('anthropic-messages', 'content', [user(part)])
      if (mediaType === 'image/tiff') expect(encodeIt).toThrow(REFUSED)
      else expect(encodeIt()).toEqual([{ type: 'image', source: source(mediaType) }])
    },
  )

  const bedrock = (part: UserPart) => contentOf('bedrock-converse', 'content', [user(part)])
  test.each([
    ['image/gif', 'gif'],
    ['image/jpeg', 'jpeg'],
    ['image/jpg', 'jpeg'],
    ['image/png', 'png'],
    ['image/webp', 'webp'],
  ])('%s is Bedrock’s %s', (mediaType, format) => {
    expect(bedrock({ type: 'image', source: { ...BASE64, mediaType } })).toEqual([
      { image: { format, source: { bytes: 'AA==' } } },
    ])
  })

  test.each([
    ['application/msword', 'doc'],
    ['application/pdf', 'pdf'],
    ['application/vnd.ms-excel', 'xls'],
    ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
    ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
    ['text/csv', 'csv'],
    ['text/html', 'html'],
    ['text/markdown', 'md'],
    ['Text/Plain; charset=utf-8', 'txt'],
  ])('%s is Bedrock’s %s', (mediaType, format) => {
    expect(bedrock({ type: 'file', source: { ...PDF, mediaType } })).toEqual([
      { text: '.' },
      { document: { name: 'document', format, source: { bytes: 'AA==' } } },
    ])
  })

  test.each(['aac', 'flac', 'm4a', 'mp3', 'mp4', 'ogg', 'opus', 'pcm', 'wav', 'webm'])(
    '%s is sound',
    (format) => {
      expect(bedrock({ type: 'audio', base64: 'BB==', format })).toEqual([
        { audio: { format, source: { bytes: 'BB==' } } },
      ])
    },
  )
})
