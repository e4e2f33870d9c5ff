/**
 * The losses of each caller's format on the way to a target: counted, and named on opening. Says
 * nothing where nothing is known.
 */
import { useQuery } from '@tanstack/react-query'
import { operationQuery } from '../../api/operation-query.ts'
import { type EndpointLosses, findLosses, type Loss } from '../../format/conformance-losses.ts'

export function TargetLosses({ target }: { readonly target: string }) {
  const table = useQuery({
    ...operationQuery('GET /v1/conformance'),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const endpoints = findLosses(table.data?.data ?? [], target)
  if (endpoints.length === 0) return null
  const losing = endpoints.filter(({ losses }) => losses === undefined || losses.length > 0)
  if (losing.length === 0) return <span>no format loses anything here</span>
  return (
    <details className="min-w-0 open:basis-full">
      <summary className="cursor-pointer rounded-sm hover:text-ink">
        lossy from {losing.map(summarise).join(', ')}
      </summary>
      <dl className="mt-2 flex flex-col gap-2 text-ink-soft">
        {endpoints.map(({ endpoint, losses }) => (
          <div key={endpoint}>
            <dt>
              <code className="font-mono text-ink">{endpoint}</code>
            </dt>
            <dd className="pl-3">
              {losses === undefined ? 'does not reach it' : <Losses losses={losses} />}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

/** `/v1/messages (8)`. */
function summarise({ endpoint, losses }: EndpointLosses): string {
  return `${endpoint} (${losses === undefined ? 'all' : losses.length})`
}

function Losses({ losses }: { readonly losses: readonly Loss[] }) {
  if (losses.length === 0) return 'nothing is lost'
  return (
    <ul>
      {losses.map(({ id, label, detail, isOfSomeModels }) => (
        <li key={id} className="break-words">
          {label}
          {isOfSomeModels && ', with some of its models'}:{' '}
          <code className="font-mono">{detail}</code>
        </li>
      ))}
    </ul>
  )
}
