import { type Clock, systemClock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import type { AccountId } from '../core/ids.ts'
import {
  beginProbe,
  currentProbe,
  type DeclaredPrices,
  isSameQuestion,
  type OwnedModel,
  type OwnedModelPrices,
  type OwnedModelProbe,
  ownedModelBinding,
  type ServerTraits,
} from '../core/owned-model.ts'
import { Secret } from '../core/secret.ts'
import type { Vault } from '../core/vault.ts'
import { toOwnedUpstream } from '../gateway/plan/owned-upstream.ts'
import type { OwnedModelStore, OwnedUpstream, TargetCredential } from '../gateway/ports.ts'
import type { NamedThing } from '../store/database/find-some.ts'
import type { OwnedModelTableStore, StoredOwnedModel } from '../store/resources/owned-models.ts'
import { newestFirst, Snapshot, withChanges } from './snapshot.ts'

export interface OwnedModelRegistryOptions {
  readonly ownedModels: Pick<
    OwnedModelTableStore,
    'loadAll' | 'findSome' | 'insert' | 'change' | 'saveProbe' | 'delete'
  >
  readonly vault: Pick<Vault, 'encrypt' | 'decrypt'>
  readonly clock?: Clock
  /**
   * Called at start for each credential that cannot be decrypted. Calls to its model fail until
   * decryption succeeds or a new credential is set.
   */
  readonly onUnopened?: (model: OwnedModel, error: unknown) => void
  readonly onChanged?: (accountId: AccountId, slug: string) => void
}

export type NewOwnedModel = Omit<
  OwnedModel,
  'accountId' | 'hasCredential' | 'probe' | 'credentialSetAt' | 'createdAt' | 'updatedAt'
> & {
  readonly credential: Secret | undefined
}

export type OwnedModelChanges = {
  readonly [Field in
    | keyof OwnedModelPrices
    | 'displayName'
    | 'upstreamModelId'
    | 'credentialHeader'
    | 'fimEndpoint'
    | 'fimTemplate']?: OwnedModel[Field] | undefined
} & {
  /** Null removes the credential. */
  readonly credential?: Secret | null | undefined
}

interface Entry {
  readonly model: OwnedModel
  sealedCredential: string
  /** Caches elsewhere use the object as their key, so an unchanged model keeps its object. */
  readonly upstream: OwnedUpstream
  /**
   * A failed decryption is not repeated before this time (milliseconds since the Unix epoch),
   * because decryption may read a file.
   */
  shutUntil: number
}

const REOPEN_AFTER_MS = 10_000

/**
 * Encrypted in place of a missing credential: such rows are rotated with the master key like
 * others, and older builds send an empty header.
 */
const NO_CREDENTIAL = new Secret('')

export class OwnedModelRegistry
  extends Snapshot<Entry, StoredOwnedModel>
  implements OwnedModelStore
{
  readonly #options: OwnedModelRegistryOptions
  readonly #store: OwnedModelRegistryOptions['ownedModels']
  readonly #vault: OwnedModelRegistryOptions['vault']
  readonly #clock: Clock

  private constructor(options: OwnedModelRegistryOptions) {
    super(options.ownedModels)
    this.#options = options
    this.#store = options.ownedModels
    this.#vault = options.vault
    this.#clock = options.clock ?? systemClock
  }

  static async load(options: OwnedModelRegistryOptions): Promise<OwnedModelRegistry> {
    const registry = new OwnedModelRegistry(options)
    for (const stored of await options.ownedModels.loadAll())
      registry.#remember(stored, registry.#tryOpen(stored))
    return registry
  }

  find(accountId: AccountId, slug: string): OwnedUpstream | undefined {
    const entry = this.held(accountId, slug)
    if (entry === undefined || entry.upstream.credential !== undefined) return entry?.upstream
    return this.#reopen(entry)
  }

  show(accountId: AccountId, slug: string): OwnedModel | undefined {
    return this.held(accountId, slug)?.model
  }

  probeOf(model: OwnedModel): OwnedModelProbe | null {
    return currentProbe(model, this.#clock.now())
  }

  list(accountId: AccountId): readonly OwnedModel[] {
    const models = this.heldBy(accountId).map(({ model }) => model)
    return newestFirst(models, ({ slug }) => slug)
  }

  pricesOf(accountId: AccountId, slug: string): DeclaredPrices | undefined {
    return this.held(accountId, slug)?.upstream.prices
  }

  /** @throws GatewayError `conflict` when the account has an owned model with this slug */
  create(accountId: AccountId, { credential, ...settings }: NewOwnedModel): Promise<OwnedModel> {
    return this.inTurn(async () => {
      const now = this.#clock.now()
      const times = { credentialSetAt: now, createdAt: now, updatedAt: now }
      const hasCredential = credential !== undefined
      const model = {
        accountId,
        ...settings,
        hasCredential,
        probe: beginProbe(now, undefined),
        ...times,
      }
      const stored = { model, sealedCredential: this.#seal(model, credential ?? NO_CREDENTIAL) }
      if (!(await this.#store.insert(stored)))
        throw new GatewayError('conflict', 'An owned model with this slug already exists.')
      this.#remember(stored, toCredential(credential))
      return model
    })
  }

  update(accountId: AccountId, slug: string, changes: OwnedModelChanges): Promise<OwnedModel> {
    return this.inTurn(async () => {
      const current = this.held(accountId, slug)
      if (current === undefined) throw ownedModelNotFound()
      const { credential, ...settings } = changes
      if (Object.values(changes).every((change) => change === undefined)) return current.model
      const now = this.#clock.now()
      const sealedCredential =
        credential === undefined
          ? undefined
          : this.#seal(current.model, credential ?? NO_CREDENTIAL)
      const saved = await this.#store.change({ accountId, id: slug }, ({ model: previous }) => {
        const changed: OwnedModel = {
          ...withChanges(previous, settings),
          hasCredential: credential === undefined ? previous.hasCredential : credential !== null,
          // Always increases, so that a probe knows which credential it tested.
          credentialSetAt:
            credential === undefined
              ? previous.credentialSetAt
              : Math.max(now, previous.credentialSetAt + 1),
          updatedAt: now,
        }
        const model = isSameQuestion(previous, changed)
          ? changed
          : { ...changed, probe: beginProbe(now, learntOf(previous, changed)) }
        return { model, sealedCredential }
      })
      if (saved === undefined) throw ownedModelNotFound()
      const { model } = saved.changed
      if (sealedCredential === undefined) {
        // A credential just set by another node arrives with that node's own change.
        this.#remember({ ...current, model }, this.find(accountId, slug)?.credential)
        if (model.credentialHeader !== current.model.credentialHeader)
          this.#options.onChanged?.(accountId, slug)
      } else {
        this.#remember({ model, sealedCredential }, toCredential(credential ?? undefined))
        this.#options.onChanged?.(accountId, slug)
      }
      return model
    })
  }

  /**
   * Stores a probe's result, unless the model has changed since.
   * @param asked the model as it was probed
   * @returns undefined when the model has changed or was deleted
   */
  noteProbe(asked: OwnedModel, probe: OwnedModelProbe): Promise<OwnedModel | undefined> {
    return this.inTurn(async () => {
      const { accountId, slug } = asked
      const entry = this.held(accountId, slug)
      if (entry === undefined || !isSameQuestion(entry.model, asked)) return undefined
      const model = { ...entry.model, probe }
      if (!(await this.#store.saveProbe(model))) return undefined
      const before = entry.model.probe?.found
      if (Bun.deepEquals(before, probe.found)) {
        this.hold({ accountId, id: slug }, { ...entry, model })
        return model
      }
      this.#remember({ ...entry, model }, this.find(accountId, slug)?.credential)
      if (before?.credentialHeader !== probe.found?.credentialHeader)
        this.#options.onChanged?.(accountId, slug)
      return model
    })
  }

  /**
   * @param assertUnused runs while no other write can come between; its error prevents the deletion
   * @throws GatewayError `not_found`
   */
  delete(accountId: AccountId, slug: string, assertUnused: () => void): Promise<void> {
    return this.inTurn(async () => {
      if (this.show(accountId, slug) === undefined) throw ownedModelNotFound()
      assertUnused()
      await this.#store.delete(accountId, slug)
      this.forget(accountId, slug)
    })
  }

  protected nameOf({ model: { accountId, slug } }: StoredOwnedModel): NamedThing {
    return { accountId, id: slug }
  }

  /**
   * Takes over a row written by another node or a master key rotation. An unchanged model and
   * credential stay the same object.
   */
  protected adopt(stored: StoredOwnedModel): void {
    const { accountId, slug } = stored.model
    const entry = this.held(accountId, slug)
    const isSameModel = entry !== undefined && Bun.deepEquals(entry.model, stored.model)
    if (isSameModel && entry.sealedCredential === stored.sealedCredential) return
    const before = entry?.upstream.credential
    const opened = this.#tryOpen(stored)
    const isSameCredential =
      before !== undefined &&
      opened !== undefined &&
      before.secret?.reveal() === opened.secret?.reveal()
    if (isSameModel && isSameCredential) {
      entry.sealedCredential = stored.sealedCredential
      return
    }
    this.#remember(stored, isSameCredential ? before : opened)
    if (!isSameCredential) this.#options.onChanged?.(accountId, slug)
  }

  #tryOpen(stored: StoredOwnedModel): TargetCredential | undefined {
    try {
      return this.#open(stored)
    } catch (error) {
      this.#options.onUnopened?.(stored.model, error)
      return undefined
    }
  }

  #seal({ accountId, slug }: OwnedModel, credential: Secret): string {
    return this.#vault.encrypt(credential, ownedModelBinding(accountId, slug))
  }

  #open({ model, sealedCredential }: StoredOwnedModel): TargetCredential {
    // Without a credential, no master key is needed.
    if (!model.hasCredential) return toCredential(undefined)
    return toCredential(
      this.#vault.decrypt(sealedCredential, ownedModelBinding(model.accountId, model.slug)),
    )
  }

  /** Decrypts a credential again, since the right master key may be available by now. */
  #reopen(entry: Entry): OwnedUpstream {
    const now = this.#clock.now()
    if (now < entry.shutUntil && entry.shutUntil - now <= REOPEN_AFTER_MS) return entry.upstream
    entry.shutUntil = now + REOPEN_AFTER_MS
    try {
      return this.#remember(entry, this.#open(entry))
    } catch {
      return entry.upstream
    }
  }

  #remember(
    { model, sealedCredential }: StoredOwnedModel,
    credential: TargetCredential | undefined,
  ): OwnedUpstream {
    const { accountId, slug } = model
    const upstream = toOwnedUpstream(model, credential)
    const shutUntil = credential === undefined ? this.#clock.now() + REOPEN_AFTER_MS : 0
    this.hold({ accountId, id: slug }, { model, sealedCredential, upstream, shutUntil })
    return upstream
  }
}

/** Known traits of a server that stay valid when another of its models is named. */
function learntOf(
  { probe, upstreamModelId }: OwnedModel,
  changed: OwnedModel,
): ServerTraits | undefined {
  if (probe?.found === undefined || changed.upstreamModelId === upstreamModelId) return probe?.found
  const { embeddings: _, ...ofServer } = probe.found
  return ofServer
}

/** Calls are charged to the account itself. */
function toCredential(secret: Secret | undefined): TargetCredential {
  return { secret, owner: 'account' }
}

/**
 * The message does not repeat the slug, which may be anything, including a key pasted by mistake.
 */
export function ownedModelNotFound(): GatewayError {
  return new GatewayError('not_found', 'There is no owned model with this slug.')
}
