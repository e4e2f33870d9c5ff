import { useQuery } from '@tanstack/react-query'
import { UserPlus } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { type AnswerOf, ask, type RowOf } from '../../api/ask.ts'
import { operationQuery, wholeListQuery } from '../../api/operation-query.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, RowButton } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { ConfirmChange, Dialog, FormActions } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form, FormRefusal } from '../../ui/form.tsx'
import { OneTimeSecret } from '../../ui/one-time-secret.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { SearchedTable } from '../../ui/searched-rows.tsx'
import { LiftStopDialog, StopBadge, StopDialog } from '../../ui/stop-dialogs.tsx'
import { timeColumn } from '../../ui/table.tsx'
import { useChange } from '../../ui/use-change.ts'
import { InvitationsCard } from './invitations-card.tsx'

type Member = RowOf<'GET /v1/members'>
type Session = AnswerOf<'GET /v1/session'>

export function MembersPage() {
  const members = useQuery(wholeListQuery('GET /v1/members'))
  const { data: session } = useQuery(operationQuery('GET /v1/session'))
  const [isInviting, setInviting] = useState(false)
  const [step, setStep] = useState<MemberStep>()
  const isOwner = session?.role === 'owner'
  const owner = members.data?.find(({ role }) => role === 'owner')
  return (
    <>
      <Card>
        <CardHeader
          title="Members"
          note="All have full access to the account. Only the owner removes members and hands the account on."
        >
          <Button look="primary" onClick={() => setInviting(true)}>
            <UserPlus aria-hidden className="size-4" />
            Invite
          </Button>
        </CardHeader>
        <QueryBoundary query={members}>
          {(rows) => <MemberTable members={rows} session={session} onStep={setStep} />}
        </QueryBoundary>
        {members.data !== undefined && session !== undefined && (
          <p className="border-t border-line px-5 py-3 text-[13px] text-ink-faint">
            {isOwner ? (
              'You own this account. To leave the account, transfer it to another member first.'
            ) : (
              <>
                You cannot remove members: <bdi>{owner?.name ?? 'somebody else'}</bdi> owns this
                account.
              </>
            )}
          </p>
        )}
      </Card>
      <InvitationsCard members={members.data ?? []} />
      <InviteDialog isOpen={isInviting} onClose={() => setInviting(false)} />
      {step !== undefined && <MemberStepDialog step={step} onClose={() => setStep(undefined)} />}
    </>
  )
}

function MemberTable({
  members,
  session,
  onStep,
}: {
  readonly members: readonly Member[]
  readonly session: Session | undefined
  readonly onStep: (step: MemberStep) => void
}) {
  const isOwner = session?.role === 'owner'
  const ownId = session?.user?.id
  return (
    <SearchedTable
      label="Members"
      rows={members}
      thing="member"
      textOf={({ name, email }) => `${name} ${email}`}
      searched="Names and email addresses are searched."
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Name',
          className: 'max-w-64 min-w-28 font-medium wrap-anywhere text-ink',
          cell: ({ id, name, stop }) => (
            <>
              <bdi>{name}</bdi> <StopBadge stop={stop} isOfMember />
              {id === ownId && <span className="ml-1.5 font-normal text-ink-faint">you</span>}
            </>
          ),
        },
        {
          title: 'Email',
          className: 'max-w-72 min-w-40 wrap-anywhere text-ink-soft',
          cell: ({ email }) => email,
        },
        {
          title: 'Role',
          cell: ({ role }) => (
            <Badge tone={role === 'owner' ? 'accent' : 'neutral'}>
              {role === 'owner' ? 'Owner' : 'Member'}
            </Badge>
          ),
        },
        timeColumn('Joined', 'createdAt'),
        {
          title: 'Actions',
          isHidden: true,
          cell: (member) => (
            <div className="flex min-h-7 justify-end gap-2">
              {isOwner && member.id !== ownId && (
                <>
                  <RowButton
                    act={isStopped(member) ? 'Lift the stop' : 'Stop'}
                    of={isStopped(member) ? `of ${member.name}` : member.name}
                    onClick={() => onStep({ type: isStopped(member) ? 'lift' : 'stop', member })}
                  />
                  <RowButton
                    act="Hand on"
                    of={`the account to ${member.name}`}
                    onClick={() => onStep({ type: 'hand-on', member })}
                  />
                  <RowButton
                    look="danger"
                    act="Remove"
                    of={member.name}
                    onClick={() => onStep({ type: 'remove', member })}
                  />
                </>
              )}
              {!isOwner && member.id === ownId && (
                <Button
                  look="danger"
                  size="small"
                  onClick={() => onStep({ type: 'leave', member })}
                >
                  Leave
                </Button>
              )}
            </div>
          ),
        },
      ]}
    />
  )
}

function isStopped({ stop }: Member): boolean {
  // An earlier version of the gateway does not send the member.
  return (stop ?? null) !== null
}

interface MemberStep {
  readonly type: ConfirmedStep | 'stop' | 'lift'
  readonly member: RowOf<'GET /v1/members'>
}

type ConfirmedStep = 'remove' | 'hand-on' | 'leave'

interface StepTexts {
  readonly title: (name: string) => string
  readonly confirm: string
  readonly consequences: ReactNode
  readonly done: (name: string) => string
}

const TEXTS: Readonly<Record<ConfirmedStep, StepTexts>> = {
  remove: {
    title: (name) => `Remove “${name}”?`,
    confirm: 'Remove',
    consequences:
      'The member’s sessions end at once, and open invitations of the member are revoked. API keys belong to the account and stay: delete the keys that the member knew.',
    done: (name) => `“${name}” removed`,
  },
  'hand-on': {
    title: (name) => `Transfer the account to “${name}”?`,
    confirm: 'Hand the account on',
    consequences:
      'The new owner can remove you, and only the new owner can transfer the account back. You become a member.',
    done: (name) => `Account handed on to “${name}”`,
  },
  leave: {
    title: () => 'Leave this account?',
    confirm: 'Leave',
    consequences:
      'Your user is deleted and all your sessions end. To come back, you have to be invited again. API keys stay: they belong to the account.',
    done: () => 'Account left',
  },
}

function MemberStepDialog({
  step: { type, member },
  onClose,
}: {
  readonly step: MemberStep
  readonly onClose: () => void
}) {
  const { id, name, stop } = member
  const makesStale = ['GET /v1/members', 'GET /v1/access-tokens'] as const
  if (type === 'stop')
    return (
      <StopDialog
        name={name}
        send={(body) => ask('POST /v1/members/{id}/stop', { path: { id }, body })}
        makesStale={makesStale}
        onClose={onClose}
      >
        Running calls of the member and of the member’s access tokens end. Further calls, and the
        member’s sessions, are refused with status 403 until the stop is lifted. API keys belong to
        the account and continue: delete the keys that the member knew.
      </StopDialog>
    )
  if (type === 'lift')
    return (
      <LiftStopDialog
        name={name}
        stop={stop}
        send={() => ask('DELETE /v1/members/{id}/stop', { path: { id } })}
        makesStale={makesStale}
        onClose={onClose}
      >
        Calls of the member and of the member’s access tokens are accepted again.
      </LiftStopDialog>
    )
  return <ConfirmedStepDialog type={type} member={member} onClose={onClose} />
}

function ConfirmedStepDialog({
  type,
  member,
  onClose,
}: {
  readonly type: ConfirmedStep
  readonly member: Member
  readonly onClose: () => void
}) {
  const texts = TEXTS[type]
  const path = { id: member.id }
  const take = useChange({
    send: async () => {
      if (type === 'hand-on') await ask('PATCH /v1/members/{id}', { path, body: { role: 'owner' } })
      else await ask('DELETE /v1/members/{id}', { path })
    },
    ...(type === 'leave'
      ? {
          // A full page load, so that nothing of the account stays in memory.
          onDone: () => location.assign('/dashboard/sign-in?reason=left'),
        }
      : {
          makesStale: ['GET /v1/members', 'GET /v1/invitations', 'GET /v1/session'] as const,
          done: texts.done(member.name),
          onDone: onClose,
        }),
    failureMakesStale: ['GET /v1/members', 'GET /v1/session'],
  })
  return (
    <ConfirmChange
      onClose={onClose}
      title={texts.title(member.name)}
      confirmLabel={texts.confirm}
      change={take}
    >
      <p>{texts.consequences}</p>
    </ConfirmChange>
  )
}

function InviteDialog({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean
  readonly onClose: () => void
}) {
  const [email, setEmail] = useState('')
  const invite = useChange({
    send: () => ask('POST /v1/invitations', { body: { email: email.trim() } }),
    isSecret: true,
    makesStale: ['GET /v1/invitations'],
  })
  const close = () => {
    setEmail('')
    invite.reset()
    onClose()
  }
  if (invite.data !== undefined) {
    const { link, token } = invite.data
    return (
      <Dialog
        isOpen={isOpen}
        onClose={close}
        title={`Invitation of ${invite.data.email} created`}
        note="No mail is sent: pass the link on yourself. The link is not shown again."
        width="wide"
      >
        <OneTimeSecret secret={link} name="link">
          {(onCopied) => (
            <>
              <details className="mt-3 text-[13px] text-ink-soft">
                <summary className="w-fit hover:text-ink">
                  The token alone, for the command line and the API
                </summary>
                <div className="mt-2">
                  <CodeBlock code={token} label="the token" isWrapped onCopied={onCopied} />
                </div>
              </details>
              <p className="mt-4 rounded-lg bg-warn-soft px-3 py-2 text-[13px] text-warn">
                The link works once, within seven days, and only for this email address. The person
                who uses the link gets full access to the account.
              </p>
            </>
          )}
        </OneTimeSecret>
      </Dialog>
    )
  }
  return (
    <Dialog isOpen={isOpen} onClose={close} title="Invite somebody">
      <Form onSubmit={() => invite.mutate()} error={invite.error}>
        <TextField
          label="Email"
          type="email"
          placeholder="jane@example.com"
          hint="They sign up with this address, by a link that you hand on."
          required
          autoFocus
          autoComplete="off"
          value={email}
          onChange={(event) => setEmail(event.target.value)}
          field="email"
        />
        <FormRefusal className="mt-4" />
        <FormActions onCancel={close} isBusy={invite.isPending} makesSecret>
          Create the invitation
        </FormActions>
      </Form>
    </Dialog>
  )
}
