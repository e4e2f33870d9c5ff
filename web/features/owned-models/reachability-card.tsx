/** Says whether the model answered the last time, and asks it again. */
import { useQueryClient } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'
import { operationQuery } from '../../api/operation-query.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { useChange } from '../../ui/use-change.ts'
import type { OwnedModel } from './draft.ts'
import { isUnderWay, ProbeNote } from './probe-note.tsx'

export function ReachabilityCard({ model }: { readonly model: OwnedModel }) {
  const queryClient = useQueryClient()
  const { slug, probe } = model
  const check = useChange({
    send: () => ask('POST /v1/owned-models/{slug}/probe', { path: { slug } }),
    onAnswer: (found) => {
      queryClient.setQueryData(
        operationQuery('GET /v1/owned-models/{slug}', { path: { slug } }).queryKey,
        found,
      )
    },
    makesStale: ['GET /v1/owned-models'],
  })
  return (
    <Card>
      <CardHeader title="Reachability" note="One small request to the model.">
        <Button
          size="small"
          isBusy={check.isPending}
          disabled={probe?.status === 'checking'}
          onClick={() => check.mutate()}
        >
          Check again
        </Button>
      </CardHeader>
      <div className="flex flex-col gap-3 p-5 text-[13px] text-ink-soft">
        {probe === null ? (
          <p>It was not asked yet by this version of the gateway.</p>
        ) : (
          <ProbeNote probe={probe} />
        )}
        {isUnderWay(probe) && <p>This page shows what is found.</p>}
        <ProblemNote error={check.error} />
      </div>
    </Card>
  )
}
