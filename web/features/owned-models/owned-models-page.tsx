import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Server } from 'lucide-react'
import type { RowOf } from '../../api/ask.ts'
import { wholeListQuery } from '../../api/operation-query.ts'
import { formatDialect } from '../../format/dialects.ts'
import { formatUsd } from '../../format/figures.ts'
import { gatesWithTarget } from '../../format/gate-targets.ts'
import { GateLinks } from '../../ui/gate-links.tsx'
import { ResourcePage } from '../../ui/resource-page.tsx'
import { SearchedTable } from '../../ui/searched-rows.tsx'
import { timeColumn } from '../../ui/table.tsx'
import type { OwnedModel } from './draft.ts'
import { StateOfModel } from './probe-note.tsx'
import { useLastCalls } from './use-last-calls.ts'

export function OwnedModelsPage() {
  const gates = useQuery(wholeListQuery('GET /v1/gates'))
  return (
    <ResourcePage
      list="GET /v1/owned-models"
      title="Owned models"
      note="Models that you host or pay for yourself, with their address, credential and prices. Gates name them as owned/…, beside any provider; their calls do not count for your plan’s quota."
      many="owned models"
      icon={<Server />}
      purpose="A vLLM or Ollama server, a fine-tuned model at a vendor, a proxy of your own: register where it is and what it speaks, then put it into a gate."
      create={{ label: 'Register a model', to: '/owned-models/new' }}
    >
      {(rows) => <ModelTable models={rows} gates={gates.data} />}
    </ResourcePage>
  )
}

function ModelTable({
  models,
  gates,
}: {
  readonly models: readonly OwnedModel[]
  readonly gates: readonly RowOf<'GET /v1/gates'>[] | undefined
}) {
  const lastCallOf = useLastCalls()
  return (
    <SearchedTable
      label="Owned models"
      rows={models}
      thing="model"
      textOf={({ displayName, slug, baseUrl }) => `${displayName} owned/${slug} ${baseUrl}`}
      searched="Names, slugs and addresses are searched."
      keyOf={({ slug }) => slug}
      columns={[
        {
          title: 'Model',
          className: 'max-w-72 min-w-40 wrap-anywhere',
          cell: ({ slug, displayName }) => (
            <>
              <Link
                to="/owned-models/$slug"
                params={{ slug }}
                className="rounded-sm font-medium text-ink hover:underline"
              >
                {displayName}
              </Link>
              <code className="block font-mono text-[13px] text-ink-faint">owned/{slug}</code>
            </>
          ),
        },
        {
          title: 'State',
          cell: (model) => <StateOfModel probe={model.probe} lastCall={lastCallOf(model)} />,
        },
        {
          title: 'Format and address',
          cell: ({ dialect, baseUrl }) => (
            <>
              <span className="text-ink">{formatDialect(dialect)}</span>
              <code
                title={baseUrl}
                className="line-clamp-2 max-w-64 min-w-36 font-mono text-[13px] wrap-anywhere text-ink-faint"
              >
                {baseUrl}
              </code>
            </>
          ),
        },
        {
          title: 'Input / output, per 1M',
          isNumber: true,
          isLabelled: true,
          className: 'whitespace-nowrap text-ink max-sm:text-left',
          cell: ({ pricingInput, pricingOutput }) =>
            `${formatUsd(pricingInput / 100)} / ${formatUsd(pricingOutput / 100)}`,
        },
        {
          title: 'Used by',
          isLabelled: true,
          className: 'min-w-36 text-ink-soft',
          cell: ({ slug }) => <Users gates={gates} slug={slug} />,
        },
        timeColumn('Credential set', 'credentialSetAt', { never: 'none' }),
      ]}
    />
  )
}

function Users({
  gates,
  slug,
}: {
  readonly gates: readonly RowOf<'GET /v1/gates'>[] | undefined
  readonly slug: string
}) {
  if (gates === undefined) return <span className="text-ink-faint">–</span>
  const users = gatesWithTarget(gates, `owned/${slug}`)
  return users.length === 0 ? (
    <span className="text-ink-faint">no gate</span>
  ) : (
    <GateLinks gates={users} />
  )
}
