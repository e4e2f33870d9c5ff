import { useNavigate, useSearch } from '@tanstack/react-router'
import { Boxes } from 'lucide-react'
import { startTransition, useDeferredValue, useMemo, useOptimistic, useState } from 'react'
import { formatWhole } from '../../format/figures.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { SelectField } from '../../ui/field.tsx'
import { FirstRows } from '../../ui/first-rows.tsx'
import { Page } from '../../ui/page.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { EmptyState, ErrorState, RowSkeletons } from '../../ui/states.tsx'
import { UnpricedNotice } from '../../ui/unpriced-notice.tsx'
import { useTargetHealth } from '../../ui/use-target-health.ts'
import { CompareModels } from './compare-models.tsx'
import { type ModelChoices, parseModelChoices, toModelSearch } from './model-choices.ts'
import { findModels, type ModelCalls, type ModelRow, SORTS, type SortName } from './model-rows.ts'
import { ModelTable } from './model-table.tsx'
import { SetPriceDialog } from './set-price-dialog.tsx'
import { useModelCalls, useModels } from './use-models.ts'

const PROVIDER_KEYS: string = '/provider-keys'

export function ModelsPage() {
  const { rows, maySetPrices, error, retry } = useModels()
  const calls = useModelCalls()
  const [target, setTarget] = useState<string>()
  return (
    <Page
      title="Models"
      note="The models that gates can use, with prices in US dollars per million tokens. Models that are not listed can be typed into a gate."
    >
      <UnpricedNotice unpriced={calls.unpriced} onSetPrice={maySetPrices ? setTarget : undefined} />
      {rows === undefined ? (
        <Card>
          {error === undefined ? <RowSkeletons /> : <ErrorState error={error} retry={retry} />}
        </Card>
      ) : (
        <FoundModels rows={rows} calls={calls} onSetPrice={maySetPrices ? setTarget : undefined} />
      )}
      {target !== undefined && (
        <SetPriceDialog target={target} onClose={() => setTarget(undefined)} />
      )}
    </Page>
  )
}

function FoundModels({
  rows,
  calls: { callsOf },
  onSetPrice,
}: {
  readonly rows: readonly ModelRow[]
  readonly calls: ModelCalls
  readonly onSetPrice: ((target: string) => void) | undefined
}) {
  const healthOf = useTargetHealth()
  const [choices, change] = useModelChoices()
  const { provider, sort, isWithoutKey, compared } = choices
  // The field updates at once; the hundreds of rows update afterwards.
  const search = useDeferredValue(choices.search)
  const found = useMemo(
    () => findModels(rows, { search, provider, sort, isWithoutKey }, callsOf),
    [rows, search, provider, sort, isWithoutKey, callsOf],
  )
  const providers = useMemo(() => toProviderOptions(rows, isWithoutKey), [rows, isWithoutKey])
  const onCompare = (target: string, isCompared: boolean) =>
    change({
      compared: isCompared ? [...compared, target] : compared.filter((one) => one !== target),
    })
  const comparedRows = compared.flatMap((target) => rows.find((row) => row.target === target) ?? [])
  return (
    <>
      <CompareModels
        rows={comparedRows}
        onRemove={(target) => onCompare(target, false)}
        onClear={() => change({ compared: [] })}
      />
      <Card>
        <div className="flex flex-wrap items-end gap-x-4 gap-y-3 border-b border-line px-5 py-4">
          <SearchField
            label="Find a model"
            value={choices.search}
            onChange={(text) => change({ search: text })}
          />
          <SelectField
            label="Provider"
            className="w-full sm:w-44"
            value={provider}
            options={{ '': 'All', ...providers }}
            onChange={(event) => change({ provider: event.target.value })}
          />
          <SelectField
            label="Sort by"
            className="w-full sm:w-52"
            value={sort}
            options={SORTS}
            onChange={(event) => change({ sort: event.target.value as SortName })}
          />
          <label className="flex h-9 items-center gap-2 text-[13px] text-ink-soft">
            <input
              type="checkbox"
              className="size-4 accent-accent"
              checked={isWithoutKey}
              onChange={(event) => change({ isWithoutKey: event.target.checked })}
            />
            Also providers without a key
          </label>
          <p role="status" className="ml-auto flex h-9 items-center text-[13px] text-ink-soft">
            {found.length === 1 ? '1 model' : `${formatWhole(found.length)} models`}
          </p>
        </div>
        {found.length === 0 ? (
          <NoModel isAnyReachable={rows.some(({ isReachable }) => isReachable)} />
        ) : (
          <FirstRows key={`${search} ${provider} ${sort} ${isWithoutKey}`} rows={found}>
            {(shown) => (
              <ModelTable
                rows={shown}
                compared={compared}
                onCompare={onCompare}
                callsOf={callsOf}
                healthOf={healthOf}
                onSetPrice={onSetPrice}
              />
            )}
          </FirstRows>
        )}
      </Card>
    </>
  )
}

function NoModel({ isAnyReachable }: { readonly isAnyReachable: boolean }) {
  if (isAnyReachable)
    return (
      <EmptyState title="No model matches">
        Names, providers and modalities are searched. A gate may also name a model that is not
        listed.
      </EmptyState>
    )
  return (
    <EmptyState
      icon={<Boxes />}
      title="No model can be called yet"
      action={
        <LinkButton to={PROVIDER_KEYS} look="primary">
          Set a provider key
        </LinkButton>
      }
    >
      No provider has a key, and the account has no gate and no owned model.
    </EmptyState>
  )
}

function toProviderOptions(
  rows: readonly ModelRow[],
  isWithoutKey: boolean,
): Readonly<Record<string, string>> {
  const shown = rows.filter(({ isReachable }) => isWithoutKey || isReachable)
  return Object.fromEntries(shown.map(({ provider, providerName }) => [provider, providerName]))
}

/** The choices are in the address; controls show a choice before the router has followed. */
function useModelChoices(): readonly [ModelChoices, (next: Partial<ModelChoices>) => void] {
  const address = useSearch({ strict: false })
  const navigate = useNavigate()
  const [choices, show] = useOptimistic(
    parseModelChoices(address),
    (before, next: Partial<ModelChoices>) => ({ ...before, ...next }),
  )
  const change = (next: Partial<ModelChoices>) =>
    startTransition(async () => {
      show(next)
      await navigate({
        to: '.',
        search: (before) => toModelSearch({ ...parseModelChoices(before), ...next }),
        replace: true,
        resetScroll: false,
      })
    })
  return [choices, change]
}
