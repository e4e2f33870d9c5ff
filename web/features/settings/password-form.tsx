/** Changes one's own password. */
import { useState } from 'react'
import { ask } from '../../api/ask.ts'
import { Button } from '../../ui/button.tsx'
import { Form, FormRefusal } from '../../ui/form.tsx'
import { PasswordField } from '../../ui/password-field.tsx'
import { useChange } from '../../ui/use-change.ts'

const SHORTEST = 12
const LONGEST = 128

export function PasswordForm({ email }: { readonly email: string }) {
  const [currentPassword, setCurrent] = useState('')
  const [newPassword, setNew] = useState('')
  const change = useChange({
    send: () => ask('POST /v1/auth/password', { body: { currentPassword, newPassword } }),
    isSecret: true,
    onAnswer: () => {
      setCurrent('')
      setNew('')
    },
    makesStale: ['GET /v1/sessions', 'GET /v1/session'],
    done: ['Password changed', { description: 'Your other sessions have ended.' }],
  })
  const missing = SHORTEST - newPassword.length
  return (
    <Form
      onSubmit={() => change.mutate()}
      error={change.error}
      className="flex max-w-sm flex-col gap-4 px-5 py-5"
    >
      {/* For password managers, so that they know whose password it is. */}
      <input type="text" autoComplete="username" value={email} readOnly hidden />
      <PasswordField
        label="Current password"
        autoComplete="current-password"
        required
        value={currentPassword}
        onChange={(event) => setCurrent(event.target.value)}
        field="currentPassword"
      />
      <PasswordField
        label="New password"
        autoComplete="new-password"
        required
        minLength={SHORTEST}
        maxLength={LONGEST}
        hint={
          newPassword !== '' && missing > 0
            ? `${missing} more ${missing === 1 ? 'character' : 'characters'} at least.`
            : `At least ${SHORTEST} characters. A few unrelated words are best.`
        }
        value={newPassword}
        onChange={(event) => setNew(event.target.value)}
        field="newPassword"
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
