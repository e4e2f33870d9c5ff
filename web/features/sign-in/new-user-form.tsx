import type { ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form, FormRefusal } from '../../ui/form.tsx'
import { PasswordField } from '../../ui/password-field.tsx'
import { useFields } from '../../ui/use-fields.ts'

export interface NewUser {
  readonly name: string
  readonly email: string
  readonly password: string
}

export function NewUserForm({
  submitLabel,
  onSubmit,
  isBusy,
  error,
  children,
}: {
  readonly submitLabel: string
  readonly onSubmit: (user: NewUser) => void
  readonly isBusy: boolean
  readonly error: unknown
  readonly children?: ReactNode
}) {
  const { fields, bind } = useFields<NewUser>({ name: '', email: '', password: '' })
  return (
    <Form onSubmit={() => onSubmit(fields)} error={error} className="flex flex-col gap-4">
      {children}
      <TextField
        label="Your name"
        name="name"
        autoComplete="name"
        required
        maxLength={120}
        {...bind('name')}
      />
      <TextField
        label="Email"
        type="email"
        name="email"
        autoComplete="username"
        required
        {...bind('email')}
      />
      <PasswordField
        label="Password"
        name="password"
        autoComplete="new-password"
        required
        minLength={12}
        maxLength={128}
        hint="At least 12 characters. A few unrelated words are best."
        {...bind('password')}
      />
      <FormRefusal />
      <Button type="submit" look="primary" isBusy={isBusy}>
        {submitLabel}
      </Button>
    </Form>
  )
}
