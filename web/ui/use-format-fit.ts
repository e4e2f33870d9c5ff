/**
 * How well a gate's targets support each caller's format: loaded once, because the table only
 * changes with versions of the gateway.
 */
import { useQuery } from '@tanstack/react-query'
import { operationQuery } from '../api/operation-query.ts'
import { type Fit, findFit } from '../format/format-fit.ts'

export function useFormatFit(targets: readonly string[]): (endpoint: string) => Fit {
  const table = useQuery({
    ...operationQuery('GET /v1/conformance'),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const providers = useQuery(operationQuery('GET /v1/providers'))
  const known = { providers: providers.data?.data ?? [], table: table.data?.data ?? [] }
  return (endpoint) => findFit(known, endpoint, targets)
}

export const NO_TARGET_TAKES_IT =
  'No target of this gate takes this format: such a call is refused. Choose another one, or ' +
  'add a target that speaks it.'
