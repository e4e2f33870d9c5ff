import { fillsInTheMiddle, OWNED_DIALECTS } from '../../../src/contract/dialects.ts'
import { formatDialect } from '../../format/dialects.ts'
import { classNames } from '../../ui/class-names.ts'
import type { Dialect, FimEndpoint } from './draft.ts'

/** Formats with extra fields are last. */
const OFFERED = (Object.keys(OWNED_DIALECTS) as Dialect[]).toSorted(
  (one, other) => Number(fillsInTheMiddle(one)) - Number(fillsInTheMiddle(other)),
)

export function callAddress(dialect: Dialect, baseUrl: string, fimEndpoint: FimEndpoint): string {
  const address = baseUrl.trim().replace(/\/+$/, '')
  if (!fillsInTheMiddle(dialect)) return address + OWNED_DIALECTS[dialect].path
  return fimEndpoint === 'infill'
    ? `${address.replace(/\/v1$/, '')}/infill`
    : address + FIM_PATHS[fimEndpoint]
}

const FIM_PATHS: Readonly<Record<Exclude<FimEndpoint, 'infill'>, string>> = {
  auto: '/…',
  'fim-completions': '/fim/completions',
  'completions-suffix': '/completions',
  'completions-template': '/completions',
}

export function DialectField({
  chosen,
  onChoose,
}: {
  readonly chosen: Dialect
  readonly onChoose: (dialect: Dialect) => void
}) {
  return (
    <fieldset>
      <legend className="mb-1.5 text-[13px] font-medium text-ink">
        Format that its server speaks
      </legend>
      <div className="grid gap-2 sm:grid-cols-2">
        {OFFERED.map((dialect) => (
          <label
            key={dialect}
            className={classNames(
              'flex cursor-pointer gap-2.5 rounded-lg border px-3 py-2.5 has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent',
              dialect === chosen
                ? 'border-accent bg-accent-soft'
                : 'border-line-strong bg-surface hover:border-ink-faint',
            )}
          >
            <input
              type="radio"
              name="dialect"
              value={dialect}
              checked={dialect === chosen}
              onChange={() => onChoose(dialect)}
              className="mt-0.5 size-4 shrink-0 accent-accent focus-visible:outline-none"
            />
            <span className="min-w-0">
              <span className="block text-sm font-medium text-ink">{formatDialect(dialect)}</span>
              <span className="block text-[13px] text-ink-soft">{OWNED_DIALECTS[dialect].use}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
