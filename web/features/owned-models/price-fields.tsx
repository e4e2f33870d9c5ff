/** The three declared prices: typed in whole US cents per million tokens, and said in dollars beside. */
import { formatCentsPerMillion } from '../../format/figures.ts'
import { TextField } from '../../ui/field.tsx'
import { type Prices, priceProblem, toCents } from './draft.ts'

const FIELDS = [
  { name: 'pricingInput', label: 'Input' },
  { name: 'pricingOutput', label: 'Output' },
  { name: 'pricingCachedInput', label: 'Cached input' },
] as const

export function PriceFields({
  prices,
  onChange,
  refusedAs,
  isCachedOptional,
}: {
  readonly prices: Prices
  readonly onChange: (changed: Partial<Prices>) => void
  /** What the gateway said of a field as it stands. */
  readonly refusedAs: (field: keyof Prices) => string | undefined
  /** While registering: a server that caches nothing charges the same. */
  readonly isCachedOptional: boolean
}) {
  return (
    <fieldset>
      <legend className="mb-1.5 text-[13px] text-ink-faint">
        <span className="font-medium text-ink">Prices</span> in whole US cents per million tokens. What calls
        cost is reckoned with them; 0 for what costs you nothing.
      </legend>
      <div className="grid gap-3 sm:grid-cols-3">
        {FIELDS.map(({ name, label }) => {
          const typed = prices[name]
          const isOptional = isCachedOptional && name === 'pricingCachedInput'
          const cents = toCents(typed)
          return (
            <TextField
              key={name}
              label={label}
              isOptional={isOptional}
              required={!isOptional}
              inputMode="numeric"
              autoComplete="off"
              value={typed}
              onChange={(event) => onChange({ [name]: event.target.value })}
              problem={priceProblem(typed) ?? refusedAs(name)}
              hint={cents !== undefined ? formatCentsPerMillion(cents) : isOptional ? 'as input' : 'in cents'}
            />
          )
        })}
      </div>
    </fieldset>
  )
}
