/** Random JSON texts in all spellings for property tests, and byte views at odd offsets. */
import fc from 'fast-check'

export const space = fc.string({ unit: fc.constantFrom(' ', '\n', '\r', '\t'), maxLength: 3 })
const stringPart = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 12 }),
  fc.constantFrom(
    '"',
    '\\',
    '/',
    '\b',
    '\f',
    '\n',
    '\r',
    '\t',
    '\0',
    '\u001f',
    '\u007f',
    'é',
    '日本',
    '😀',
  ),
  fc.constantFrom('\ufeff', '\ud800', '\udc00', '\u2028', '\uffff', '__proto__'),
)

function toUnicodeEscapes(part: string): string {
  return part.replaceAll(
    /[\s\S]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

export const stringText = fc
  .array(fc.tuple(stringPart, fc.nat(2)), { maxLength: 8 })
  .map((parts) => {
    const spelt = parts.map(([part, spelling]) => {
      const usual = JSON.stringify(part).slice(1, -1)
      return [usual, usual.replaceAll('/', '\\/'), toUnicodeEscapes(part)][spelling]
    })
    return `"${spelt.join('')}"`
  })

const numberText = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(
      fc.constant('0'),
      fc.bigInt({ min: 1n, max: 10n ** 25n }).map((integer) => `${integer}`),
    ),
    fc.constantFrom('', '.0', '.50', '.123456789012345678'),
    fc.constantFrom('', 'e5', 'E+05', 'e-7', 'e400'),
  )
  .map((parts) => parts.join(''))

export const { value: valueText } = fc.letrec<{ value: string; array: string; object: string }>(
  (tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      stringText,
      numberText,
      fc.constantFrom('true', 'false', 'null'),
      tie('array'),
      tie('object'),
    ),
    array: fc
      .array(fc.tuple(space, tie('value'), space), { maxLength: 4 })
      .map((items) => `[${items.map((item) => item.join('')).join(',') || ' '}]`),
    // Inner objects may repeat a key, because the gateway only checks the top level.
    object: fc
      .array(fc.tuple(space, stringText, space, tie('value'), space), { maxLength: 4 })
      .map(
        (items) =>
          `{${items.map(([a, key, b, value, c]) => `${a}${key}${b}:${b}${value}${c}`).join(',')}}`,
      ),
  }),
)

export const objectText = fc
  .tuple(
    space,
    fc.uniqueArray(fc.tuple(space, stringText, space, valueText, space), {
      maxLength: 6,
      selector: ([, key]) => JSON.parse(key) as string,
    }),
  )
  .map(([around, items]) => {
    const members = items.map(([a, key, b, value, c]) => `${a}${key}${b}:${c}${value}${c}`)
    return `${around}{${members.join(',') || around}}${around}`
  })

/** A view of the bytes at any alignment, between bytes that would end a string. */
export function viewAt(offset: number, bytes: Uint8Array): Uint8Array {
  const room = new Uint8Array(offset + bytes.length + 5).fill(0x22)
  room.set(bytes, offset)
  return room.subarray(offset, offset + bytes.length)
}
