/** For operators: a price for a model without one, until the configuration file declares it. */
import { useState } from 'react'
import { ask } from '../../api/ask.ts'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { useChange } from '../../ui/use-change.ts'

const PRICE = /^\d{1,7}(?:\.\d{1,9})?$/
const PROBLEM = 'must be a number of US dollars, such as 2.50'

const FIELDS = [
  ['input', 'Input', true],
  ['output', 'Output', true],
  ['cachedInput', 'Cached input', false],
] as const
type FieldName = (typeof FIELDS)[number][0]

export function SetPriceDialog({
  target,
  onClose,
}: {
  readonly target: string
  readonly onClose: () => void
}) {
  const [typed, setTyped] = useState<Readonly<Record<FieldName, string>>>({
    input: '',
    output: '',
    cachedInput: '',
  })
  const [provider = '', ...rest] = target.split('/')
  const save = useChange({
    send: async () => {
      const prices = Object.fromEntries(
        FIELDS.flatMap(([name]) => (typed[name] === '' ? [] : [[name, Number(typed[name])]])),
      )
      await ask('PUT /v1/provider-models/{provider}/{model}', {
        path: { provider, model: rest.join('/') },
        body: { prices: [prices] },
      })
    },
    makesStale: ['GET /v1/provider-models'],
    done: 'Price set',
    onDone: onClose,
  })
  const isValid = FIELDS.every(
    ([name, , isRequired]) => PRICE.test(typed[name]) || (!isRequired && typed[name] === ''),
  )
  const submit = () => {
    if (isValid) save.mutate(undefined)
    return isValid
  }
  return (
    <Dialog isOpen onClose={onClose} title={`Set a price of ${target}`}>
      <Form onSubmit={submit} error={save.error}>
        <p className="mb-4 text-[13px] text-ink-soft">
          US dollars per million tokens, for calls that begin from now on, of all accounts. A price
          in the configuration file takes precedence.
        </p>
        <div className="grid gap-4 sm:grid-cols-3">
          {FIELDS.map(([name, label, isRequired]) => (
            <TextField
              key={name}
              label={label}
              inputMode="decimal"
              autoComplete="off"
              required={isRequired}
              isOptional={!isRequired}
              value={typed[name]}
              onChange={(event) => setTyped({ ...typed, [name]: event.target.value.trim() })}
              problem={typed[name] === '' || PRICE.test(typed[name]) ? undefined : PROBLEM}
              field={`prices[0].${name}`}
            />
          ))}
        </div>
        <FormActions onCancel={onClose} isBusy={save.isPending}>
          Set
        </FormActions>
      </Form>
    </Dialog>
  )
}
