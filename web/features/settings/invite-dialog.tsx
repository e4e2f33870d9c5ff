/**
 * Makes an invitation and shows its link, this once: after closing, it is in no memory of the page.
 */
import { useState } from 'react'
import { ask } from '../../api/ask.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form, FormRefusal } from '../../ui/form.tsx'
import { OneTimeSecret } from '../../ui/one-time-secret.tsx'
import { useChange } from '../../ui/use-change.ts'

export function InviteDialog({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean
  readonly onClose: () => void
}) {
  const [email, setEmail] = useState('')
  const invite = useChange({
    send: () => ask('POST /v1/invitations', { body: { email: email.trim() } }),
    // The answer holds the token.
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
        note="No mail is sent: hand the link on yourself. It is not shown again."
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
                It works once, within seven days, and only for this email address. Anyone who uses
                it gets full access to the account.
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
