/** Asks before somebody is removed, leaves, or takes the account over, and says what follows. */
import type { ReactNode } from 'react'
import { ask, type RowOf } from '../../api/ask.ts'
import { ConfirmChange } from '../../ui/dialog.tsx'
import { useChange } from '../../ui/use-change.ts'

export interface MemberStep {
  readonly type: 'remove' | 'hand-on' | 'leave'
  readonly member: RowOf<'GET /v1/members'>
}

interface StepTexts {
  readonly title: (name: string) => string
  readonly confirm: string
  readonly consequences: ReactNode
  readonly done: (name: string) => string
}

const TEXTS: Readonly<Record<MemberStep['type'], StepTexts>> = {
  remove: {
    title: (name) => `Remove ${name}?`,
    confirm: 'Remove',
    consequences:
      'Their sessions end at once, and the invitations they left open are revoked. API keys belong to the account and stay: delete those that they knew.',
    done: (name) => `${name} removed`,
  },
  'hand-on': {
    title: (name) => `Hand the account on to ${name}?`,
    confirm: 'Hand the account on',
    consequences:
      'They become the owner and you a member. Only they can give it back to you, and they can remove you.',
    done: (name) => `Account handed on to ${name}`,
  },
  leave: {
    title: () => 'Leave this account?',
    confirm: 'Leave',
    consequences:
      'Your user is deleted and all your sessions end. To come back, you have to be invited again. API keys stay: they belong to the account.',
    done: () => 'Account left',
  },
}

export function MemberStepDialog({
  step: { type, member },
  onClose,
}: {
  readonly step: MemberStep
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
          // A whole new page load: nothing of the account stays in memory.
          onDone: () => location.assign('/dashboard/sign-in?reason=left'),
        }
      : {
          makesStale: ['GET /v1/members', 'GET /v1/invitations', 'GET /v1/session'] as const,
          done: texts.done(member.name),
          onDone: onClose,
        }),
    // Somebody else may have changed the members meanwhile: what is behind the dialog is then
    // stale.
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
