/** Values that are known already or have to be waited for; a known one costs no promise. */

export type MaybePromise<Value> = Value | Promise<Value>

/** Calls `run` with the value, in this turn where it is known already. */
export function continueWith<Value, Result>(
  value: MaybePromise<Value>,
  run: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> {
  return value instanceof Promise ? value.then(run) : run(value)
}
