import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { wholeListQuery } from '../../api/operation-query.ts'
import { ClientSetupLines } from '../../ui/client-setup-lines.tsx'
import { clientSetups } from '../../ui/client-setups.ts'
import { SelectField } from '../../ui/field.tsx'

export function ClientSetup({
  token,
  gates,
  onCopied,
}: {
  readonly token: string
  readonly gates: readonly string[] | null
  readonly onCopied: () => void
}) {
  const all = useQuery({ ...wholeListQuery('GET /v1/gates'), enabled: gates === null })
  const ids = gates ?? all.data?.map(({ id }) => id) ?? []
  const [chosenGate, setChosenGate] = useState<string>()
  const [chosenClient, setChosenClient] = useState('claude-code')
  const gateId = chosenGate ?? ids[0] ?? 'your-gate'
  const setups = clientSetups({ baseUrl: location.origin, gateId, token })
  const setup = setups.find(({ id }) => id === chosenClient)
  return (
    <div className="mt-5 flex flex-col gap-3">
      <div className="grid gap-3 sm:grid-cols-2">
        <SelectField
          label="Lines for"
          value={chosenClient}
          onChange={(event) => setChosenClient(event.target.value)}
          options={Object.fromEntries(setups.map(({ id, name }) => [id, name]))}
        />
        <SelectField
          label="Gate"
          value={gateId}
          onChange={(event) => setChosenGate(event.target.value)}
        >
          {(ids.length === 0 ? [gateId] : ids).map((id) => (
            <option key={id}>{id}</option>
          ))}
        </SelectField>
      </div>
      {setup !== undefined && <ClientSetupLines setup={setup} token={token} onCopied={onCopied} />}
    </div>
  )
}
