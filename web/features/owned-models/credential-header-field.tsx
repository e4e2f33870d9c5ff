import { SelectField } from '../../ui/field.tsx'
import type { CredentialHeader, Dialect } from './draft.ts'

const CHOICES: Readonly<Record<CredentialHeader, string>> = {
  auto: 'Find out',
  authorization: 'Authorization: Bearer …',
  'x-api-key': 'x-api-key',
}

/**
 * Servers differ in the Messages format only, so other formats show the field only if it was set.
 */
export function hasCredentialHeaderField(dialect: Dialect, chosen: CredentialHeader): boolean {
  return dialect === 'anthropic-messages' || chosen !== 'auto'
}

export function CredentialHeaderField({
  chosen,
  onChoose,
}: {
  readonly chosen: CredentialHeader
  readonly onChoose: (header: CredentialHeader) => void
}) {
  return (
    <SelectField
      label="Header of the credential"
      value={chosen}
      onChange={(event) => onChoose(event.target.value as CredentialHeader)}
      field="credentialHeader"
      hint="Some servers of this format want a bearer token, as vLLM does. The test call finds out."
      options={CHOICES}
    />
  )
}
