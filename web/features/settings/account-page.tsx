import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type AnswerOf, ask } from '../../api/ask.ts'
import { operationQuery } from '../../api/operation-query.ts'
import { formatWhole } from '../../format/figures.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form, FormRefusal } from '../../ui/form.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { useChange } from '../../ui/use-change.ts'
import { AttributionCard } from './attribution-card.tsx'

type Account = AnswerOf<'GET /v1/account'>

export function AccountPage() {
  const account = useQuery(operationQuery('GET /v1/account'))
  return (
    <>
      <Card>
        <CardHeader title="Account" note="Its name is seen by members only." />
        <QueryBoundary query={account}>{(data) => <NameForm account={data} />}</QueryBoundary>
      </Card>
      <AttributionCard />
      <Card>
        <CardHeader
          title="Data retention"
          note="Set by the operator of this gateway, for all its accounts."
        />
        <QueryBoundary query={account}>
          {({ retention }) => <Retention retention={retention} />}
        </QueryBoundary>
      </Card>
    </>
  )
}

function NameForm({ account }: { readonly account: Account }) {
  const [name, setName] = useState(account.name)
  const rename = useChange({
    send: () => ask('PATCH /v1/account', { body: { name: name.trim() } }),
    onAnswer: (saved) => setName(saved.name),
    makesStale: ['GET /v1/account', 'GET /v1/session'],
    done: 'Account saved',
  })
  const isUnchanged = name.trim() === account.name
  return (
    <Form
      onSubmit={() => rename.mutate()}
      error={rename.error}
      className="flex flex-col gap-5 px-5 py-5"
    >
      <div className="flex flex-wrap items-start gap-3">
        <TextField
          label="Name"
          className="w-full max-w-sm"
          required
          maxLength={120}
          value={name}
          onChange={(event) => setName(event.target.value)}
          field="name"
        />
        <Button
          type="submit"
          look="primary"
          className="mt-[25.5px]"
          isBusy={rename.isPending}
          disabled={isUnchanged}
        >
          Save
        </Button>
      </div>
      <FormRefusal />
      <div>
        <p className="text-[13px] font-medium text-ink">Account id</p>
        <p className="mt-1 flex items-center gap-1">
          <code className="font-mono text-[13px] break-all text-ink-soft">{account.id}</code>
          <CopyButton text={account.id} label="Copy the account id" />
        </p>
      </div>
    </Form>
  )
}

function Retention({ retention }: { readonly retention: Account['retention'] }) {
  const kept: readonly (readonly [what: string, howLong: string, note: string])[] = [
    [
      'Prompts and completions',
      'Never stored',
      'Prompts and completions are in no log, trace or error report.',
    ],
    [
      'Single calls in the log',
      inDays(retention.callLogDays),
      'A call’s row has time, gate, target, tokens, cost, status, the id of the member, and hashes of session and tags. Sums of calls remain for the analytics.',
    ],
    [
      'Sums by the hour',
      inDays(retention.hourlySumsDays),
      'Daily sums stay. Those of people stay as long as the operator sets, 13 months by default.',
    ],
    [
      'Changes in the audit log',
      inDays(retention.auditLogDays),
      'The audit log says who changed what, with the state before and after.',
    ],
  ]
  return (
    <dl className="divide-y divide-line">
      {kept.map(([what, howLong, note]) => (
        <div key={what} className="grid gap-x-6 gap-y-0.5 px-5 py-3.5 sm:grid-cols-[1fr_auto]">
          <dt className="text-sm text-ink">{what}</dt>
          <dd className="text-sm font-medium text-ink tabular-nums sm:row-span-2 sm:self-center">
            {howLong}
          </dd>
          <dd className="text-[13px] text-ink-faint">{note}</dd>
        </div>
      ))}
    </dl>
  )
}

function inDays(days: number): string {
  return days === 1 ? '1 day' : `${formatWhole(days)} days`
}
