import { expect, test } from 'bun:test'
import { splitFences } from './answer-view.tsx'

const text = (said: string) => ({ type: 'text' as const, text: said })
const code = (language: string, written: string) => ({
  type: 'code' as const,
  language,
  text: written,
})

test.each([
  ['nothing', '', []],
  ['text alone', 'a\n\n**b** <b>c</b>', [text('a\n\n**b** <b>c</b>')]],
  [
    'code between texts',
    'a:\n\n```ts\nlet b\n\n  c\n```\n\nd',
    [text('a:'), code('ts', 'let b\n\n  c'), text('d')],
  ],
  ['code that still arrives', 'a\n```py\nb = 1\n', [text('a'), code('py', 'b = 1\n')]],
  ['a fence within a longer one', '````md\n```js\na\n```\n````', [code('md', '```js\na\n```')]],
  ['tildes', '~~~\n```\n~~~', [code('', '```')]],
  ['backticks within a line', 'a ```b``` c', [text('a ```b``` c')]],
  ['a line that begins with code in it', '```a``` b', [text('```a``` b')]],
  ['two blocks', '```\na\n```\n```\nb\n```', [code('', 'a'), code('', 'b')]],
  ['a longer end', '```\na\n`````', [code('', 'a')]],
])('%s', (_name, said, segments) => {
  expect(splitFences(said)).toEqual(segments)
})

test('blocks beyond the bound of a page stay plain text', () => {
  const segments = splitFences('```\na\n```\n'.repeat(50_000))
  expect(segments).toHaveLength(501)
  expect(segments[499]).toEqual(code('', 'a'))
  expect(segments[500]).toEqual(text('```\na\n```\n'.repeat(49_500).trimEnd()))
})
