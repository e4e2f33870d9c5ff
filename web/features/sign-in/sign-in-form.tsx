import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ask } from '../../api/ask.ts'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form, FormRefusal } from '../../ui/form.tsx'
import { PasswordField } from '../../ui/password-field.tsx'
import { useFields } from '../../ui/use-fields.ts'

export function SignInForm({
  knownEmail = '',
  note,
  onDone,
}: {
  readonly knownEmail?: string
  readonly note?: ReactNode
  readonly onDone: () => unknown
}) {
  const { fields, bind } = useFields({ email: knownEmail, password: '' })
  const signIn = useMutation({
    mutationFn: async () => {
      await ask('POST /v1/auth/sign-in', { body: fields })
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
        {...bind('email')}
      />
      <PasswordField
        label="Password"
        name="password"
        autoComplete="current-password"
        required
        autoFocus={knownEmail !== ''}
        {...bind('password')}
      />
      <FormRefusal />
      <Button type="submit" look="primary" isBusy={signIn.isPending}>
        Sign in
      </Button>
      <details className="text-[13px] text-ink-soft">
        <summary className="mx-auto w-fit hover:text-ink">Forgot the password?</summary>
        <p className="mt-2 mb-2">
          Ask the operator of this gateway to set a new password on the gateway’s machine. No mail
          is sent.
        </p>
        <CodeBlock
          code={`gatehouse users reset-password ${fields.email === '' ? 'EMAIL' : fields.email}`}
          label="the command"
        />
      </details>
    </Form>
  )
}
