import { z } from 'zod'
import { isVisible } from '../core/visible-text.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: it searches for control characters
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/

export interface TextLength {
  readonly min: number
  readonly max: number
}

/**
 * Unpaired surrogates cannot be stored as UTF-8, Postgres cannot store NUL, and other control
 * characters forge log lines. Line breaks and tabs are allowed. Lengths are in UTF-16 units.
 */
export function text(length: TextLength) {
  return z
    .string()
    .min(length.min)
    .max(length.max)
    .refine((value) => value.isWellFormed() && !CONTROL_CHARACTERS.test(value), {
      error: 'must not hold control characters or halves of surrogate pairs',
    })
}

/**
 * Characters that reorder the text around them
 * (https://www.unicode.org/reports/tr36/#Bidirectional_Text_Spoofing), end a line, or are control
 * characters. Right-to-left letters and their marks need none of these.
 */
const DISGUISING_CHARACTERS = /[\t\n\r\u0080-\u009f\u2028-\u202e\u2066-\u2069]/

export function label(length: TextLength) {
  return text(length)
    .refine((value) => !DISGUISING_CHARACTERS.test(value), {
      error: 'must not hold characters that change the direction of text or end a line',
    })
    .refine((value) => value === '' || isVisible(value), {
      error: 'must hold a character that can be seen',
    })
}

export function toLabel(name: string): string {
  const parts = name.split(DISGUISING_CHARACTERS).map((part) => part.trim())
  const plain = parts.filter((part) => part !== '').join(' ')
  return isVisible(plain) ? plain : ''
}
