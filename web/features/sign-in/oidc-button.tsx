/** Goes on at the operator's identity provider. The page knows whether there is one. */
import { ask } from '../../api/ask.ts'
import { Button } from '../../ui/button.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { useChange } from '../../ui/use-change.ts'

export function OidcButton({
  label,
  returnTo,
  invitation,
}: {
  readonly label: string
  readonly returnTo: string
  /** The token of an invitation that is accepted by this. */
  readonly invitation?: string | undefined
}) {
  const begin = useChange({
    send: () =>
      ask('POST /v1/auth/oidc', {
        body: { returnTo, ...(invitation === undefined ? {} : { invitation }) },
      }),
    onDone: ({ url }) => location.assign(url),
  })
  return (
    <div className="mt-4 flex flex-col gap-3 border-t border-line pt-4">
      <Button className="w-full" onClick={() => begin.mutate()} isBusy={begin.isPending}>
        {label}
      </Button>
      <ProblemNote error={begin.error} />
    </div>
  )
}
