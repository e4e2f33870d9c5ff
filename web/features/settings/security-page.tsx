import { useQuery } from '@tanstack/react-query'
import { ask, type RowOf } from '../../api/ask.ts'
import { operationQuery } from '../../api/operation-query.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, RowButton } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { Form, FormRefusal } from '../../ui/form.tsx'
import { EndMoment } from '../../ui/moment.tsx'
import { PasswordField } from '../../ui/password-field.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { ColumnTable, timeColumn } from '../../ui/table.tsx'
import { useChange } from '../../ui/use-change.ts'
import { useFields } from '../../ui/use-fields.ts'

export function SecurityPage() {
  const { data: session } = useQuery(operationQuery('GET /v1/session'))
  return (
    <>
      <Card>
        <CardHeader title="Password" note="Changing it ends every other session of yours." />
        <PasswordForm email={session?.user?.email ?? ''} />
      </Card>
      <SessionsCard />
    </>
  )
}

const SHORTEST = 12
const LONGEST = 128
const NO_PASSWORDS = { currentPassword: '', newPassword: '' }

function PasswordForm({ email }: { readonly email: string }) {
  const { fields, change: setFields, bind } = useFields(NO_PASSWORDS)
  const change = useChange({
    send: () => ask('POST /v1/auth/password', { body: fields }),
    isSecret: true,
    onAnswer: () => setFields(NO_PASSWORDS),
    makesStale: ['GET /v1/sessions', 'GET /v1/session'],
    done: ['Password changed', { description: 'Your other sessions have ended.' }],
  })
  const missing = SHORTEST - fields.newPassword.length
  return (
    <Form
      onSubmit={() => change.mutate()}
      error={change.error}
      className="flex max-w-sm flex-col gap-4 px-5 py-5"
    >
      {/* For password managers, to identify the account. */}
      <input type="text" autoComplete="username" value={email} readOnly hidden />
      <PasswordField
        label="Current password"
        autoComplete="current-password"
        required
        {...bind('currentPassword')}
      />
      <PasswordField
        label="New password"
        autoComplete="new-password"
        required
        minLength={SHORTEST}
        maxLength={LONGEST}
        hint={
          fields.newPassword !== '' && missing > 0
            ? `${missing} more ${missing === 1 ? 'character' : 'characters'} at least.`
            : `At least ${SHORTEST} characters. A few unrelated words are best.`
        }
        {...bind('newPassword')}
      />
      <FormRefusal />
      <div>
        <Button type="submit" look="primary" isBusy={change.isPending}>
          Change the password
        </Button>
      </div>
    </Form>
  )
}

type Session = RowOf<'GET /v1/sessions'>

function SessionsCard() {
  const sessions = useQuery(operationQuery('GET /v1/sessions'))
  const end = useChange({
    send: async (ended: readonly Session[]) => {
      for (const { id } of ended) await ask('DELETE /v1/sessions/{id}', { path: { id } })
      return ended.length
    },
    done: (count) => (count === 1 ? 'Session ended' : `${count} sessions ended`),
    saysFailure: true,
    makesStale: ['GET /v1/sessions'],
    failureMakesStale: ['GET /v1/sessions'],
  })
  const others = sessions.data?.data.filter(({ current }) => !current) ?? []
  return (
    <Card>
      <CardHeader
        title="Sessions"
        note="A session lasts seven days. End one that you do not recognise, and change the password."
      >
        {others.length > 1 && (
          <Button
            look="danger"
            size="small"
            isBusy={end.isPending}
            onClick={() => end.mutate(others)}
          >
            End all others
          </Button>
        )}
      </CardHeader>
      <QueryBoundary query={sessions}>
        {({ data: rows }) => (
          <ColumnTable
            label="Sessions"
            rows={rows}
            keyOf={({ id }) => id}
            columns={[
              {
                title: 'Device',
                className: 'whitespace-nowrap text-ink',
                cell: ({ userAgent, current }) => (
                  <span title={userAgent ?? undefined}>
                    <span className="mr-2 font-medium">{describeUserAgent(userAgent)}</span>
                    {current && <Badge tone="ok">This session</Badge>}
                  </span>
                ),
              },
              {
                title: 'Address',
                className: 'font-mono text-[13px] text-ink-soft',
                cell: ({ address }) => address ?? 'unknown',
              },
              timeColumn('Signed in', 'createdAt'),
              {
                title: 'Ends',
                isLabelled: true,
                className: 'text-ink-soft',
                cell: ({ expiresAt }) => <EndMoment at={expiresAt} />,
              },
              {
                title: 'End',
                isHidden: true,
                cell: (session) => (
                  <div className="flex min-h-7 justify-end">
                    {!session.current && (
                      <RowButton
                        look="danger"
                        act="End"
                        of={`the session with ${describeUserAgent(session.userAgent)}`}
                        disabled={end.isPending}
                        onClick={() => end.mutate([session])}
                      />
                    )}
                  </div>
                ),
              },
            ]}
          />
        )}
      </QueryBoundary>
    </Card>
  )
}

const BROWSERS: readonly (readonly [mark: RegExp, name: string])[] = [
  // Other browsers claim to be Chrome or Safari too, so other browsers come first.
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Headless)?Chrom(?:e|ium)\/|\bCriOS\//, 'Chrome'],
  [/\bVersion\/[\d.]+.*\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
]

const SYSTEMS: readonly (readonly [mark: RegExp, name: string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

/** `Firefox on Windows`, or the beginning of an unknown text. */
export function describeUserAgent(userAgent: string | null): string {
  if (userAgent === null || userAgent === '') return 'Unknown device'
  const browser = find(BROWSERS, userAgent)
  const system = find(SYSTEMS, userAgent)
  if (browser !== undefined && system !== undefined) return `${browser} on ${system}`
  return browser ?? system ?? userAgent.slice(0, 40)
}

function find(list: readonly (readonly [RegExp, string])[], text: string): string | undefined {
  return list.find(([mark]) => mark.test(text))?.[1]
}
