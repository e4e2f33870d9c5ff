/** Edits of JSON with comments: the text around the member stays. */
import { describe, expect, test } from 'bun:test'
import { editJson } from './json-settings.ts'

const edit = (text: string, path: readonly string[], value: unknown) =>
  editJson(text, [{ path, value }], 'x.json')

describe('a member is', () => {
  test.each([
    ['added to no text', '', ['a'], 1, '{\n  "a": 1\n}\n'],
    ['added to an empty object', '{}', ['a'], 1, '{\n  "a": 1\n}'],
    ['added to a comment', '{ // note\n}', ['a'], 1, '{ // note\n  "a": 1\n}'],
    ['added behind another', '{\n\t"b": 2\n}\n', ['a'], 1, '{\n\t"b": 2,\n\t"a": 1\n}\n'],
    [
      'added behind a comment',
      '{\n  "b": 2 // two\n}',
      ['a'],
      1,
      '{\n  "b": 2, // two\n  "a": 1\n}',
    ],
    ['added behind a comma', '{\n  "b": 2,\n}', ['a'], 1, '{\n  "b": 2,\n  "a": 1\n}'],
    [
      'added to one line',
      '{"b": [1, {"c": "}"}]}',
      ['a'],
      1,
      '{"b": [1, {"c": "}"}],\n  "a": 1\n}',
    ],
    ['added within', '{\n  "b": {}\n}', ['b', 'a'], 1, '{\n  "b": {\n    "a": 1\n  }\n}'],
    ['added with its object', '{\n}', ['b', 'a'], 1, '{\n  "b": {\n    "a": 1\n  }\n}'],
    ['replaced', '{"a": {"x": 1}, /* keep */ "b": 2}', ['a'], 3, '{"a": 3, /* keep */ "b": 2}'],
    ['replaced within', '{"b": {"a": "\\"}"}}', ['b', 'a'], 1, '{"b": {"a": 1}}'],
    ['removed', '{\n  "a": 1,\n  "b": 2\n}', ['a'], undefined, '{\n  "b": 2\n}'],
    [
      'removed at the end',
      '{\n  "b": 2, // two\n  "a": 1\n}',
      ['a'],
      undefined,
      '{\n  "b": 2 // two\n}',
    ],
    ['removed alone', '{\n  "a": 1\n}', ['a'], undefined, '{\n}'],
    ['not there to remove', '{"b": 2}', ['a', 'c'], undefined, '{"b": 2}'],
  ] as const)('%s', (_, text, path, value, expected) => {
    expect(edit(text, path, value)).toBe(expected)
  })
})

test.each([
  ['a list', '[]'],
  ['a text that is cut', '{"a": '],
  ['a parent that is no object', '{"a": 1}'],
  ['a name that stands twice', '{"b": 1, "b": 2}'],
])('%s is refused', (_, text) => {
  expect(() =>
    editJson(
      text,
      [
        { path: ['a', 'x'], value: 1 },
        { path: ['b'], value: 3 },
      ],
      'x.json',
    ),
  ).toThrow('nothing was written')
})
