import { useRef, useState } from 'react'
import { fillsInTheMiddle, OWNED_DIALECTS } from '../../../src/contract/dialects.ts'
import { type AnswerOf, ask } from '../../api/ask.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form, FormRefusal } from '../../ui/form.tsx'
import { LeaveGuard } from '../../ui/leave-guard.tsx'
import { Page } from '../../ui/page.tsx'
import { SecretField } from '../../ui/secret-field.tsx'
import { useChange } from '../../ui/use-change.ts'
import { useFields } from '../../ui/use-fields.ts'
import { CredentialHeaderField, hasCredentialHeaderField } from './credential-header-field.tsx'
import { callAddress, DialectField } from './dialect-field.tsx'
import {
  addressProblem,
  type Dialect,
  isRegistrable,
  MAX_LENGTH,
  NOTHING_TYPED,
  slugProblem,
  toRegistration,
} from './draft.ts'
import { FimFields } from './fim-fields.tsx'
import { PriceFields } from './price-fields.tsx'
import { ProbeNote } from './probe-note.tsx'
import { UseInGate } from './use-in-gate.tsx'

type Saved = AnswerOf<'POST /v1/owned-models'>

export function RegisterOwnedModelPage() {
  const [saved, setSaved] = useState<Saved>()
  if (saved !== undefined) return <Registered saved={saved} onAnother={() => setSaved(undefined)} />
  return (
    <Page
      title="Register a model"
      note="Its slug, format and address cannot be changed later: the credential belongs to them."
    >
      <RegisterForm onSaved={setSaved} />
    </Page>
  )
}

function RegisterForm({ onSaved }: { readonly onSaved: (saved: Saved) => void }) {
  const { fields: draft, change, bind } = useFields(NOTHING_TYPED)
  const [dialect, setDialect] = useState<Dialect>('openai-chat')
  const credential = useRef<HTMLInputElement>(null)
  const choose = (next: Dialect) => {
    setDialect(next)
    // These settings have no meaning in other formats, so the gateway would refuse them.
    if (!fillsInTheMiddle(next)) change({ fimEndpoint: 'auto', fimTemplate: 'auto' })
  }
  const register = useChange({
    send: () =>
      ask('POST /v1/owned-models', {
        body: {
          ...toRegistration(draft),
          dialect,
          credential: credential.current?.value.trim() || undefined,
        },
      }),
    isSecret: true,
    makesStale: ['GET /v1/owned-models'],
    onDone: onSaved,
  })
  const canSend = isRegistrable(draft)
  const isTyped = JSON.stringify(draft) !== JSON.stringify(NOTHING_TYPED)
  const submit = () => {
    if (!canSend) return false
    register.mutate()
    return true
  }
  return (
    <Card className="max-w-3xl">
      <Form
        onSubmit={submit}
        error={register.error}
        conflictAt="slug"
        autoComplete="off"
        className="flex flex-col gap-5 p-5"
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label="Slug"
            isCode
            required
            autoFocus
            autoCapitalize="none"
            spellCheck={false}
            placeholder="house-llama"
            {...bind('slug')}
            problem={slugProblem(draft.slug)}
            hint={
              <>
                Gates name it as <code className="font-mono">owned/{draft.slug || '…'}</code>
              </>
            }
          />
          <TextField
            label="Display name"
            isOptional
            maxLength={MAX_LENGTH.displayName}
            placeholder={draft.slug || 'Llama in the basement'}
            {...bind('displayName')}
            hint="For people; the slug when empty."
          />
        </div>
        <DialectField chosen={dialect} onChoose={choose} />
        <TextField
          label="Base address"
          isCode
          required
          type="text"
          inputMode="url"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={MAX_LENGTH.baseUrl}
          placeholder={OWNED_DIALECTS[dialect].exampleBaseUrl}
          {...bind('baseUrl')}
          problem={addressProblem(draft.baseUrl)}
          hint={
            <>
              Calls go to{' '}
              <code className="font-mono wrap-anywhere">
                {callAddress(
                  dialect,
                  draft.baseUrl || OWNED_DIALECTS[dialect].exampleBaseUrl,
                  draft.fimEndpoint,
                )}
              </code>
            </>
          }
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label="Model id at its server"
            isCode
            required
            autoCapitalize="none"
            spellCheck={false}
            maxLength={MAX_LENGTH.upstreamModelId}
            placeholder="llama3.3:70b"
            {...bind('upstreamModelId')}
            hint="As its server calls it."
          />
          <SecretField
            label="Credential"
            isOptional
            ref={credential}
            maxLength={MAX_LENGTH.credential}
            field="credential"
            hint="Encrypted, and never shown again. Empty: its server takes none, and is sent none."
          />
        </div>
        {fillsInTheMiddle(dialect) && <FimFields chosen={draft} onChange={change} />}
        {hasCredentialHeaderField(dialect, draft.credentialHeader) && (
          <CredentialHeaderField
            chosen={draft.credentialHeader}
            onChoose={(credentialHeader) => change({ credentialHeader })}
          />
        )}
        <PriceFields prices={draft} onChange={change} isRegistering />
        <FormRefusal />
        <LeaveGuard isDirty={isTyped} />
        <div className="flex flex-wrap items-center justify-end gap-2">
          <p className="mr-auto text-[13px] text-ink-faint">
            The model is asked for one token as a test, and saved whether or not it answers.
          </p>
          <LinkButton to="/owned-models">Cancel</LinkButton>
          <Button look="primary" type="submit" isBusy={register.isPending}>
            Register
          </Button>
        </div>
      </Form>
    </Card>
  )
}

function Registered({
  saved,
  onAnother,
}: {
  readonly saved: Saved
  readonly onAnother: () => void
}) {
  return (
    <Page
      title={`Model “${saved.slug}” registered`}
      actions={
        <>
          <Button onClick={onAnother}>Register another</Button>
          <LinkButton to="/owned-models/$slug" params={{ slug: saved.slug }} look="primary">
            Open it
          </LinkButton>
        </>
      }
    >
      {saved.probe !== null && <ProbeNote probe={saved.probe} isSaved />}
      {saved.probe?.status === 'unreachable' && (
        <p className="text-sm text-ink-soft">
          The credential and the model id can be changed on the model’s page. To change the address,
          delete the model and register a new one.
        </p>
      )}
      <UseInGate slug={saved.slug} />
    </Page>
  )
}
