import { LoaderCircle, Play } from 'lucide-react'
import { useEffect, useState } from 'react'
import { type AnswerOf, ask } from '../../api/ask.ts'
import { formatDuration, formatWhole, NOT_KNOWN } from '../../format/figures.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { ErrorState } from '../../ui/states.tsx'
import { Table, Th } from '../../ui/table.tsx'
import { useChange } from '../../ui/use-change.ts'
import type { Gate } from './gate-draft.ts'

type Result = AnswerOf<'POST /v1/gates/{id}/test'>['results'][number]

const TICK_MS = 100

export function GateTest({
  gate,
  hasUnsaved,
}: {
  readonly gate: Gate
  readonly hasUnsaved: boolean
}) {
  const test = useChange({
    send: () => ask('POST /v1/gates/{id}/test', { path: { id: gate.id } }),
    makesStale: ['GET /v1/targets/health', 'GET /v1/analytics'],
  })
  const results = test.data?.results
  return (
    <Card>
      <CardHeader
        title="Test"
        note="The test sends every target one small request, which is an ordinary call: it counts for limits and is in the log."
      >
        <Button look="primary" isBusy={test.isPending} onClick={() => test.mutate()}>
          {!test.isPending && <Play aria-hidden className="size-4" />}
          {results === undefined ? 'Run the test' : 'Run again'}
        </Button>
      </CardHeader>
      {hasUnsaved && (
        <p className="border-b border-line bg-warn-soft px-5 py-2 text-[13px] text-warn">
          The test uses the saved gate, without your unsaved changes.
        </p>
      )}
      <p role="status" className="sr-only">
        {test.isPending ? 'The targets are being asked.' : results && describeResults(results)}
      </p>
      {test.isError ? (
        <ErrorState error={test.error} retry={() => test.mutate()} />
      ) : (
        <Table
          label="Results of the test"
          head={
            <>
              <Th>Target</Th>
              <Th>Result</Th>
              <Th isNumber>Status</Th>
              <Th isNumber>Time</Th>
              <Th isNumber>First byte</Th>
              <Th isNumber>Tokens</Th>
            </>
          }
        >
          {gate.targets.map(({ model }, index) => (
            <TestRow
              // biome-ignore lint/suspicious/noArrayIndexKey: a gate may list a target twice, and the order is fixed
              key={index}
              target={results?.[index]?.target ?? model}
              result={results?.[index]}
              isRunning={test.isPending}
            />
          ))}
        </Table>
      )}
    </Card>
  )
}

function TestRow({
  target,
  result,
  isRunning,
}: {
  readonly target: string
  readonly result: Result | undefined
  readonly isRunning: boolean
}) {
  if (isRunning || result === undefined) {
    return (
      <tr>
        <td className="font-mono text-[13px] whitespace-nowrap">{target}</td>
        <td className="text-ink-faint">
          {isRunning ? (
            <span className="inline-flex items-center gap-2">
              <LoaderCircle aria-hidden className="size-3.5 animate-spin" />
              asking…
            </span>
          ) : (
            'not tested yet'
          )}
        </td>
        <td />
        <td className="text-right text-ink-faint tabular-nums">{isRunning && <Elapsed />}</td>
        <td />
        <td />
      </tr>
    )
  }
  const { usage, error } = result
  return (
    <tr className="[&>td]:align-top">
      <td className="min-w-44 sm:w-1/2">
        <code className="font-mono text-[13px] break-all">{target}</code>
        {error !== undefined && (
          <p className="mt-1 text-[13px] text-ink-soft">
            <code className="font-mono text-xs text-danger">{error.code}</code> {error.message}
          </p>
        )}
      </td>
      <td>
        <Badge tone={result.status === 'ok' ? 'ok' : 'danger'} hasDot>
          {result.status}
        </Badge>
      </td>
      <td className="text-right tabular-nums">{result.httpStatus ?? NOT_KNOWN}</td>
      <td className="text-right whitespace-nowrap tabular-nums">
        {formatDuration(result.latencyMs)}
      </td>
      <td className="text-right whitespace-nowrap tabular-nums">
        {formatDuration(result.firstByteMs)}
      </td>
      <td className="text-right whitespace-nowrap tabular-nums">
        {usage === undefined
          ? NOT_KNOWN
          : `${formatWhole(usage.inputTokens)} in · ${formatWhole(usage.outputTokens)} out`}
      </td>
    </tr>
  )
}

function Elapsed() {
  const [startedAt] = useState(() => Date.now())
  const [now, setNow] = useState(startedAt)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  return <span aria-hidden>{((now - startedAt) / 1000).toFixed(1)} s</span>
}

function describeResults(results: readonly Result[]): string {
  const failed = results.filter(({ status }) => status === 'failed').length
  return `${results.length - failed} of ${results.length} targets answered.`
}
