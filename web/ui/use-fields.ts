import { type ChangeEvent, useState } from 'react'

type TextOf<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends string ? Name : never
}[keyof Fields] &
  string

export function useFields<Fields extends object>(first: Fields) {
  const [fields, setFields] = useState(first)
  const change = (changed: Partial<Fields>) => setFields((before) => ({ ...before, ...changed }))
  return { fields, change, bind: bindTo(fields, change) }
}

export function bindTo<Fields extends object>(
  fields: Fields,
  change: (changed: Partial<Fields>) => void,
) {
  return (field: TextOf<Fields>) => ({
    field,
    value: String(fields[field]),
    onChange: ({
      target: { value },
    }: ChangeEvent<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>) =>
      // A list offers only values of its field.
      change({ [field]: value } as Partial<Fields>),
  })
}
