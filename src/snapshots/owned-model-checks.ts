import type { Timekeeper } from '../core/clock.ts'
import type { AccountId } from '../core/ids.ts'
import { beginProbe, cutShort, isSameQuestion, type OwnedModel } from '../core/owned-model.ts'
import type { OwnedUpstream } from '../gateway/ports.ts'
import type { ProbeOptions, ProbeResult } from '../gateway/probe/probe-owned-model.ts'
import type { OwnedModelRegistry } from './owned-model-registry.ts'

const PATIENCE_MS = 3_000

/** Per account: registering models at silent servers must not hold many connections. */
const MAX_AT_ONCE = 4

export interface OwnedModelChecksOptions {
  readonly ownedModels: Pick<OwnedModelRegistry, 'find' | 'show' | 'noteProbe'>
  readonly clock: Pick<Timekeeper, 'now' | 'after'>
  readonly probe: (
    model: OwnedModel,
    owned: OwnedUpstream,
    options: Pick<ProbeOptions, 'signal' | 'onInterim'>,
  ) => Promise<ProbeResult | undefined>
  readonly onFailure: (error: unknown, model: OwnedModel) => void
}

interface Check {
  readonly model: OwnedModel
  readonly calledOff: AbortController
  readonly first: PromiseWithResolvers<OwnedModel | undefined>
  told: string
}

interface AccountChecks {
  readonly bySlug: Map<string, Check>
  readonly waiting: Check[]
  running: number
}

export class OwnedModelChecks {
  readonly #options: OwnedModelChecksOptions
  readonly #accounts = new Map<AccountId, AccountChecks>()
  readonly #work = new Set<Promise<void>>()

  constructor(options: OwnedModelChecksOptions) {
    this.#options = options
  }

  /**
   * Probes the model in the background, unless a probe is running: loading a model may take a
   * minute.
   * @returns the model with the results of the first few seconds; later results are stored
   */
  async check(model: OwnedModel): Promise<OwnedModel> {
    const { clock, ownedModels } = this.#options
    const { first } = this.#underWay(model) ?? this.#begin(model)
    const patience = Promise.withResolvers<undefined>()
    const callOff = clock.after(PATIENCE_MS, () => patience.resolve(undefined))
    const known = await Promise.race([first.promise, patience.promise])
    callOff()
    return known ?? ownedModels.show(model.accountId, model.slug) ?? model
  }

  async close(): Promise<void> {
    for (const { bySlug, waiting } of this.#accounts.values()) {
      waiting.length = 0
      for (const check of bySlug.values()) {
        check.calledOff.abort()
        this.#follow(check, this.#noteCutShort(check))
      }
    }
    while (this.#work.size > 0) await Promise.all(this.#work)
  }

  /**
   * A running probe of the same settings. Cancels any other probe of this model, since its result
   * is obsolete.
   */
  #underWay(model: OwnedModel): Check | undefined {
    const check = this.#accounts.get(model.accountId)?.bySlug.get(model.slug)
    if (check === undefined || isSameQuestion(check.model, model)) return check
    check.calledOff.abort()
    check.first.resolve(undefined)
    return undefined
  }

  #begin(model: OwnedModel): Check {
    const { accountId, slug } = model
    const account = this.#accounts.get(accountId) ?? newAccount()
    this.#accounts.set(accountId, account)
    const check: Check = {
      model,
      calledOff: new AbortController(),
      first: Promise.withResolvers(),
      told: '',
    }
    account.bySlug.set(slug, check)
    account.waiting.push(check)
    this.#startNext(accountId, account)
    return check
  }

  #startNext(accountId: AccountId, account: AccountChecks): void {
    while (account.running < MAX_AT_ONCE) {
      const check = account.waiting.shift()
      if (check === undefined) break
      account.running += 1
      this.#follow(
        check,
        this.#run(check).finally(() => {
          account.running -= 1
          check.first.resolve(undefined)
          if (account.bySlug.get(check.model.slug) === check)
            account.bySlug.delete(check.model.slug)
          this.#startNext(accountId, account)
        }),
      )
    }
    if (account.bySlug.size === 0 && this.#accounts.get(accountId) === account)
      this.#accounts.delete(accountId)
  }

  async #run(check: Check): Promise<void> {
    const { clock, ownedModels, probe } = this.#options
    const { model, calledOff } = check
    const { signal } = calledOff
    const owned = ownedModels.find(model.accountId, model.slug)
    // The model was deleted, or the probe was cancelled while it waited.
    if (owned === undefined || signal.aborted) return
    const checkedAt = clock.now()
    if (model.probe?.status !== 'checking')
      await ownedModels.noteProbe(model, beginProbe(checkedAt, model.probe?.found))
    const onInterim = (result: ProbeResult) =>
      this.#follow(check, this.#keep(check, checkedAt, result))
    const result = await probe(model, owned, { signal, onInterim })
    if (result === undefined) await this.#noteCutShort(check)
    else await this.#keep(check, checkedAt, result)
  }

  async #keep(check: Check, checkedAt: number, result: ProbeResult): Promise<void> {
    const { model, calledOff, first } = check
    const { latencyMs: _, ...said } = result
    const told = JSON.stringify(said)
    if (calledOff.signal.aborted || told === check.told) return
    check.told = told
    const found = { ...model.probe?.found, ...result.found }
    const learnt = Object.keys(found).length === 0 ? {} : { found }
    first.resolve(
      await this.#options.ownedModels.noteProbe(model, { ...result, checkedAt, ...learnt }),
    )
  }

  async #noteCutShort({ model, first }: Check): Promise<void> {
    const { ownedModels } = this.#options
    const probe = ownedModels.show(model.accountId, model.slug)?.probe
    if (probe?.status === 'checking') await ownedModels.noteProbe(model, cutShort(probe))
    first.resolve(undefined)
  }

  #follow({ model }: Check, work: Promise<void>): void {
    const followed = work
      .catch((error: unknown) => this.#options.onFailure(error, model))
      .finally(() => this.#work.delete(followed))
    this.#work.add(followed)
  }
}

function newAccount(): AccountChecks {
  return { bySlug: new Map(), waiting: [], running: 0 }
}
