/** The rules by which requests are fitted to a provider's model. */
import { useQuery } from '@tanstack/react-query'
import type { AnswerOf } from '../../api/ask.ts'
import { operationQuery } from '../../api/operation-query.ts'
import { NOT_KNOWN } from '../../format/figures.ts'
import { ExternalLink } from '../../ui/links.tsx'
import type { ModelRow } from './model-rows.ts'

type Rule = AnswerOf<'GET /v1/provider-models/{provider}/{model}'>['rules'][number]

export function ModelRules({ row }: { readonly row: ModelRow }) {
  if (row.type !== 'provider') return NOT_KNOWN
  return <ProviderRules target={row.target} />
}

function ProviderRules({ target }: { readonly target: string }) {
  const slash = target.indexOf('/')
  const path = { provider: target.slice(0, slash), model: target.slice(slash + 1) }
  const { data } = useQuery(operationQuery('GET /v1/provider-models/{provider}/{model}', { path }))
  if (data === undefined) return NOT_KNOWN
  if (data.rules.length === 0) return 'none'
  return (
    <table className="text-[13px]" aria-label={`Rules for requests to ${target}`}>
      <tbody>
        {data.rules.map((rule) => (
          <tr key={rule.name}>
            <th scope="row" className="!p-0 !pr-3 text-left font-normal text-ink-soft">
              {rule.source === null ? (
                <span title="The operator’s entry">{rule.name}</span>
              ) : (
                <ExternalLink href={rule.source}>{rule.name}</ExternalLink>
              )}
            </th>
            <td className="!p-0 wrap-anywhere">{describeValue(rule.value)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function describeValue(value: Rule['value']): string {
  if (value === true) return 'yes'
  if (Array.isArray(value)) return value.join(', ')
  if (typeof value !== 'object') return String(value)
  return Object.entries(value)
    .map(([name, each]) => `${name} ${each}`)
    .join(', ')
}
