/**
 * The fault of a control of a form, in words of ours: the browser's own are in its language
 * and look. Knows no form.
 */

/** The part of an `input`, `select` or `textarea` that says it. */
export interface InvalidControl {
  readonly type: string
  readonly validationMessage: string
  readonly validity: Partial<ValidityState>
  readonly value: string
  readonly minLength?: number
  readonly min?: string
  readonly max?: string
}

const WANTED: Readonly<Record<string, string>> = {
  email: 'Write an address such as name@example.com.',
  url: 'Write the whole address, with https:// in front.',
}

export function describeInvalid(control: InvalidControl): string {
  const { validity } = control
  if (validity.valueMissing === true) {
    return control.type.startsWith('select') ? 'Choose one.' : 'This is needed.'
  }
  if (validity.typeMismatch === true) return WANTED[control.type] ?? control.validationMessage
  if (validity.tooShort === true) {
    const missing = (control.minLength ?? 0) - control.value.length
    return `At least ${control.minLength} characters: ${missing} more.`
  }
  if (validity.badInput === true) return 'This is not complete.'
  if (validity.rangeUnderflow === true) return `Not before ${control.min}.`
  if (validity.rangeOverflow === true) return `Not after ${control.max}.`
  return control.validationMessage
}
