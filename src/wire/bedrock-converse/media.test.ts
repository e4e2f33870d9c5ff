import { describe, expect, test } from 'bun:test'
import type { ChatMessage, ChatRequest, JsonRecord, UserPart } from '../chat-request.ts'
import { bedrockUpstreamCodec } from './index.ts'

const says = (...content: UserPart[]): ChatMessage => ({ role: 'user', content })
const encode = (members: Pick<ChatRequest, 'messages'>) =>
  bedrockUpstreamCodec.encodeRequest(
    { stream: false, extra: {}, family: 'openai-chat', ignored: [], ...members },
    { model: 'm:0', traits: {}, sealOrigin: 'here' },
  )

describe('media', () => {
  const data = (mediaType: string) => ({ type: 'data', mediaType, base64: 'AAAA' }) as const
  const file = (mediaType: string, filename?: string): UserPart => ({
    type: 'file',
    source: data(mediaType),
    ...(filename === undefined ? {} : { filename }),
  })

  test('are bytes with a format, and sound is sent', () => {
    const { body, ignored } = encode({
      messages: [
        says(
          { type: 'image', source: data('image/jpeg'), detail: 'high' },
          { type: 'audio', base64: 'AA', format: 'wav' },
        ),
      ],
    })
    expect(body.messages).toEqual([
      {
        role: 'user',
        content: [
          { image: { format: 'jpeg', source: { bytes: 'AAAA' } } },
          { audio: { format: 'wav', source: { bytes: 'AA' } } },
        ],
      },
    ])
    expect(ignored).toEqual(['image.detail'])
  })

  test('of documents have unique names in the format’s alphabet', () => {
    const { body } = encode({
      messages: [
        says(
          file('application/pdf', 'Bericht  für\tUlm_[1] (neu).pdf'),
          file('text/plain; charset=utf-8'),
          file('text/csv', '   '),
          file('text/csv', `${'x'.repeat(300)}`),
        ),
      ],
    })
    const [turn] = body.messages as readonly { content: readonly { document?: JsonRecord }[] }[]
    const [text, ...documents] = turn?.content ?? []
    // The API refuses documents without text.
    expect(text).toEqual({ text: '.' } as never)
    expect(documents.map(({ document }) => [document?.format, document?.name])).toEqual([
      ['pdf', 'Bericht f-r Ulm-[1] (neu)-pdf'],
      ['txt', 'document'],
      ['csv', 'document (2)'],
      ['csv', 'x'.repeat(200)],
    ])
  })

  test.each([
    [
      'an image by address',
      { type: 'image', source: { type: 'url', url: 'https://a/b.png' } },
      'by address',
    ],
    [
      'a file by address',
      { type: 'file', source: { type: 'url', url: 'https://a/b.pdf' } },
      'by address',
    ],
    ['a tiff', { type: 'image', source: data('image/tiff') }, 'image/tiff'],
    ['an archive', file('application/zip'), 'application/zip'],
    ['unknown sound', { type: 'audio', base64: 'AA', format: 'midi' }, 'midi'],
  ] as const)('of unsupported kinds are refused by name: %s', (_, part, message) => {
    expect(() => encode({ messages: [says(part)] })).toThrow(message)
    expect(() => encode({ messages: [says(part)] })).toThrow(
      expect.objectContaining({ param: 'messages' }),
    )
  })
})
