import { formatCentsPerMillion } from '../../format/figures.ts'
import { TextField } from '../../ui/field.tsx'
import { type Prices, priceProblem, toCents } from './draft.ts'

const FIELDS = [
  { name: 'pricingInput', label: 'Input', whenEmpty: '0 when empty' },
  { name: 'pricingOutput', label: 'Output', whenEmpty: '0 when empty' },
  { name: 'pricingCachedInput', label: 'Cached input', whenEmpty: 'as input' },
] as const

export function PriceFields({
  prices,
  onChange,
  isRegistering,
}: {
  readonly prices: Prices
  readonly onChange: (changed: Partial<Prices>) => void
  /** While registering, an empty price means 0, and an empty cached price means the input price. */
  readonly isRegistering: boolean
}) {
  return (
    <fieldset>
      <legend className="mb-1.5 text-[13px] text-ink-faint">
        <span className="font-medium text-ink">Prices</span> in whole US cents per million tokens.
        The cost of calls follows from them; 0 for tokens that cost you nothing.
      </legend>
      <div className="grid gap-3 sm:grid-cols-3">
        {FIELDS.map(({ name, label, whenEmpty }) => {
          const typed = prices[name]
          const cents = toCents(typed)
          return (
            <TextField
              key={name}
              label={label}
              isOptional={isRegistering}
              required={!isRegistering}
              inputMode="numeric"
              autoComplete="off"
              value={typed}
              onChange={(event) => onChange({ [name]: event.target.value })}
              problem={priceProblem(typed)}
              field={name}
              hint={
                cents !== undefined
                  ? formatCentsPerMillion(cents)
                  : isRegistering
                    ? whenEmpty
                    : 'in cents'
              }
            />
          )
        })}
      </div>
    </fieldset>
  )
}
