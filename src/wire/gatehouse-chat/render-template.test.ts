/** Variables in instructions: filled in exactly, missing ones named, and nothing else touched. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { renderTemplate } from './render-template.ts'

const vars = { name: 'Ann', a_b: '1', 'a-b': '2', evil: '{{name}}', empty: '' }

test.each([
  ['Hi {{name}}!', 'Hi Ann!'],
  ['{{name}}{{ name }}{{  name\n}}', 'AnnAnnAnn'],
  ['{{a_b}}-{{a-b}}', '1-2'],
  ['[{{empty}}]', '[]'],
  ['{{{name}}}', '{Ann}'],
  ['{{{{name}}}}', '{{Ann}}'],
  ['', ''],
])('%j is %j', (text, rendered) => {
  expect(renderTemplate(text, vars)).toBe(rendered)
})

test.each([
  '{name}',
  '{{name',
  'name}}',
  '}}{{',
  '{{}}',
  '{{ }}',
  '{{1}}',
  '{{a b}}',
  '{{#if name}}',
  '{{name.length}}',
  '{{"a":{"b":1}}}',
  `{{${'x'.repeat(100)}}}`,
])('%j is no variable and stays', (text) => {
  expect(renderTemplate(text, vars)).toBe(text)
})

describe('a variable', () => {
  test('is not looked at again once filled in', () => {
    expect(renderTemplate('{{evil}}', vars)).toBe('{{name}}')
  })

  test.each(['nobody', 'constructor', '__proto__'])('that is not given is named: %s', (name) => {
    expect(() => renderTemplate(`Hi {{${name}}}`, vars)).toThrow(
      expect.objectContaining({ kind: 'invalid_request', status: 400, param: `vars.${name}` }),
    )
  })
})

test('text between variables is never changed, whatever it and the values are', () => {
  const plain = fc.string().map((text) => text.replaceAll(/[{}]/g, ''))
  fc.assert(
    fc.property(fc.array(plain, { minLength: 1, maxLength: 5 }), fc.string(), (texts, value) => {
      expect(renderTemplate(texts.join('{{x}}'), { x: value })).toBe(texts.join(value))
    }),
  )
})
