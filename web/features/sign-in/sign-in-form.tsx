/**
 * Email and password, to sign in with: at the start, or again on a page whose session ended.
 */
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { ask } from '../../api/ask.ts'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form, FormRefusal } from '../../ui/form.tsx'
import { PasswordField } from '../../ui/password-field.tsx'

export function SignInForm({
  knownEmail = '',
  note,
  onDone,
}: {
  /** Of the user who was signed in before. */
  readonly knownEmail?: string
  /** Shown as long as no try has failed. */
  readonly note?: ReactNode
  readonly onDone: () => unknown
}) {
  const [email, setEmail] = useState(knownEmail)
  const [password, setPassword] = useState('')
  const signIn = useMutation({
    mutationFn: async () => {
      await ask('POST /v1/auth/sign-in', { body: { email, password } })
      await onDone()
    },
    gcTime: 0,
  })
  return (
    <Form onSubmit={() => signIn.mutate()} error={signIn.error} className="flex flex-col gap-4">
      {signIn.error === null && note}
      <TextField
        label="Email"
        type="email"
        name="email"
        autoComplete="username"
        required
        autoFocus={knownEmail === ''}
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        field="email"
      />
      <PasswordField
        label="Password"
        name="password"
        autoComplete="current-password"
        required
        autoFocus={knownEmail !== ''}
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        field="password"
      />
      <FormRefusal />
      <Button type="submit" look="primary" isBusy={signIn.isPending}>
        Sign in
      </Button>
      <details className="text-[13px] text-ink-soft">
        <summary className="mx-auto w-fit hover:text-ink">Forgot the password?</summary>
        <p className="mt-2 mb-2">
          Ask whoever runs this gateway to set a new one, on its machine. No mail is sent.
        </p>
        <CodeBlock
          code={`gatehouse users reset-password ${email === '' ? 'EMAIL' : email}`}
          label="the command"
        />
      </details>
    </Form>
  )
}
