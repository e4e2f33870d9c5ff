/**
 * Whether an own key is on: as it was last chosen, while the gateway has yet to agree, and as it is
 * when it refuses.
 */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../api/ask.ts'
import { refresh } from '../../api/operation-query.ts'
import { describeError } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.ts'
import type { ProviderKey } from './provider-rows.ts'

export function useActive(
  ownKey: ProviderKey,
  providerName: string,
): { readonly isActive: boolean; readonly choose: (isActive: boolean) => void } {
  const queryClient = useQueryClient()
  // In state, and not in a cache that tells its readers a moment later: the next press turns around
  // what is shown.
  const [wanted, setWanted] = useState<boolean>()
  /** The latest answer, until the list is as new as it. */
  const [saved, setSaved] = useState<ProviderKey>()
  const mutationKey = ['switch the key', ownKey.provider]
  const change = useMutation({
    mutationKey,
    // One after the other, in the order of the presses: no press is lost, and the last one wins.
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
      // A later press is on its way: what it wants is shown, and it asks for the list in its turn.
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
