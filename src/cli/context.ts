import type { Finding } from '../core/finding.ts'
import type { Terminal } from './terminal.ts'

export type SendRequest = (request: Request) => Promise<Response>

export interface OnLocalFolder {
  readonly madeFolder?: string | undefined
}

export interface LocalGateway extends OnLocalFolder {
  readonly send: SendRequest
  /** Valid for this interface until the process ends. */
  readonly apiKey: string
  close(): Promise<void>
}

export interface LocalUsers extends OnLocalFolder {
  list(): Promise<readonly LocalUser[]>
  /** Invites to the first account. The token and the link are shown once. */
  invite(email: string): Promise<LocalInvitation>
  /** `problem` follows the words "the password". */
  resetPassword(
    email: string,
    password: string,
  ): Promise<
    | { readonly type: 'done' }
    | { readonly type: 'unknown' }
    | { readonly type: 'weak'; readonly problem: string }
  >
  close(): Promise<void>
}

export interface LocalUser {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly role: string
  readonly accountId: string
  readonly createdAt: string
}

export interface LocalInvitation {
  readonly id: string
  readonly email: string
  readonly expiresAt: string
  readonly token: string
  /** Null when the address of the gateway for browsers is unknown. */
  readonly link: string | null
}

export interface ServeFlags {
  readonly sandbox?: boolean
  readonly host?: string
  readonly port?: number
  readonly dataDir?: string
  readonly workers?: string
  readonly forgetConfig?: boolean
  readonly worker?: number
  readonly firstWorker?: boolean
}

export interface MasterKeyStatus {
  readonly source: string
  readonly currentId: string | null
  readonly previousIds: readonly string[]
  readonly tables: readonly {
    readonly table: string
    readonly current: number
    readonly previous: number
    readonly unopened: number
  }[]
}

/**
 * `rotated`: a new key was created. `finished`: an earlier rotation was completed. `nothing`:
 * nothing needed a change.
 */
export interface MasterKeyRotation extends MasterKeyStatus {
  readonly outcome: 'rotated' | 'finished' | 'nothing'
  readonly encryptedAnew: number
}

export interface CopyProgress {
  readonly table: string
  readonly rows: number
}

export interface CopiedStore {
  readonly from: string
  readonly to: string
  readonly tables: readonly CopyProgress[]
}

export interface AdoptedStore {
  readonly store: string
  /** `adoptable`: a dry run found that the store can be adopted. */
  readonly state: 'adopted' | 'already adopted' | 'adoptable'
}

export interface AcceptedStore {
  readonly store: string
  readonly accepted: readonly string[]
  readonly unasked: string | null
}

export interface CliContext {
  readonly version: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Relative paths of a command line start here. */
  readonly folder: string
  readonly terminal: Terminal
  readonly serve: (flags: ServeFlags) => Promise<void>
  readonly openLocal: () => Promise<LocalGateway>
  readonly openLocalUsers: () => Promise<LocalUsers>
  /** Works on the local data folder, also while a server uses the folder. */
  readonly masterKey: {
    readonly status: () => Promise<MasterKeyStatus>
    readonly rotate: () => Promise<MasterKeyRotation>
  }
  /** Reads the local data folder, which no server may be using. */
  readonly copyStore: (onProgress: (progress: CopyProgress) => void) => Promise<CopiedStore>
  /** Works on the local data folder, which no server may be using. */
  readonly acceptStore: () => Promise<AcceptedStore>
  /** Works on the local data folder, which a server may only use during a dry run. */
  readonly adoptStore: (isDryRun: boolean) => Promise<AdoptedStore>
  readonly examine: () => Promise<readonly Finding[]>
}
