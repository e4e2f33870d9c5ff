/**
 * The first run: the holder of the key that the gateway printed at its first start becomes the
 * owner.
 */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { askWith } from '../../api/ask.ts'
import { operationQuery } from '../../api/operation-query.ts'
import { PasswordField } from '../../ui/password-field.tsx'
import { useChange } from '../../ui/use-change.ts'
import { enter } from './enter.ts'
import { type NewUser, NewUserForm } from './new-user-form.tsx'
import { SignInFrame, SignInLink } from './sign-in-frame.tsx'
import { useFromAddress } from './take-from-address.ts'

export function WelcomePage() {
  const { data: options } = useQuery(operationQuery('GET /v1/auth'))
  const keyOfLink = useFromAddress('key')?.value
  const [typedKey, setTypedKey] = useState('')
  const apiKey = keyOfLink ?? typedKey
  const signUp = useChange({
    send: (user: NewUser) =>
      askWith('POST /v1/auth/sign-up', { apiKey: apiKey.trim() }, { body: user }),
    onDone: () => enter(undefined),
  })
  return (
    <SignInFrame
      title="Welcome to Gatehouse"
      note="Create the owner of this gateway's account. It takes a minute."
    >
      <NewUserForm
        submitLabel="Create the owner"
        onSubmit={(user) => signUp.mutate(user)}
        isBusy={signUp.isPending}
        error={signUp.error}
      >
        {keyOfLink === undefined && (
          <PasswordField
            label="API key"
            name="api-key"
            autoComplete="off"
            isCode
            required
            placeholder="sk-svc-…"
            hint="The gateway printed it at its first start. It shows that the gateway is yours."
            value={apiKey}
            onChange={(event) => setTypedKey(event.target.value)}
          />
        )}
      </NewUserForm>
      {options?.hasOwner === true && (
        <p className="mt-6 text-center text-[13px] text-ink-soft">
          The first user has signed up at this gateway already. <SignInLink />
        </p>
      )}
    </SignInFrame>
  )
}
