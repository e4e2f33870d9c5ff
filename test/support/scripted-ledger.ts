/** A ledger in memory that follows a script, and keeps its calls. */
import type { CallRecord } from '../../src/core/call.ts'
import type { Ledger } from '../../src/gateway/ports.ts'

export class ScriptedLedger implements Ledger {
  readonly records: CallRecord[] = []
  readonly #script: Partial<Ledger>

  constructor(script: Partial<Ledger> = {}) {
    this.#script = script
  }

  async record(call: CallRecord): Promise<void> {
    this.records.push(call)
    await this.#script.record?.(call)
  }

  assertWritable(): void {
    this.#script.assertWritable?.()
  }

  problems(): string[] {
    const ids = this.records.map(({ id }) => id)
    return ids
      .filter((id, index) => ids.indexOf(id) !== index)
      .map((id) => `${id} was written down twice`)
  }
}
