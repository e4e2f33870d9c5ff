/** The name of a key that is created, imported or renamed. */
import { TextField } from '../../ui/field.tsx'

const MAX_NAME_LENGTH = 120

export function KeyNameField({
  name,
  onChange,
  takesFocus = false,
}: {
  readonly name: string
  readonly onChange: (name: string) => void
  /** When it appears. */
  readonly takesFocus?: boolean
}) {
  return (
    <TextField
      label="Name"
      placeholder="production, billing service"
      hint="To tell it from the others. Only members of the account see it."
      required
      autoFocus={takesFocus}
      autoComplete="off"
      maxLength={MAX_NAME_LENGTH}
      value={name}
      onChange={(event) => onChange(event.target.value)}
      field="name"
    />
  )
}
