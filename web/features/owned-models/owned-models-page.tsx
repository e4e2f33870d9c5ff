/** The models that the account hosts or pays for itself. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus, Server } from 'lucide-react'
import type { RowOf } from '../../api/ask.ts'
import { wholeListQuery } from '../../api/operation-query.ts'
import { formatDialect } from '../../format/dialects.ts'
import { formatUsd } from '../../format/figures.ts'
import { gatesWithTarget } from '../../format/gate-targets.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { GateLinks } from '../../ui/gate-links.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Page } from '../../ui/page.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { SearchedRows } from '../../ui/searched-rows.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Table, Th } from '../../ui/table.tsx'
import type { OwnedModel } from './draft.ts'
import { StateOfModel } from './probe-note.tsx'
import { useLastCalls } from './use-last-calls.ts'

export function OwnedModelsPage() {
  const models = useQuery(wholeListQuery('GET /v1/owned-models'))
  const gates = useQuery(wholeListQuery('GET /v1/gates'))
  const registerButton = (
    <LinkButton to="/owned-models/new" look="primary">
      <Plus aria-hidden className="size-4" />
      Register a model
    </LinkButton>
  )
  return (
    <Page
      title="Owned models"
      note="Models that you host or pay for yourself, with their address, credential and prices. Gates name them as owned/…, beside any provider; their calls do not count for your plan’s quota."
      actions={registerButton}
    >
      <Card>
        <QueryBoundary
          query={models}
          empty={
            <EmptyState icon={<Server />} title="No owned models" action={registerButton}>
              A vLLM or Ollama server, a fine-tuned model at a vendor, a proxy of your own: register
              where it is and what it speaks, then put it into a gate.
            </EmptyState>
          }
        >
          {(rows) => <ModelTable models={rows} gates={gates.data} />}
        </QueryBoundary>
      </Card>
    </Page>
  )
}

function ModelTable({
  models,
  gates,
}: {
  readonly models: readonly OwnedModel[]
  /** Undefined: not known. */
  readonly gates: readonly RowOf<'GET /v1/gates'>[] | undefined
}) {
  const lastCallOf = useLastCalls()
  return (
    <SearchedRows
      rows={models}
      thing="model"
      textOf={({ displayName, slug, baseUrl }) => `${displayName} owned/${slug} ${baseUrl}`}
      searched="Names, slugs and addresses are searched."
    >
      {(shown) => (
        <Table
          label="Owned models"
          isStackedOnPhones
          head={
            <>
              <Th>Model</Th>
              <Th>State</Th>
              <Th>Format and address</Th>
              <Th isNumber>Input / output, per 1M</Th>
              <Th>Used by</Th>
              <Th>Credential set</Th>
            </>
          }
        >
          {shown.map((model) => (
            <tr key={model.slug}>
              <td className="max-w-72 min-w-40 wrap-anywhere">
                <Link
                  to="/owned-models/$slug"
                  params={{ slug: model.slug }}
                  className="rounded-sm font-medium text-ink hover:underline"
                >
                  {model.displayName}
                </Link>
                <code className="block font-mono text-[13px] text-ink-faint">
                  owned/{model.slug}
                </code>
              </td>
              <td>
                <StateOfModel probe={model.probe} lastCall={lastCallOf(model)} />
              </td>
              <td>
                <span className="text-ink">{formatDialect(model.dialect)}</span>
                <code
                  title={model.baseUrl}
                  className="line-clamp-2 max-w-64 min-w-36 font-mono text-[13px] wrap-anywhere text-ink-faint"
                >
                  {model.baseUrl}
                </code>
              </td>
              <td
                data-label="Input / output, per 1M"
                className="text-right whitespace-nowrap text-ink tabular-nums max-sm:text-left"
              >
                {formatUsd(model.pricingInput / 100)} / {formatUsd(model.pricingOutput / 100)}
              </td>
              <td data-label="Used by" className="min-w-36 text-ink-soft">
                <Users gates={gates} slug={model.slug} />
              </td>
              <td data-label="Credential set" className="text-ink-soft">
                <Moment at={model.credentialSetAt} never="none" />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </SearchedRows>
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
