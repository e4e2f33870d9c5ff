import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Check, Minus, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { ask } from '../../api/ask.ts'
import { refresh } from '../../api/operation-query.ts'
import { formatDialects } from '../../format/dialects.ts'
import { Button } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { ExternalLink } from '../../ui/links.tsx'
import { Moment } from '../../ui/moment.tsx'
import { describeError } from '../../ui/states.tsx'
import { Switch } from '../../ui/switch.tsx'
import { toast } from '../../ui/toast.ts'
import type { Provider, ProviderKey, ProviderRow } from './provider-rows.ts'

export function ProviderItem({
  row: { provider, ownKey },
  warning,
  onSet,
  onDelete,
}: {
  readonly row: ProviderRow
  readonly warning: string | undefined
  readonly onSet: () => void
  readonly onDelete: () => void
}) {
  const hasKey = ownKey !== undefined
  return (
    <li
      aria-label={provider.name}
      className="grid items-center gap-x-6 gap-y-2.5 px-5 py-3.5 hover:bg-sunken/40 md:grid-cols-[minmax(0,1fr)_10.5rem_13rem_10.5rem]"
    >
      <div className="min-w-0">
        <div className="flex flex-wrap items-baseline gap-x-2.5 text-[13px]">
          <span className="text-sm font-medium text-ink">{provider.name}</span>
          {provider.docs !== null && <ExternalLink href={provider.docs}>Docs</ExternalLink>}
        </div>
        <p className="mt-0.5 text-[13px] text-ink-soft">
          <code className="mr-2.5 font-mono text-ink-faint">{provider.id}/…</code>
          {formatDialects(provider.dialects)}
        </p>
      </div>
      <PlatformState provider={provider} isUsed={ownKey?.active !== true} />
      {hasKey ? (
        <OwnKey ownKey={ownKey} provider={provider} />
      ) : (
        <p className="text-[13px] text-ink-faint max-md:hidden">No key of yours</p>
      )}
      <div className="flex gap-2 md:justify-end">
        <Button
          size="small"
          aria-label={`${hasKey ? 'Replace the key' : 'Set a key'} for ${provider.name}`}
          onClick={onSet}
        >
          {hasKey ? 'Replace' : 'Set a key'}
        </Button>
        {hasKey && (
          <Button
            size="small"
            look="danger"
            aria-label={`Delete the key for ${provider.name}`}
            onClick={onDelete}
          >
            Delete
          </Button>
        )}
      </div>
      {warning ? (
        <p
          role="alert"
          className="flex gap-2 rounded-lg bg-warn-soft px-3 py-2 text-[13px] text-warn md:col-span-full"
        >
          <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
          {warning}
        </p>
      ) : null}
    </li>
  )
}

function PlatformState({
  provider,
  isUsed,
}: {
  readonly provider: Provider
  readonly isUsed: boolean
}) {
  const Icon = provider.configured ? Check : Minus
  return (
    <p
      className={classNames(
        'flex items-center gap-1.5 text-[13px]',
        provider.configured && isUsed ? 'text-ok' : 'text-ink-faint',
      )}
      title={
        provider.hasAddress
          ? undefined
          : 'Calls fail until the operator sets the provider’s address.'
      }
    >
      <Icon aria-hidden className="size-3.5" />
      {provider.configured
        ? 'Platform credential'
        : provider.hasAddress
          ? 'No platform credential'
          : 'No address given'}
    </p>
  )
}

function OwnKey({
  ownKey,
  provider,
}: {
  readonly ownKey: ProviderKey
  readonly provider: Provider
}) {
  const { isActive, choose } = useActive(ownKey, provider.name)
  return (
    <div className="flex items-center gap-3">
      <Switch label={`Use your key for ${provider.name}`} isOn={isActive} onChange={choose} />
      <div className="min-w-0 text-[13px]">
        <p className="text-ink">
          Your key <code className="font-mono">{ownKey.maskedKey}</code>
          {!isActive &&
            (provider.configured ? (
              <span className="text-ink-faint"> inactive</span>
            ) : (
              <span className="text-warn"> inactive, calls fail</span>
            ))}
        </p>
        <p className="text-ink-faint">
          {ownKey.lastUsedAt === null ? (
            'not used yet'
          ) : (
            <>
              used <Moment at={ownKey.lastUsedAt} />
            </>
          )}
        </p>
      </div>
    </div>
  )
}

// The switch of an own key: shows the last choice until the gateway answers, and the gateway's
// state after a refusal.

function useActive(
  ownKey: ProviderKey,
  providerName: string,
): { readonly isActive: boolean; readonly choose: (isActive: boolean) => void } {
  const queryClient = useQueryClient()
  // In state, because a cache notifies its readers later; the next press toggles what is shown.
  const [wanted, setWanted] = useState<boolean>()
  const [saved, setSaved] = useState<ProviderKey>()
  const mutationKey = ['switch the key', ownKey.provider]
  const change = useMutation({
    mutationKey,
    // Serialised in the order of the presses, so that no press is lost and the last press wins.
    scope: { id: mutationKey.join(' ') },
    mutationFn: (active: boolean) =>
      ask('PATCH /v1/provider-keys/{provider}', {
        path: { provider: ownKey.provider },
        body: { active },
      }),
    onError: (error, active) =>
      toast('error', `Your key for ${providerName} is still ${active ? 'inactive' : 'active'}`, {
        description: describeError(error),
      }),
    onSuccess: setSaved,
    onSettled: () => {
      // A later press is in progress: its choice is shown, and it reloads the list.
      if (queryClient.isMutating({ mutationKey }) > 1) return
      setWanted(undefined)
      void refresh(queryClient, 'GET /v1/provider-keys')
    },
  })
  const known = saved !== undefined && ownKey.updatedAt < saved.updatedAt ? saved : ownKey
  const choose = (isActive: boolean) => {
    setWanted(isActive)
    change.mutate(isActive)
  }
  return { isActive: wanted ?? known.active, choose }
}
