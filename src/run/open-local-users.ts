/**
 * Users for the operator's command line, directly in the local store, whether a server runs or not:
 * someone who forgot a password cannot sign in to ask for a new one.
 */
import { existsSync } from 'node:fs'
import type { LocalUsers } from '../cli/context.ts'
import type { Environment } from '../config/setting-type.ts'
import { readSettings } from '../config/settings.ts'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import { createInvitation, toInvitationLink } from '../identity/create-invitation.ts'
import { describeWeakPassword } from '../identity/passwords.ts'
import { locateStore } from '../store/database/open-database.ts'
import {
  DataFolderInUseError,
  lockDataFolder,
  readServerInfo,
} from '../store/installation/data-folder.ts'
import { joinInstallation } from '../store/installation/join-installation.ts'
import { openStore } from '../store/open-store.ts'
import { whenFolderIsFree } from './claim-folders.ts'
import { installationParts } from './compose-installation.ts'

export async function openLocalUsers(environment: Environment): Promise<LocalUsers> {
  const settings = readSettings(environment)
  const { dataFolder } = settings
  const isNew = !existsSync(dataFolder)
  const lock = await whenFolderIsFree(() => lockUnlessServed(dataFolder))
  const migrate = lock === undefined ? 'refuse' : 'run'
  const store = await openStore(locateStore(settings), {
    migrate,
    caps: settings.accountCaps,
  }).catch((error: unknown) => {
    lock?.release()
    throw error
  })
  await joinInstallation(installationParts(settings, store)).catch(async (error: unknown) => {
    await store.close()
    lock?.release()
    throw error
  })
  const url = settings.users.publicOrigin ?? readServerInfo(dataFolder)?.url
  return {
    madeFolder: isNew ? dataFolder : undefined,
    async list() {
      const members = await store.members.listAll()
      return members.map(({ userId, email, name, role, accountId, createdAt }) => ({
        id: userId,
        email,
        name,
        role,
        accountId,
        createdAt: new Date(createdAt).toISOString(),
      }))
    },
    async invite(email) {
      const { invitation, token } = await createInvitation(
        store,
        { accountId: DEFAULT_ACCOUNT, email, invitedBy: 'command-line' },
        Date.now(),
      )
      return {
        id: invitation.id,
        email: invitation.email,
        expiresAt: new Date(invitation.expiresAt).toISOString(),
        token: token.reveal(),
        link: url === undefined ? null : toInvitationLink(url, token),
      }
    },
    async resetPassword(email, password) {
      const problem = describeWeakPassword(password, email.toLowerCase())
      if (problem !== undefined) return { type: 'weak', problem }
      const { hashPassword } = await import('better-auth/crypto')
      const isDone = await store.users.resetPassword(
        email.toLowerCase(),
        await hashPassword(password),
        Date.now(),
      )
      return isDone ? { type: 'done' } : { type: 'unknown' }
    },
    async close() {
      await store.close()
      lock?.release()
    },
  }
}

function lockUnlessServed(dataFolder: string) {
  try {
    return lockDataFolder(dataFolder)
  } catch (error) {
    // A server names itself as the holder, and the store may then be opened beside the server. A
    // copy names no holder.
    if (error instanceof DataFolderInUseError && error.holder !== undefined) return undefined
    throw error
  }
}
